use super::*;

#[test]
fn keys_sort_as_ids_and_lead_back_to_them() {
    let mut ids: Vec<StationId> =
        (0..200).map(|i| StationId::new("TEST", &i.to_string())).collect();
    ids.sort_unstable();
    let keys: Vec<StationKey> = ids.iter().map(|&id| id.into()).collect();
    assert!(keys.is_sorted());
    assert!(keys.iter().map(|&key| StationId::from(key)).eq(ids));
}

#[test]
fn a_packed_time_is_unpacked_at_both_ends() {
    let ends = [*LatestRow::TIMES_MS.start(), -1, 0, 1, *LatestRow::TIMES_MS.end()];
    for (ts_ms, version) in ends.into_iter().flat_map(|ts_ms| [(ts_ms, 0), (ts_ms, u16::MAX)]) {
        let row = LatestRow {
            station: StationId::new("TEST", "A").into(),
            series: 1,
            newest: ts_ms * LatestRow::VERSIONS + i64::from(version),
            value: -0.0,
            quality: 1,
            source: 2,
            revision: 4,
            qualifier: 3,
        };
        let reading = row.reading();
        assert_eq!((reading.ts_ms, reading.version), (ts_ms, version));
        assert_eq!((reading.revision, reading.qualifier), (4, 3));
    }
}

/// Where a station's readings are must never change.
#[test]
fn stations_are_divided_evenly_and_always_alike() {
    let shard = |name: &str, shards| StationKey::from(StationId::new("TEST", name)).shard(shards);
    assert_eq!(["A", "B", "C", "D", "E", "F"].map(|name| shard(name, 3)), [2, 0, 0, 1, 2, 0]);
    assert_eq!(shard("A", 1), 0);
    for shards in [2, 3, 5] {
        let mut counts = vec![0; shards];
        for i in 0..10_000 {
            counts[shard(&i.to_string(), shards)] += 1;
        }
        let even = 10_000 / shards;
        assert!(counts.iter().all(|&count| count > even * 9 / 10), "{counts:?}");
    }
}
