//! Any bytes as items of MSC GeoMet, and as the elements of an observation: no panic, every value
//! finite.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mesonet::feed::read_geomet_swob;

fuzz_target!(|bytes: &[u8]| {
    let inside = [
        br#"{"features": [{"properties": {"dataset": "msc-x", "msc_id-value": "1", "#.as_slice(),
        br#""date_tm-value": "2020-07-14T00:52:00Z","#,
        bytes,
        b"}}]}",
    ]
    .concat();
    for document in [bytes, &inside] {
        let _ = read_geomet_swob(document, |item| {
            assert!(item.report.readings.iter().all(|reading| reading.value.is_finite()));
        });
    }
});
