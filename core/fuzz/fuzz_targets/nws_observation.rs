//! Any bytes as a document of api.weather.gov, and as the elements of an observation: no panic,
//! every value finite.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mesonet::feed::read_nws_observations;

fuzz_target!(|bytes: &[u8]| {
    let inside = [
        br#"{"features": [{"properties": {"station": "a/KALB", "timestamp": "2026-07-15T19:50:00Z","#,
        bytes,
        b"}}]}",
    ]
    .concat();
    for document in [bytes, &inside] {
        let _ = read_nws_observations(document, |item| {
            assert!(item.report.readings.iter().all(|reading| reading.value.is_finite()));
        });
    }
});
