//! Any bytes as a file of isd-lite, and as the numbers of a line of one: no panic, every value finite.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mesonet::feed::read_isd_lite;

fuzz_target!(|bytes: &[u8]| {
    let line = [b"2020 01 01 00 ", bytes].concat();
    for text in [bytes, &line] {
        let _ = read_isd_lite(text, "725090-14739", |item| {
            assert!(item.report.readings.iter().all(|reading| reading.value.is_finite()));
        });
    }
});
