//! Any bytes as an answer of the service, alone and as an array: no panic, every value finite.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mesonet::feed::{metar_report, read_awc_json};

fuzz_target!(|bytes: &[u8]| {
    for answer in [bytes, &[b"[", bytes, b"]"].concat()] {
        let _ = read_awc_json(answer, |item| {
            let report = metar_report(&item);
            assert!(report.readings.iter().all(|reading| reading.value.is_finite()));
        });
    }
});
