//! Any bytes as a table, with and without a header: no panic, every value finite.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mesonet::feed::{metar_report, read_awc_csv};

const HEADER: &[u8] =
    b"raw_text,observation_time,station_id,latitude,longitude,elevation_m,metar_type\n";

fuzz_target!(|bytes: &[u8]| {
    for table in [bytes, &[HEADER, bytes].concat()] {
        let _ = read_awc_csv(table, |item| {
            let report = metar_report(&item);
            assert!(report.readings.iter().all(|reading| reading.value.is_finite()));
        });
    }
});
