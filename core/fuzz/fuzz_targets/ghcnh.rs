//! Any bytes as a table of GHCNh, with and without a header: no panic, every value finite.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mesonet::feed::read_ghcnh;

const VARIABLES: [&str; 10] = [
    "temperature",
    "wind_direction",
    "wind_speed",
    "wind_gust",
    "precipitation",
    "relative_humidity",
    "pres_wx_AU1",
    "ceiling_height",
    "precipitation_3_hour",
    "altimeter",
];

fuzz_target!(|bytes: &[u8]| {
    let mut header = "STATION|Station_name|DATE|LATITUDE|LONGITUDE|ELEVATION".to_owned();
    for name in VARIABLES {
        header += &format!("|{name}");
        for attribute in ["Measurement_Code", "Quality_Code", "Report_Type", "Source_Code"] {
            header += &format!("|{name}_{attribute}");
        }
    }
    let row = b"\nUSW00013967|A|2024-01-01T02:52:00|35.4|-97.6|390|";
    for table in [bytes, &[header.as_bytes(), row, bytes].concat()] {
        let _ = read_ghcnh(table, |item| {
            assert!(item.report.readings.iter().all(|reading| reading.value.is_finite()));
        });
    }
});
