#![no_main]
//! Files of the National Data Buoy Center from arbitrary bytes: nothing panics, each series comes
//! once in a report, and every value is a number.

use libfuzzer_sys::fuzz_target;
use mesonet::feed::{FeedReport, read_ndbc_latest, read_ndbc_realtime2, read_ndbc_stations};

fn check(item: &FeedReport) {
    let readings = &item.report.readings;
    for (i, reading) in readings.iter().enumerate() {
        assert!(reading.value.is_finite());
        assert!(readings[..i].iter().all(|other| other.series != reading.series));
    }
}

fuzz_target!(|file: &[u8]| {
    let mut visited = 0;
    let mut visit = |item: FeedReport| {
        visited += 1;
        check(&item);
    };
    let latest = read_ndbc_latest(file, &mut visit);
    let of_station = read_ndbc_realtime2(file, "41002", &mut visit);
    let read = [latest, of_station].into_iter().flatten().map(|summary| summary.read).sum::<u64>();
    assert!(read <= visited);
    if let Ok(summary) = read_ndbc_stations(file, |station| assert!(station.place.is_some())) {
        assert!(summary.refusals.len() as u64 <= summary.refused);
    }
});
