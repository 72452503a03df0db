//! Migrations, retention, and servers that do not answer.

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use mesonet::alert;
use mesonet::store::{AlertStore, Receipt, StoreError, no_verdicts};
use mesonet::time::DAY_MS;
use mesonet::{Batch, ClosedWindow, LonLat, Reader, Report, Store};
use mesonet_clickhouse::{
    ClickHouseReader, ClickHouseStore, MaintenanceReport, MigrationReport, Options, SCHEMA_VERSION,
    migrate,
};

use crate::between::before_it_is_asked;
use crate::support::{append, count, held, id, migrated, open, options, report, sql, station};

pub fn tables_of_another_version_are_refused(url: &str) {
    let options = options(url);
    let refused = || ClickHouseStore::open(&options).unwrap_err();
    // There is no database.
    assert!(matches!(refused(), StoreError::Unavailable { .. }), "{}", refused());
    sql(&Options::new(url, "default"), &format!("CREATE DATABASE {}", options.database));
    let text = refused().to_string();
    assert!(
        text.contains("has schema version 0 (mesonet-server migrate brings it up to date)"),
        "{text}"
    );
    assert_eq!(migrate(&options), Ok(MigrationReport { from: 0, to: SCHEMA_VERSION }));
    append(&open(&options), vec![report("A", 10, 0, 1.0)]);
    // Once more changes nothing, and an interrupted one is repeated.
    assert_eq!(migrate(&options), Ok(MigrationReport { from: SCHEMA_VERSION, to: SCHEMA_VERSION }));
    sql(&options, "DROP TABLE migrations");
    assert_eq!(migrate(&options), Ok(MigrationReport { from: 0, to: SCHEMA_VERSION }));
    assert_eq!(held(&open(&options), "A"), [(10, 1.0)]);
    sql(&options, &format!("INSERT INTO migrations VALUES ({}, 'later')", SCHEMA_VERSION + 1));
    for error in [refused(), migrate(&options).unwrap_err()] {
        let expected = format!(
            "{url} database {} has schema version {}; this version reads {SCHEMA_VERSION}",
            options.database,
            SCHEMA_VERSION + 1
        );
        assert_eq!(error.to_string(), expected);
    }
}

pub fn readings_before_the_cutoff_are_gone_and_stay_gone(url: &str) {
    let options = migrated(url);
    let store = open(&options);
    let rain = |ts_ms| Report {
        present_weather: Some(vec!["Rain".to_owned()]),
        ..report("A", ts_ms, 0, 1.0)
    };
    let at: Vec<i64> = (-3..6).map(|half| half * DAY_MS / 2 + 7).collect();
    append(&store, at.iter().map(|&ts_ms| rain(ts_ms)).collect());
    let parts = || count(&options, "readings");
    assert_eq!(parts(), 9);

    let cutoff = DAY_MS + DAY_MS / 2;
    let done = store.maintain(Some(cutoff)).unwrap();
    // Days -1 and 0 of both tables; around 1970 there are fewer than on a calendar.
    assert_eq!(done, MaintenanceReport { expired_days: 4, expired_rows: 10, station_days: 0 });
    let weather = |store: &ClickHouseStore| {
        let (mut seen, window) = (Vec::new(), ClosedWindow::new(i64::MIN, i64::MAX).unwrap());
        store.scan_weather(&[id("A")], window, &mut |_, ts_ms, _, _| seen.push(ts_ms)).unwrap();
        seen
    };
    let kept: Vec<i64> = at.iter().copied().filter(|&ts_ms| ts_ms >= cutoff).collect();
    let check = |store: &ClickHouseStore| {
        let seen: Vec<i64> = held(store, "A").iter().map(|&(ts_ms, _)| ts_ms).collect();
        assert_eq!((seen, weather(store)), (kept.clone(), kept.clone()));
        let receipt = append(store, vec![rain(cutoff - 1), rain(cutoff + 7)]);
        let expected = Receipt { expired: 1, unchanged: 1, ..Receipt::default() };
        assert_eq!(receipt, expected);
    };
    check(&store);
    // By order it moves back, for a clock may have been wrong: what was not dropped counts again.
    assert_eq!(store.maintain(Some(0)), Ok(MaintenanceReport::default()));
    let seen: Vec<i64> = held(&store, "A").iter().map(|&(ts_ms, _)| ts_ms).collect();
    let whole: Vec<i64> = at.iter().copied().filter(|&ts_ms| ts_ms >= DAY_MS).collect();
    assert_eq!((&seen, &weather(&store)), (&whole, &whole));
    assert_eq!(store.held_from_ms(), Ok(0));
    // And it is known to the next.
    assert_eq!(store.maintain(Some(cutoff)), Ok(MaintenanceReport::default()));
    check(&store);
    assert_eq!(store.maintain(None), Ok(MaintenanceReport::default()));
    check(&open(&options));
    assert_eq!(parts(), 4, "the day of the cutoff is there whole");
}

pub fn states_of_stations_outlive_their_days(url: &str) {
    let options = migrated(url);
    let store = open(&options);
    append(&store, vec![report("A", 10, 0, 1.0)]);
    append(&store, vec![report("B", 20, 0, 2.0), report("A", 5, 0, 0.5)]);
    let reader = ClickHouseReader::open(&options).unwrap();
    let mut moved = station("A");
    moved.move_to(LonLat::new(10.0, 50.0).unwrap(), 7);
    let batch = Batch { stations: vec![moved], reports: vec![] };
    store.append(&batch, &mut no_verdicts).unwrap();
    let before = store.directory().unwrap();
    let earlier = &before.get(id("A")).unwrap().station.earlier_places;
    assert_eq!((earlier.as_slice().len(), earlier.as_slice()[0].until_ms), (1, 7));
    reader.update().unwrap();
    assert_eq!(reader.directory().unwrap().stations, before.stations, "a reader that was there");
    assert_eq!(store.maintain(None), Ok(MaintenanceReport::default()));
    drop(store);
    // All this was two days ago.
    let columns = "station, batch, written_day - 2, network, native_id, name, station_type, \
        longitude, latitude, sensor_height_m, altitude_m, id_schemes, ids, update_time_ms, \
        weather_known, weather_ts_ms, weather_revision, weather, series, first_ms, newest_ms, \
        readings";
    sql(&options, &format!("INSERT INTO stations SELECT {columns} FROM stations"));
    let columns = "station, batch, written_day - 2, until_ms, longitude, latitude";
    sql(&options, &format!("INSERT INTO earlier_places SELECT {columns} FROM earlier_places"));
    let today = sql(&options, "SELECT max(written_day) FROM stations");
    for table in ["stations", "earlier_places"] {
        sql(&options, &format!("ALTER TABLE {table} DROP PARTITION {}", today.trim()));
    }

    let store = open(&options);
    let done = store.maintain(None).unwrap();
    assert_eq!(done, MaintenanceReport { station_days: 1, ..MaintenanceReport::default() });
    let rows = sql(&options, "SELECT count() FROM stations");
    assert_eq!(rows.trim(), "2", "one for each station");
    assert_eq!(sql(&options, "SELECT count() FROM earlier_places").trim(), "1");
    for store in [store, open(&options)] {
        let now = store.directory().unwrap();
        assert_eq!((&now.stations, now.generation), (&before.stations, before.generation));
        assert_eq!(held(&store, "A"), [(5, 0.5), (10, 1.0)]);
    }
}

pub fn alerts_are_kept_as_they_were(url: &str) {
    let options = migrated(url);
    let message = |id: &str, sent_ms| alert::Message {
        id: id.to_owned(),
        sent_ms,
        sender: "l'été \\ \"?\"".to_owned(),
        parts: vec![alert::Part { expires_ms: Some(sent_ms + 10), ..alert::Part::default() }],
        ..alert::Message::default()
    };
    let store = open(&options).open_alerts().unwrap();
    let all = vec![message("b", 20), message("a", 20), message("c", 10), message("b", 20)];
    assert_eq!(store.append(all).unwrap().added, 3);
    assert_eq!(store.append(vec![message("a", 30)]).unwrap().replaced, 1);
    let again = || open(&options).open_alerts().unwrap();
    let before = store.record();
    let store = again();
    assert_eq!(store.record().messages, before.messages);
    // One that was deleted stays so, until it comes again.
    assert_eq!(store.expire(25).unwrap(), 1);
    sql(&options, "OPTIMIZE TABLE alerts FINAL");
    let ids = |store: &AlertStore| {
        let messages = &store.record().messages;
        messages.iter().map(|message| message.id.clone()).collect::<Vec<_>>()
    };
    assert_eq!(ids(&again()), ["b", "a"]);
    let store = again();
    assert_eq!(store.append(vec![message("c", 10)]).unwrap().added, 1);
    let store = again();
    assert_eq!(ids(&store), ["c", "b", "a"]);
    // What cannot be written is not taken in.
    sql(&options, "RENAME TABLE alerts TO elsewhere");
    let refused = store.append(vec![message("d", 40)]).unwrap_err();
    assert!(matches!(refused, StoreError::Unavailable { .. }), "{refused}");
    assert_eq!(ids(&store), ["c", "b", "a"]);
    sql(&options, "RENAME TABLE elsewhere TO alerts");
    assert_eq!(store.append(vec![message("d", 40)]).unwrap().added, 1);
    assert_eq!(ids(&again()), ["c", "b", "a", "d"]);
}

pub fn batches_of_earlier_writers_are_dropped(url: &str) {
    let options = migrated(url);
    append(&open(&options), vec![report("A", 10, 0, 1.0)]);
    let batch = (1_u64 << 32) + 9;
    sql(&options, &format!("INSERT INTO batches VALUES ({batch}, 1, 9, 9)"));
    let store = open(&options);
    append(&store, vec![report("A", 20, 0, 2.0)]);
    store.maintain(None).unwrap();
    let left =
        "SELECT batch FROM batches WHERE state < 3 AND batch < bitShiftLeft(toUInt64(2), 32)";
    assert_eq!(sql(&options, left), "");
    let left = "SELECT batch FROM batches WHERE state = 3";
    assert_eq!(sql(&options, left).trim(), batch.to_string());
    for store in [store, open(&options)] {
        assert_eq!(held(&store, "A"), [(10, 1.0), (20, 2.0)]);
        assert_eq!(store.directory().unwrap().generation, 2);
    }
}

/// The profile of this user leaves out the rest of the rows at a limit.
pub fn a_profile_that_cuts_answers_is_refused(url: &str) {
    let options = migrated(url);
    append(&open(&options), vec![report("A", 10, 0, 1.0)]);
    let hasty = Options { user: Some("hasty".to_owned()), ..options.clone() };
    let refused = ClickHouseStore::open(&hasty).unwrap_err();
    assert!(matches!(refused, StoreError::Unavailable { .. }), "{refused}");
    assert!(refused.to_string().contains("Limit for rows to read exceeded"), "{refused}");
    assert_eq!(held(&open(&options), "A"), [(10, 1.0)]);
}

/// Somebody renames a table, or takes the right to read it away: a server says that it is not ready.
pub fn a_table_that_cannot_be_read_is_found_out(url: &str) {
    let options = migrated(url);
    let store = open(&options);
    append(&store, vec![report("A", 10, 0, 1.0)]);
    let reader = ClickHouseReader::open(&options).unwrap();
    for table in ["readings", "weather", "stations", "earlier_places", "series", "batches"] {
        sql(&options, &format!("RENAME TABLE {table} TO elsewhere"));
        for refused in [store.check().unwrap_err(), reader.update().unwrap_err()] {
            assert!(matches!(refused, StoreError::Unavailable { .. }), "{table}: {refused}");
        }
        sql(&options, &format!("RENAME TABLE elsewhere TO {table}"));
        assert!(store.check().is_ok() && reader.update().is_ok());
    }
}

/// A current release gathers inserts for a while, unless it is told not to; one of 2018 does not know of it.
pub fn an_insert_is_not_put_off(url: &str) {
    let options = migrated(url);
    let known = sql(&options, "SELECT count() FROM system.settings WHERE name = 'async_insert'");
    let told = Arc::new(AtomicBool::new(false));
    let tell = {
        let told = Arc::clone(&told);
        move || told.store(true, Ordering::Relaxed)
    };
    let urls = vec![before_it_is_asked(url, "&async_insert=0", tell)];
    append(&open(&Options { urls, ..options.clone() }), vec![report("A", 10, 0, 1.0)]);
    assert_eq!(told.load(Ordering::Relaxed), known.trim() == "1");
    assert_eq!(held(&open(&options), "A"), [(10, 1.0)]);
}

pub fn nothing_listens_there(_: &str) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let refused = ClickHouseStore::open(&Options::new(&url, "mesonet")).unwrap_err();
    let text = refused.to_string();
    assert!(text.starts_with(&format!("{url} database mesonet: network error")), "{text}");
}

pub fn a_silent_server_is_not_waited_for(_: &str) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let timeout = Duration::from_millis(300);
    let started = Instant::now();
    let refused =
        ClickHouseStore::open(&Options { timeout, ..Options::new(&url, "mesonet") }).unwrap_err();
    assert!(started.elapsed() < Duration::from_secs(5));
    assert_eq!(refused.to_string(), format!("{url} database mesonet: timeout expired"));
}

pub fn the_password_is_not_in_the_debug_text(url: &str) {
    let options = Options { password: Some("hunter2".to_owned()), ..Options::new(url, "mesonet") };
    assert!(!format!("{options:?}").contains("hunter2"));
}
