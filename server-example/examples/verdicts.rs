//! What the checks say of every reading of the sample: shares by variable and reason, and the
//! worst readings with the check that decided.
//!
//! `cargo run --release -p mesonet-server --example verdicts [COUNT]`

use std::collections::BTreeMap;

use mesonet::observation::SeriesId;
use mesonet::store::Selection;
use mesonet::{
    BaseQuality, ClosedWindow, Intake, MemoryStore, Quality, Reader, StationId, Variable,
};
use mesonet_server::sample;

/// How often each base quality and reason was given.
type Share = BTreeMap<(BaseQuality, &'static str), usize>;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let count = std::env::args().nth(1).map_or(Ok(50), |count| count.parse())?;
    let store = MemoryStore::default();
    let intake = Intake::default();
    let started = std::time::Instant::now();
    let receipt = intake.take_in(&store, sample()?.batch)?;
    println!("{} readings taken in within {:?}\n", receipt.added, started.elapsed());

    let directory = store.directory()?;
    let stations: Vec<StationId> =
        directory.stations.iter().map(|record| record.station.id).collect();
    let window = ClosedWindow::new(i64::MIN, i64::MAX)?;
    let selection = Selection { stations: &stations, variables: Variable::ALL, window };
    let mut shares: BTreeMap<(Variable, bool), Share> = BTreeMap::new();
    let mut worst: Vec<(Quality, StationId, SeriesId, i64)> = Vec::new();
    store.scan(&selection, &mut |i, slices| {
        for slice in slices {
            let key = &slice.series.key;
            let share = shares.entry((key.variable, key.calculated)).or_default();
            for (&ts_ms, code) in slice.ts_ms.iter().zip(slice.quality) {
                let quality = code.quality();
                *share.entry((quality.base, quality.reason.name())).or_default() += 1;
                if quality.base < BaseQuality::Good && !key.calculated {
                    worst.push((quality, stations[i], slice.series.id, ts_ms));
                }
            }
        }
    })?;

    println!("| Variable | Readings | Verdicts |\n| --- | ---: | --- |");
    for ((variable, calculated), share) in &shares {
        let total: usize = share.values().sum();
        let parts: Vec<String> = share
            .iter()
            .map(|((base, reason), count)| {
                format!("{base}/{reason} {count} ({:.3} %)", *count as f64 * 100.0 / total as f64)
            })
            .collect();
        let calculated = if *calculated { ", calculated" } else { "" };
        println!("| {variable}{calculated} | {total} | {} |", parts.join("; "));
    }

    worst.sort_by_key(|&(quality, id, series, ts_ms)| (quality.base, id, series, ts_ms));
    println!("\n{} reported readings are less than Good; the worst:", worst.len());
    for (quality, id, series, ts_ms) in worst.into_iter().take(count) {
        let record = directory.get(id).ok_or("the station is on record")?;
        let why = intake.explain(&store, id, series, ts_ms)?.ok_or("the reading is there")?;
        let why = why.explanation;
        let decided = why.checks.iter().find(|check| Some(check.check) == why.decided_by);
        let inputs: Vec<String> = decided
            .map(|check| &check.inputs[..])
            .unwrap_or_default()
            .iter()
            .map(|input| format!("{} {:.2}", input.name, input.value))
            .collect();
        println!(
            "{}/{} {} {} {} = {:.2} by {:?}: {}",
            quality.base,
            quality.reason,
            record.station.native_id,
            why.timestamp,
            why.variable,
            why.value,
            why.decided_by,
            inputs.join(", ")
        );
    }
    Ok(())
}
