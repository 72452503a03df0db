//! The faulty networks as a table, for programs in other languages.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use mesonet::Variable;
use mesonet::time::HOUR_MS;

use crate::faults::{InjectedFault, Random, value_of};
use crate::trials::spread;
use crate::worlds::World;

/// Writes one line for each station, hour and fault: its value nearest the hour, and whether it is
/// wrong. A fault named "none" is the network without a fault.
pub fn write(path: &Path, worlds: &[World], faults: &[InjectedFault], seed: u64) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    writeln!(out, "fault\tvariable\tworld\thour\tstation\tlat\tlon\televation\tvalue\twrong")?;
    for (at, world) in worlds.iter().enumerate().filter(|(_, world)| world.is_network()) {
        for fault in std::iter::once(None).chain(faults.iter().map(Some)) {
            let variables: &[Variable] = match fault {
                Some(fault) => &fault.target.variables()[..1],
                None => &[Variable::AirTemperature, Variable::DewPointTemperature, Variable::Mslp],
            };
            let mut random = Random::new(seed + 1000 * at as u64);
            let (reports, placed) = match fault {
                Some(fault) => spread(world, fault, &mut random),
                None => (world.reports.clone(), Vec::new()),
            };
            if fault.is_some() && placed.is_empty() {
                continue;
            }
            let name =
                fault.map_or("none".to_owned(), |f| format!("{} {}", f.target.name(), f.name()));
            for &variable in variables {
                // The nearest report to each hour.
                let mut nearest = std::collections::BTreeMap::new();
                for report in &reports {
                    let Some(value) = value_of(report, variable) else { continue };
                    let hour = (report.ts_ms + HOUR_MS / 2).div_euclid(HOUR_MS);
                    let off_ms = (report.ts_ms - hour * HOUR_MS).abs();
                    let entry = nearest.entry((hour, report.station)).or_insert((
                        off_ms,
                        report.ts_ms,
                        value,
                    ));
                    if off_ms < entry.0 {
                        *entry = (off_ms, report.ts_ms, value);
                    }
                }
                for ((hour, id), (_, ts_ms, value)) in nearest {
                    let station = world.station(id);
                    let wrong = placed.iter().any(|of| {
                        of.station == id
                            && of.wrong.iter().any(|w| w.variable == variable && w.ts_ms == ts_ms)
                    });
                    let (lat, lon) = (station.coordinates.lat(), station.coordinates.lon());
                    let Some(elevation) = station.altitude_m else { continue };
                    let of = &station.native_id;
                    writeln!(
                        out,
                        "{name}\t{variable}\t{at}\t{hour}\t{of}\t{lat}\t{lon}\t{elevation}\t{value}\t{}",
                        u8::from(wrong)
                    )?;
                }
            }
        }
    }
    out.flush()
}
