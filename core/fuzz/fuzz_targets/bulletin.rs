//! Any bytes as bulletins: no panic, every value finite, every text bounded.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mesonet::feed::{metar_report, read_bulletins};

fuzz_target!(|bytes: &[u8]| {
    let summary = read_bulletins(bytes, 1_666_525_020_000, |item| {
        assert!(item.raw_text.is_ascii() && item.raw_text.len() <= 4096);
        let report = metar_report(&item);
        assert!(report.readings.iter().all(|reading| reading.value.is_finite()));
    });
    assert!(summary.is_ok());
});
