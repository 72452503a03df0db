//! A benchmark of the quality checks: puts faults of many kinds into real readings and prints, as
//! tables in Markdown, how many of them are found, how soon, and how many right values are
//! flagged.
//!
//! Takes the folders of the feed files, by default those of the test data. `--seed N` places the
//! faults elsewhere. `--limits FILE` takes other limits. `--only WORD` keeps the faults with that
//! word in their name or target. `--list` prints each flag on the untouched data, `--reasons` the
//! verdicts on the wrong values, and `--missed` the reasons why faults of the networks are not
//! found within an hour. `--dump FILE` writes the faulty networks for `titanlib_columns.py`. See
//! `README.md` beside this file.

mod column;
mod dump;
mod faults;
mod madis;
mod missed;
mod table;
mod trials;
mod worlds;

use std::error::Error;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use column::{Detector, Feed, Flags, Mesonet};
use faults::InjectedFault;
use mesonet::StationId;
use mesonet::check::Checker;
use trials::Score;
use worlds::World;

const FOLDERS: [&str; 4] = ["iem_asos", "isd", "metar", "ndbc"];

fn main() -> Result<(), Box<dyn Error>> {
    let (mut folders, mut seed, mut only, mut list, mut reasons, mut missed) =
        (Vec::new(), 1, String::new(), false, false, false);
    let (mut limits, mut dump): (Option<String>, Option<PathBuf>) = (None, None);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut next = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--seed" => seed = next()?.parse()?,
            "--only" => only = next()?,
            "--dump" => dump = Some(PathBuf::from(next()?)),
            "--limits" => limits = Some(std::fs::read_to_string(next()?)?),
            "--list" => list = true,
            "--reasons" => reasons = true,
            "--missed" => missed = true,
            _ => folders.push(PathBuf::from(argument)),
        }
    }
    if folders.is_empty() {
        let data = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data"));
        folders.extend(FOLDERS.map(|folder| data.join(folder)));
    }
    let worlds = worlds::read(&folders)?;
    let mut faults = faults::all();
    faults.retain(|of| format!("{} {}", of.name(), of.target.name()).contains(&only));
    if let Some(path) = dump {
        return Ok(dump::write(&path, &worlds, &faults, seed)?);
    }
    let checker = Checker::with_limits(limits.as_deref())?;
    let columns: Vec<Box<dyn Detector>> =
        vec![Box::new(Mesonet(checker.clone().into_owned())), Box::new(madis::Madis)];
    if missed {
        let networks = worlds.iter().enumerate().filter(|(_, world)| world.is_network());
        for (at, world) in networks {
            for fault in &faults {
                missed::print(world, fault, &checker, &*columns[0], seed + 1000 * at as u64);
            }
        }
        return Ok(());
    }
    let clean = each(&worlds, |world| untouched(world, &columns));
    table::data(&worlds);
    table::untouched(&worlds, &columns, &clean);
    if list {
        table::list(&worlds, &columns, &clean);
    }
    let pairs: Vec<(usize, InjectedFault)> = (0..worlds.len())
        .flat_map(|world| faults.iter().map(move |&fault| (world, fault)))
        .collect();
    let scores: Vec<Vec<Score>> = each(&pairs, |&(world, fault)| {
        let seed = seed + 1000 * world as u64;
        trials::run(&worlds[world], &fault, &columns, &clean[world], seed)
    });
    // The lone stations together, each network separately.
    let networks = worlds.iter().enumerate().filter(|(_, of)| of.is_network());
    let rows = std::iter::once(None).chain(networks.map(|(world, _)| Some(world)));
    for network in rows {
        let of = |(&(world, fault), scores): (&(usize, InjectedFault), _)| {
            let of_table = network.map_or(!worlds[world].is_network(), |network| network == world);
            of_table.then_some((fault, scores))
        };
        let found: Vec<_> = pairs.iter().zip(&scores).filter_map(of).collect();
        let whose = network.map_or("Alone", |network| &worlds[network].name);
        table::found(whose, &faults, &columns, &found, reasons);
    }
    Ok(())
}

/// The flags of each column on the unchanged reports.
fn untouched(world: &World, columns: &[Box<dyn Detector>]) -> Vec<Flags> {
    let watched: Vec<StationId> = world.stations.iter().map(|station| station.id).collect();
    let first_ms = world.reports[0].ts_ms;
    let live_ms = first_ms + world.history_ms();
    let feed =
        Feed { stations: &world.stations, reports: &world.reports, live_ms, watched: &watched };
    columns.iter().map(|column| column.flags(feed)).collect()
}

/// Maps items with as many threads as there are cores.
fn each<T: Sync, R: Send>(items: &[T], map: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(at) else { break };
                    let mapped = map(item);
                    done.lock().expect("no thread panics").push((at, mapped));
                }
            });
        }
    });
    let mut done = done.into_inner().expect("no thread panics");
    done.sort_by_key(|&(at, _)| at);
    done.into_iter().map(|(_, mapped)| mapped).collect()
}
