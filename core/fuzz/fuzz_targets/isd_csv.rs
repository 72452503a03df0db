//! Any bytes as a table of NCEI's Global Hourly, with and without a header: no panic, every value finite.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mesonet::feed::read_isd_csv;

const HEADER: &[u8] = b"\"STATION\",\"DATE\",\"SOURCE\",\"LATITUDE\",\"LONGITUDE\",\"ELEVATION\",\"NAME\",\
    \"REPORT_TYPE\",\"CALL_SIGN\",\"QUALITY_CONTROL\",\"WND\",\"CIG\",\"VIS\",\"TMP\",\"DEW\",\"SLP\",\
    \"AA1\",\"GA1\",\"MA1\",\"OC1\",\"REM\"\n";

fuzz_target!(|bytes: &[u8]| {
    for table in [bytes, &[HEADER, bytes].concat()] {
        let _ = read_isd_csv(table, |item| {
            assert!(item.report.readings.iter().all(|reading| reading.value.is_finite()));
        });
    }
});
