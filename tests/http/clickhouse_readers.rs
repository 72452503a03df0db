//! Servers that only read a record in ClickHouse, while another server writes it.

use tempfile::TempDir;

use crate::follower::{answers, post, push, ready, run, start, wait_until};
use crate::gate::Gate;
use crate::in_clickhouse::{own_database, place, server};
use crate::process::data;

#[test]
fn servers_that_read_answer_as_the_one_that_writes_a_second_later() {
    let Some(url) = server() else { return };
    let (options, folder) = (own_database(&url), TempDir::new().unwrap());
    let (path, place) = (folder.path(), place(&options));
    let alerts = data("nws_alerts/alerts_active_2026-05-14T163524Z.geojson.gz");
    let metars = data("metar/liveairdata_metars_20240803T1732Z.csv.gz");
    let store = ["--store", &*place];
    run(path, &[&["ingest", &metars], &store[..]].concat());
    let writer = start(&folder, &store);
    let reads = ["--read-only", "true", "--data", "reader"];
    let reader = start(&folder, &[&store[..], &reads].concat());
    assert!(reader.log().contains("only reading clickhouse:http://"), "{}", reader.log());
    // Both clocks run, and the shown verdicts age with them.
    wait_until("the answers are the same", || answers(&writer) == answers(&reader));
    let first = answers(&reader);
    for (head, body) in &first[..6] {
        assert!(head[0].contains(" 200 ") && body.len() > 100, "{head:?}{body}");
    }
    let (tag, cursor) = (&first[0].0, &first[5].0);
    assert!(tag.iter().any(|line| line.starts_with("etag: ")), "{tag:?}");
    assert!(cursor.iter().any(|line| line.starts_with("x-next-cursor: ")), "{cursor:?}");

    // Readings of a known station and of a new one, and alerts.
    assert!(push(&writer, "METAR CYYZ 031740Z 24012KT 15SM 28/17 A2991=\n").contains(" 200 "));
    let toronto = || answers(&reader)[2].1.contains("2024-08-03T17:40:00Z");
    wait_until("the report is there", toronto);
    assert!(push(&writer, "METAR CYEG 031740Z 24012KT 15SM 28/17 A2991=\n").contains(" 200 "));
    let message = std::fs::read(&alerts).unwrap();
    crate::in_clickhouse::push_bytes(&writer, "alerts.geojson.gz", &message);
    wait_until("it follows", || {
        answers(&reader)[6].1.len() > 10_000 && answers(&writer) == answers(&reader)
    });
    assert_ne!(answers(&reader), first);
    let said = ready(&reader);
    assert!(said["asOf"].as_str().unwrap().starts_with("20"), "{said}");
    assert!((0..10).contains(&said["behindS"].as_i64().unwrap()), "{said}");
    assert_eq!(said["newestReading"], ready(&writer)["newestReading"]);
    assert_eq!(ready(&writer).get("asOf"), None);

    // The reading server takes nothing in.
    let (head, body) = post(&reader, "/api/v1/ingest?name=sa_20240803.txt", "METAR");
    assert!(head.starts_with("HTTP/1.1 503 "), "{head}");
    assert_eq!(
        body,
        "\"this server only reads its record and takes nothing in; send it to the one that writes\""
    );

    // The next writer goes on where this one stopped.
    assert_eq!(writer.stop().0, Some(0));
    wait_until("it is ready", || reader.get("/readyz").0.contains(" 200 "));
    let writer = start(&folder, &store);
    assert!(push(&writer, "METAR CYYZ 031744Z 24012KT 15SM 27/17 A2991=\n").contains(" 200 "));
    wait_until("it follows again", || answers(&writer) == answers(&reader));
}

#[test]
fn a_server_that_reads_says_when_clickhouse_is_away_and_goes_on() {
    let Some(url) = server() else { return };
    let (options, folder) = (own_database(&url), TempDir::new().unwrap());
    let gate = Gate::before(&url);
    let (direct, gated) = (place(&options), place(&gate.to(&options)));
    let writer = start(&folder, &["--store", &direct]);
    let reads = ["--read-only", "true", "--data", "reader", "--store", &gated];
    let reader = start(&folder, &reads);
    gate.close();
    wait_until("it says so", || {
        let (head, body) = reader.get("/readyz");
        head.contains(" 503 ") && body.contains("the record in ClickHouse cannot be reached")
    });
    assert!(push(&writer, "METAR CYYZ 031740Z 24012KT 15SM 28/17 A2991=\n").contains(" 200 "));
    gate.open();
    wait_until("it goes on", || answers(&writer) == answers(&reader));
    assert!(ready(&reader)["behindS"].as_i64().unwrap() < 10);
    let (_, log) = reader.stop();
    assert!(log.contains("reading the record again"), "{log}");
}
