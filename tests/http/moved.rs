//! Stations that move: old rows keep the place of their time.

use std::fs;

use mesonet::StationId;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::archive_serves::{FORMATS, bulk};
use crate::follower::{post, run, start};
use crate::process::Server;

const OLD: (f64, f64) = (43.68, -79.63);
const NEW: (f64, f64) = (43.9, -79.0);

/// A report of an hour at a place.
fn report(hour: u32, (lat, lon): (f64, f64)) -> String {
    format!(
        "raw_text,station_id,observation_time,latitude,longitude\n\
         CZZX 03{hour:02}00Z 24012KT 29/17 A2991,CZZX,2024-08-03T{hour:02}:00:00Z,{lat},{lon}\n"
    )
}

/// Pushes a report, and returns the stations that it places elsewhere.
fn push(server: &Server, hour: u32, place: (f64, f64)) -> Value {
    let (head, body) = post(server, "/api/v1/ingest?name=metars.csv", &report(hour, place));
    assert!(head.starts_with("HTTP/1.1 200"), "{head}{body}");
    let answer: Value = serde_json::from_str(&body).unwrap();
    answer.get("placedElsewhere").cloned().unwrap_or_default()
}

fn station_id() -> StationId {
    StationId::new("METAR", "CZZX")
}

/// The rows of a day in each format, and the station.
fn answers(server: &Server) -> (Vec<Vec<u8>>, Value) {
    let day = "start=2024-08-03T00:00:00Z&end=2024-08-04T00:00:00Z";
    let rows = FORMATS.map(|accept| {
        let (status, _, body) = bulk(server, station_id(), day, accept);
        assert_eq!(status, 200);
        body
    });
    let (_, station) = server.get(&format!("/api/v1/stations/{}", station_id()));
    (rows.to_vec(), serde_json::from_str(&station).unwrap())
}

/// Hour and place of each row.
fn places(csv: &[u8]) -> Vec<(u32, (f64, f64))> {
    let rows = std::str::from_utf8(csv).unwrap().lines().skip(1).map(|row| {
        let fields: Vec<&str> = row.split(',').collect();
        let number = |at: usize| fields[at].parse::<f64>().unwrap();
        (fields[5][11..13].parse().unwrap(), (number(0), number(1)))
    });
    rows.collect()
}

/// Once, a pushed 0° N 0° E moved its station silently, and all its old rows said 0.0,0.0.
#[test]
fn rows_of_the_past_keep_the_place_of_their_time() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("metars.csv"), report(10, OLD)).unwrap();
    run(folder.path(), &["ingest", "metars.csv"]);
    let server = start(&folder, &[]);
    assert_eq!(push(&server, 11, OLD), Value::Null);

    // In feeds, 0° N 0° E is an unknown place. One report from elsewhere moves nothing, and is
    // mentioned.
    assert_eq!(push(&server, 12, (0.0, 0.0)), Value::Null);
    let said = push(&server, 12, (0.0, 0.1));
    assert!(said.to_string().contains("CZZX"), "{said}");
    let (rows, station) = answers(&server);
    let of_hours = places(&rows[0]);
    assert!(of_hours.iter().any(|&(hour, _)| hour == 12));
    assert!(of_hours.iter().all(|&(_, place)| place == OLD), "{of_hours:?}");
    assert_eq!(station.get("earlierPlaces"), None);

    // A move that a second report confirms.
    assert!(push(&server, 13, NEW).to_string().contains("CZZX"));
    assert_eq!(push(&server, 14, NEW), Value::Null);
    let moved = answers(&server);
    let of_hours = places(&moved.0[0]);
    for hour in 10..=14 {
        let expected = if hour < 13 { OLD } else { NEW };
        let of_hour: Vec<_> = of_hours.iter().filter(|row| row.0 == hour).collect();
        assert!(of_hour.len() > 3, "{hour}");
        assert!(of_hour.iter().all(|row| row.1 == expected), "{hour}: {of_hour:?}");
    }
    for format in &moved.0[1..] {
        // Both places are exact: in the statistics of Parquet, and in the columns of Arrow.
        for number in [OLD.0, OLD.1, NEW.0, NEW.1] {
            assert!(format.windows(8).any(|eight| eight == number.to_le_bytes()), "{number}");
        }
    }
    let earlier = json!([{"until": "2024-08-03T13:00:00Z", "coordinates": [OLD.1, OLD.0]}]);
    assert_eq!(moved.1["earlierPlaces"], earlier);
    assert_eq!(moved.1["coordinates"], json!([NEW.1, NEW.0]));

    // A late report, a restart, a restored backup.
    assert_eq!(push(&server, 11, OLD), Value::Null);
    assert_eq!(answers(&server), moved);
    server.stop();
    let again = start(&folder, &[]);
    assert_eq!(answers(&again), moved);
    run(folder.path(), &["backup", "--to", "backups"]);
    again.stop();
    run(folder.path(), &["restore", "--from", "backups", "--to", "restored"]);
    run(folder.path(), &["verify", "--data", "restored"]);
    let restored = start(&folder, &["--data", "restored"]);
    assert_eq!(answers(&restored), moved);
    // Reports go on from there.
    assert!(push(&restored, 15, OLD).to_string().contains("CZZX"));
    assert_eq!(push(&restored, 16, OLD), Value::Null);
    let of_hours = places(&answers(&restored).0[0]);
    let of_hour = |hour| of_hours.iter().find(|row| row.0 == hour).unwrap().1;
    assert_eq!([10, 12, 13, 14, 15, 16].map(of_hour), [OLD, OLD, NEW, NEW, OLD, OLD]);
}
