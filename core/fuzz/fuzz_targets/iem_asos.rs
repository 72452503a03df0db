#![no_main]
//! Tables of the Iowa Environmental Mesonet from arbitrary bytes: nothing panics, each series comes
//! once in a report, and every value is a number.

use libfuzzer_sys::fuzz_target;
use mesonet::feed::{FileContext, read_iem_asos};

fuzz_target!(|table: &[u8]| {
    let mut visited = 0;
    let file = FileContext::new("asos.csv", 0);
    let read = read_iem_asos(table, &file, |item| {
        visited += 1;
        let readings = &item.report.readings;
        for (i, reading) in readings.iter().enumerate() {
            assert!(reading.value.is_finite());
            assert!(readings[..i].iter().all(|other| other.series != reading.series));
        }
    });
    if let Ok(summary) = read {
        assert_eq!(summary.read, visited);
    }
});
