//! Any text as a report: no panic, and the result can be displayed and queried.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mesonet::feed::metar::Metar;

fuzz_target!(|text: &str| {
    // After a valid header, so that the groups are reached.
    for report in [text, &format!("METAR CYYZ 231118Z {text}")] {
        if let Ok(metar) = Metar::parse(report) {
            let shown: String = metar.weather.iter().map(ToString::to_string).collect();
            assert!(shown.is_ascii());
            assert!(metar.ceiling_ft().is_none_or(|ceiling_ft| ceiling_ft < 100_000));
            let _ = metar.sea_level_pressure_tenths_hpa();
            let _ = metar.time_ms(i64::from(metar.minute) * (i64::MAX / 60));
        }
    }
});
