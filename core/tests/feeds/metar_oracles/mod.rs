//! Compares the METAR parser with others, report by report: with what the Aviation Weather Center
//! decoded beside each report of its table, and with what the crate `weather-reports` reads.
//!
//! Every disagreement must fall into a class that explains it; the counts of the classes are
//! asserted, so that a change on either side shows.

mod center;
mod comparison;
mod weather_reports_crate;

use std::fs::File;
use std::io::{BufRead, BufReader};

use flate2::read::GzDecoder;
use mesonet::feed::metar::{Intensity, MetarWind, SpeedUnit, Weather};

use comparison::{Value, number};

const AWC_TABLES: [&str; 7] = [
    "2022-10-22T0253Z",
    "2022-10-22T1913Z",
    "2022-10-23T0050Z",
    "2022-10-23T0953Z",
    "2022-10-23T1040Z",
    "2022-10-23T1118Z",
    "2022-10-23T1137Z",
];

fn open(name: &str) -> impl BufRead + use<> {
    let path = format!("{}/../tests/data/metar/{name}", env!("CARGO_MANIFEST_DIR"));
    BufReader::new(GzDecoder::new(BufReader::new(File::open(path).unwrap())))
}

/// Formats weather with each phenomenon apart and without what is over, as the center writes it:
/// "-RA -DZ" for -RADZ.
fn weather_apart<'a>(weather: impl Iterator<Item = &'a Weather>) -> String {
    let mut groups = Vec::new();
    for weather in weather.filter(|weather| !weather.recent) {
        let descriptors = ["MI", "PR", "BC", "DR", "BL", "SH", "TS", "FZ"];
        let (before, phenomena): (Vec<_>, Vec<_>) =
            weather.codes().partition(|code| descriptors.contains(code));
        let sign = match weather.intensity {
            Intensity::Plain => "",
            Intensity::Light => "-",
            Intensity::Heavy => "+",
        };
        let vicinity = if weather.in_vicinity { "VC" } else { "" };
        let head = format!("{sign}{vicinity}{}", before.concat());
        if phenomena.is_empty() {
            groups.push(head);
        } else {
            groups.extend(phenomena.iter().map(|phenomenon| format!("{head}{phenomenon}")));
        }
    }
    groups.join(" ")
}

fn knots(wind: &MetarWind, speed: Option<u16>) -> Option<Value> {
    number(speed.map(|speed| {
        let speed = f64::from(speed);
        match wind.unit {
            SpeedUnit::Knot => speed,
            SpeedUnit::MetrePerSecond => speed * 3600.0 / 1852.0,
            SpeedUnit::KilometrePerHour => speed / 1.852,
        }
    }))
}
