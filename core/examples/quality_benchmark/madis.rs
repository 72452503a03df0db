//! The published checks of MADIS, levels 1 and 2, for comparison.
//!
//! Source: "Meteorological Assimilation Data Ingest System: Quality control", madis.ncep.noaa.gov:
//! validity limits, temporal consistency by the hour, internal consistency. Level 3, which compares
//! with an analysis of the stations around, needs the whole network; `titanlib.py` stands for it.

use std::collections::HashMap;

use mesonet::observation::{BaseQuality, ReasonQuality};
use mesonet::time::HOUR_MS;
use mesonet::{Quality, StationId, Variable};

use crate::column::{Detector, Feed, Flag, FlaggedValue, Flags};
use crate::faults::value_of;

pub struct Madis;

/// Variable, lowest, highest, greatest change in an hour.
const LIMITS: [(Variable, f64, f64, f64); 5] = [
    (Variable::AirTemperature, -51.1, 54.4, 19.4),
    (Variable::DewPointTemperature, -67.8, 32.2, 19.4),
    (Variable::Mslp, 846.0, 1100.0, 15.0),
    (Variable::BarometricPressure, 568.0, 1100.0, 15.0),
    (Variable::WindSpeed, 0.0, 463.0, 37.04),
];

const SAID: Quality = Quality { base: BaseQuality::Doubtful, reason: ReasonQuality::Unknown };

impl Detector for Madis {
    fn name(&self) -> &'static str {
        "MADIS 1-2"
    }

    fn flags(&self, Feed { reports, watched, .. }: Feed<'_>) -> Flags {
        let mut flags = Flags::new();
        let mut last: HashMap<(StationId, Variable), (i64, f64)> = HashMap::new();
        for report in reports.iter().filter(|report| watched.contains(&report.station)) {
            let ts_ms = report.ts_ms;
            let mut say = |variable| {
                let value = FlaggedValue { station: report.station, variable, ts_ms };
                flags.insert(value, Flag { raised_ms: ts_ms, kept: Some(SAID) });
            };
            for (variable, low, high, change) in LIMITS {
                let Some(value) = value_of(report, variable) else { continue };
                if !(low..=high).contains(&value) {
                    say(variable);
                    continue;
                }
                if let Some((before_ms, before)) =
                    last.insert((report.station, variable), (ts_ms, value))
                {
                    let elapsed_ms = ts_ms - before_ms;
                    let hours = (elapsed_ms as f64 / HOUR_MS as f64).max(1.0);
                    if elapsed_ms <= 3 * HOUR_MS && (value - before).abs() > change * hours {
                        say(variable);
                    }
                }
            }
            let air = value_of(report, Variable::AirTemperature);
            let dew = value_of(report, Variable::DewPointTemperature);
            if air.zip(dew).is_some_and(|(air, dew)| dew > air + 0.5) {
                say(Variable::AirTemperature);
                say(Variable::DewPointTemperature);
            }
        }
        flags
    }
}
