//! Canada's provincial summaries, read whatever the bytes are.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = mesonet::feed::read_eccc_hourly(bytes, |item| {
        assert_eq!(item.report.station, item.station.id());
        assert!(item.report.readings.iter().all(|reading| reading.value.is_finite()));
    });
});
