//! The results as tables in Markdown.

use std::collections::{BTreeMap, HashSet};

use mesonet::Iso8601;

use crate::column::{Detector, Flags};
use crate::faults::{InjectedFault, Target, is_of_the_moment, value_of};
use crate::trials::{Score, kept};
use crate::worlds::World;

pub fn data(worlds: &[World]) {
    println!("| World | Stations | Reports | From | To |\n| --- | --- | --- | --- | --- |");
    for World { name, stations, reports } in worlds {
        let at = |ts_ms| Iso8601(ts_ms).to_string()[..10].to_owned();
        let (first, last) = (at(reports[0].ts_ms), at(reports[reports.len() - 1].ts_ms));
        println!("| {name} | {} | {} | {first} | {last} |", stations.len(), reports.len());
    }
    println!();
}

fn names(columns: &[Box<dyn Detector>]) -> String {
    let names: Vec<&str> = columns.iter().map(|column| column.name()).collect();
    format!(" {} |", names.join(" | "))
}

/// Values flagged in the untouched data, by variable.
pub fn untouched(worlds: &[World], columns: &[Box<dyn Detector>], clean: &[Vec<Flags>]) {
    println!("| Untouched | Values |{}", names(columns));
    println!("| --- | --- |{}", " --- |".repeat(columns.len()));
    // The lone stations together, each network separately.
    let networks = worlds.iter().filter(|of| of.is_network());
    for network in std::iter::once(None).chain(networks.map(|of| Some(of.name.as_str()))) {
        let mut counts: BTreeMap<String, (usize, Vec<[usize; 2]>)> = BTreeMap::new();
        let of_kind = worlds.iter().zip(clean).filter(|(of, _)| match network {
            Some(name) => of.name == name,
            None => !of.is_network(),
        });
        for (world, flags) in of_kind {
            let of = |variable: mesonet::Variable| {
                let main = Target::Report.variables().contains(&variable);
                if main { variable.name() } else { "others" }.to_owned()
            };
            let none = || (0, vec![[0; 2]; columns.len()]);
            for reading in world.reports.iter().flat_map(|report| &report.readings) {
                if is_of_the_moment(&reading.series) {
                    for name in [of(reading.series.variable), "~all".to_owned()] {
                        counts.entry(name).or_insert_with(none).0 += 1;
                    }
                }
            }
            // Derived values have the verdicts of their inputs.
            let all = world.reports.iter().flat_map(|report| &report.readings);
            let reported: HashSet<_> = all.map(|reading| reading.series.variable).collect();
            for (i, flags) in flags.iter().enumerate() {
                for (value, flag) in flags {
                    let reported = reported.contains(&value.variable);
                    for name in [of(value.variable), "~all".to_owned()] {
                        if let Some(count) = counts.get_mut(&name).filter(|_| reported) {
                            count.1[i][usize::from(flag.kept.is_none())] += 1;
                        }
                    }
                }
            }
        }
        let whose = network.unwrap_or("lone stations");
        for (variable, (values, flagged)) in counts {
            print!("| {whose}: {} | {values} |", variable.trim_start_matches('~'));
            for [kept, withdrawn] in flagged {
                let pct = 100.0 * kept as f64 / values as f64;
                print!(" {kept} ({pct:.3} %), {withdrawn} taken back |");
            }
            println!();
        }
    }
    println!();
}

/// Each flag on the untouched data.
pub fn list(worlds: &[World], columns: &[Box<dyn Detector>], clean: &[Vec<Flags>]) {
    for (world, flags) in worlds.iter().zip(clean) {
        for (column, flags) in columns.iter().zip(flags) {
            let mut values: Vec<_> = kept(flags).collect();
            values.sort_by_key(|value| (value.station, value.variable.name(), value.ts_ms));
            for value in values {
                let of: Vec<_> =
                    world.reports.iter().filter(|report| report.station == value.station).collect();
                let at = of.partition_point(|report| report.ts_ms < value.ts_ms);
                let around: Vec<String> = of[at.saturating_sub(4)..(at + 5).min(of.len())]
                    .iter()
                    .map(|report| {
                        value_of(report, value.variable).map_or("-".into(), |v| format!("{v:.1}"))
                    })
                    .collect();
                let said = flags[value].kept.map(|q| format!("{}, {}", q.base, q.reason));
                println!(
                    "{}\t{}\t{}\t{}\t{}\t{}",
                    column.name(),
                    world.station(value.station).native_id,
                    value.variable,
                    Iso8601(value.ts_ms),
                    said.unwrap_or_default(),
                    around.join(" ")
                );
            }
        }
    }
    println!();
}

/// How much of each fault was found.
pub fn found(
    whose: &str,
    faults: &[InjectedFault],
    columns: &[Box<dyn Detector>],
    found: &[(InjectedFault, &Vec<Score>)],
    reasons: bool,
) {
    println!("| {whose} | Fault | Faults |{}", names(columns));
    println!("| --- | --- | --- |{}", " --- |".repeat(columns.len()));
    for fault in faults {
        let mut sums = vec![Score::default(); columns.len()];
        for (_, scores) in found.iter().filter(|(of, _)| of == fault) {
            for (sum, score) in sums.iter_mut().zip(scores.iter()) {
                sum.add(score.clone());
            }
        }
        if sums[0].events == 0 {
            continue;
        }
        print!("| {} | {} | {} |", fault.target.name(), fault.name(), sums[0].events);
        for sum in &mut sums {
            print!(" {} |", cell(sum));
        }
        if reasons {
            let mut said: BTreeMap<&str, usize> = BTreeMap::new();
            for what in &sums[0].said {
                *said.entry(what).or_default() += 1;
            }
            print!(" {said:?}");
        }
        println!();
    }
    println!();
}

/// Faults found, found within an hour, wrong values flagged, the median delay, and right values
/// flagged per fault.
fn cell(score: &mut Score) -> String {
    let percent = |part: usize, of: usize| (100.0 * part as f64 / of.max(1) as f64).round();
    score.delays_h.sort_by(f64::total_cmp);
    let delay = score.delays_h.get(score.delays_h.len() / 2);
    let delay = delay.map_or("–".to_owned(), |delay| format!("{delay:.0} h"));
    format!(
        "{} % ({} % in 1 h, after {delay}); {} % of values; {:.1} beside",
        percent(score.found, score.events),
        percent(score.in_an_hour, score.events),
        percent(score.flagged, score.wrong),
        score.beside as f64 / score.events.max(1) as f64,
    )
}
