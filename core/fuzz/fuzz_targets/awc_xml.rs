//! Any bytes as XML, alone and inside a report: no panic, every value finite.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mesonet::feed::{metar_report, read_awc_xml};

fuzz_target!(|bytes: &[u8]| {
    let inside = [
        b"<METAR><observation_time>2022-10-23T11:37:00Z</observation_time><raw_text>",
        bytes,
        b"</raw_text></METAR>",
    ]
    .concat();
    for document in [bytes, &inside] {
        let _ = read_awc_xml(document, |item| {
            let report = metar_report(&item);
            assert!(report.readings.iter().all(|reading| reading.value.is_finite()));
        });
    }
});
