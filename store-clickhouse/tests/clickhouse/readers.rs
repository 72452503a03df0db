//! Readers beside the writer, and what only the writer may do.

use mesonet::store::{AlertStore, StoreError, Verdicts, no_verdicts};
use mesonet::time::DAY_MS;
use mesonet::{BaseQuality, Batch, Quality, Reader, ReasonQuality, Store, alert};
use mesonet_clickhouse::{ApiKey, ApiKeys, Changed, ClickHouseReader, Options};

use crate::support::{append, held, id, migrated, nodes, open, report, sql, temperature};

fn beside(options: &Options) -> ClickHouseReader {
    ClickHouseReader::open(options).unwrap()
}

pub fn a_reader_asks_for_what_has_changed(url: &str) {
    let options = migrated(url);
    // Also before there is a writer.
    let reader = beside(&options);
    assert_eq!(reader.update(), Ok(Changed::Nothing));
    let store = open(&options);
    append(&store, vec![report("A", 10, 0, 1.0)]);
    let stations = |native_ids: &[&str]| {
        let mut ids: Vec<_> = native_ids.iter().map(|native_id| id(native_id)).collect();
        ids.sort_unstable();
        Ok(Changed::Stations(ids))
    };
    assert_eq!(held(&reader, "A"), []);
    assert_eq!(reader.update(), stations(&["A", "B"]));
    assert_eq!(held(&reader, "A"), [(10, 1.0)]);
    assert_eq!((reader.update(), reader.newest_ms()), (Ok(Changed::Nothing), Some(10)));
    append(&store, vec![report("B", 20, 0, 2.0)]);
    assert_eq!(reader.update(), stations(&["B"]));
    // A verdict on an older reading.
    let verdicts = Verdicts {
        station: id("A"),
        series: temperature().id(),
        ts_ms: vec![10],
        quality: vec![Quality { base: BaseQuality::Doubtful, reason: ReasonQuality::Range }],
    };
    let receipt = store.append(&Batch::default(), &mut |_| Ok(vec![verdicts.clone()])).unwrap();
    assert_eq!((receipt.revised, reader.update()), (1, stations(&["A"])));
    // Nothing but the cutoff.
    store.maintain(Some(15)).unwrap();
    assert_eq!(reader.update(), Ok(Changed::Stations(vec![])));
    assert_eq!((held(&reader, "A"), held(&reader, "B")), (vec![], vec![(20, 2.0)]));
    // Another writer.
    let store = open(&options);
    append(&store, vec![report("A", 30, 0, 3.0)]);
    assert_eq!(reader.update(), stations(&["A"]));
    assert_eq!(reader.directory().unwrap().stations, store.directory().unwrap().stations);
}

/// A writer that is not one any more writes the end of a batch, which the next has not found.
pub fn a_batch_that_is_committed_late_stays_out(url: &str) {
    let options = migrated(url);
    let store = open(&options);
    append(&store, vec![report("A", 10, 0, 1.0)]);
    let last = || sql(&options, "SELECT max(batch) FROM batches").trim().parse::<u64>().unwrap();
    let late = last() + 1;
    sql(&options, &format!("INSERT INTO batches VALUES ({late}, 1, 2, 1)"));
    let row = "station, series, 20, 0, batch + 1, -99, quality, source, revision, qualifier";
    sql(&options, &format!("INSERT INTO readings SELECT {row} FROM readings"));
    let early = beside(&options);
    let store = open(&options);
    sql(&options, &format!("INSERT INTO batches VALUES ({late}, 2, 2, 1)"));
    early.update().unwrap();
    for reader in [&early, &beside(&options)] {
        assert_eq!(held(reader, "A"), [(10, 1.0)]);
    }
    append(&store, vec![report("A", 30, 0, 3.0)]);
    early.update().unwrap();
    let reopened = open(&options);
    for reader in [&early as &dyn Reader, &beside(&options), &store, &reopened] {
        assert_eq!(held(reader, "A"), [(10, 1.0), (30, 3.0)]);
    }

    // A reader may have found it before it was abandoned.
    early.update().unwrap();
    sql(&options, &format!("INSERT INTO batches VALUES ({}, 3, 0, 0)", last()));
    assert_eq!(early.update(), Ok(Changed::Everything));
    assert_eq!(held(&early, "A"), [(10, 1.0), (30, 3.0)]);
}

pub fn a_reader_outlives_the_days_of_states(url: &str) {
    let options = migrated(url);
    let store = open(&options);
    append(&store, vec![report("A", 10, 0, 1.0), report("B", DAY_MS, 0, 2.0)]);
    let reader = beside(&options);
    // All this was two days ago.
    let columns = "station, batch, written_day - 2, network, native_id, name, station_type, \
        longitude, latitude, sensor_height_m, altitude_m, id_schemes, ids, update_time_ms, \
        weather_known, weather_ts_ms, weather_revision, weather, series, first_ms, newest_ms, \
        readings";
    sql(&options, &format!("INSERT INTO stations SELECT {columns} FROM stations"));
    let today = sql(&options, "SELECT max(written_day) FROM stations");
    sql(&options, &format!("ALTER TABLE stations DROP PARTITION {}", today.trim()));
    assert_eq!(store.maintain(Some(DAY_MS)).unwrap().station_days, 1);
    assert!(matches!(reader.update().unwrap(), Changed::Stations(all) if all.len() == 2));
    for reader in [reader, beside(&options)] {
        assert_eq!(held(&reader, "B"), [(DAY_MS, 2.0)]);
        assert_eq!(reader.directory().unwrap().stations, store.directory().unwrap().stations);
    }
}

pub fn alerts_come_to_readers_and_go(url: &str) {
    let options = migrated(url);
    let store = open(&options);
    let alerts = store.open_alerts().unwrap();
    let message = |id: &str, sent_ms| alert::Message {
        id: id.to_owned(),
        sent_ms,
        parts: vec![alert::Part { expires_ms: Some(sent_ms + 10), ..alert::Part::default() }],
        ..alert::Message::default()
    };
    let reader = beside(&options);
    alerts.append(vec![message("a", 10), message("b", 20)]).unwrap();
    let is_same = |alerts: &AlertStore| {
        reader.update().unwrap();
        assert_eq!(reader.alerts().record().messages, alerts.record().messages);
    };
    is_same(&alerts);
    alerts.append(vec![message("a", 30)]).unwrap();
    assert_eq!(alerts.expire(35).unwrap(), 1);
    is_same(&alerts);
    assert_eq!(reader.alerts().record().messages.len(), 1);
    // The next writer counts on, and the one before is refused.
    let next = open(&options);
    let of_next = next.open_alerts().unwrap();
    let refused = alerts.append(vec![message("c", 40)]).unwrap_err();
    assert!(matches!(refused, StoreError::Locked { .. }), "{refused}");
    of_next.append(vec![message("d", 50)]).unwrap();
    is_same(&of_next);
}

pub fn marks_are_kept_and_a_writer_before_puts_none(url: &str) {
    let options = migrated(url);
    let store = open(&options);
    assert_eq!((store.mark("origin"), store.check()), (Ok(None), Ok(())));
    for value in ["sample", "l'été \\ \"?\"", ""] {
        store.set_mark("origin", value).unwrap();
        assert_eq!(store.mark("origin").unwrap().as_deref(), Some(value));
    }
    store.set_mark("other", "1").unwrap();
    let next = open(&options);
    assert_eq!(next.mark("origin").unwrap().as_deref(), Some(""));
    for refused in [store.set_mark("origin", "own").unwrap_err(), store.check().unwrap_err()] {
        assert!(matches!(refused, StoreError::Locked { .. }), "{refused}");
    }
    let refused = store.append(&Batch::default(), &mut no_verdicts);
    assert!(refused.is_ok(), "an empty batch is not written");
    next.set_mark("origin", "own").unwrap();
    sql(&options, "OPTIMIZE TABLE marks FINAL");
    assert_eq!(next.mark("origin").unwrap().as_deref(), Some("own"));
}

/// Also those of a process that opened the record before its writer, and in any order.
pub fn api_keys_are_joined_whoever_puts_them(url: &str) {
    let options = migrated(url);
    let (here, there) = (ApiKeys::open(&options).unwrap(), ApiKeys::open(&options).unwrap());
    assert_eq!(here.list(), Ok(vec![]));
    let key = |digest: &str| ApiKey {
        digest: digest.repeat(32),
        label: "l'été \\ \"?\"".to_owned(),
        issued_ms: 1,
        expires_ms: Some(1 << 40),
        revoked_ms: None,
        last_used_ms: None,
    };
    let (first, second) = (key("0a"), ApiKey { expires_ms: None, ..key("0b") });
    here.put(&[second.clone(), first.clone()]).unwrap();
    let _writer = open(&options);
    assert_eq!(there.list(), Ok(vec![first.clone(), second.clone()]));
    let revoked = ApiKey { revoked_ms: Some(7), ..first.clone() };
    let used = ApiKey { last_used_ms: Some(9), ..first.clone() };
    there.put(std::slice::from_ref(&revoked)).unwrap();
    // One who does not know yet that it was revoked.
    here.put(&[used, first, second.clone()]).unwrap();
    there.put(&[ApiKey { revoked_ms: Some(8), ..revoked.clone() }]).unwrap();
    let joined = [ApiKey { last_used_ms: Some(9), ..revoked }, second];
    assert_eq!(here.list().unwrap(), joined);
    if nodes().is_empty() {
        sql(&options, "OPTIMIZE TABLE api_keys FINAL");
    }
    assert_eq!(there.list().unwrap(), joined);
    let many: Vec<_> =
        (0..1_201).map(|at| ApiKey { digest: format!("{at:064x}"), ..key("0c") }).collect();
    here.put(&many).unwrap();
    assert_eq!(there.list().unwrap().len(), 1_203);
}
