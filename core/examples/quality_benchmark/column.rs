//! The columns of the table: the methods that find faults.

use std::collections::HashMap;

use mesonet::check::Checker;
use mesonet::observation::BaseQuality;
use mesonet::store::{Selection, StoreError};
use mesonet::time::{DAY_MS, MINUTE_MS};
use mesonet::{
    Batch, ClosedWindow, Intake, MemoryStore, Quality, Reader, Report, Station, StationId, Variable,
};

use crate::faults::is_of_the_moment;

/// A value with a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FlaggedValue {
    pub station: StationId,
    pub variable: Variable,
    pub ts_ms: i64,
}

/// A flag on a value.
#[derive(Clone, Copy, Debug)]
pub struct Flag {
    /// When it was first raised: the time of the newest report that was known then.
    pub raised_ms: i64,
    /// The verdict when all reports are known; `None` if the flag was taken back.
    pub kept: Option<Quality>,
}

pub type Flags = HashMap<FlaggedValue, Flag>;

/// Reports as they come in.
#[derive(Clone, Copy)]
pub struct Feed<'a> {
    pub stations: &'a [Station],
    /// Ascending in time. Reports before `live_ms` come in at once. The others come in one by one
    /// at a lone station, and every 20 minutes in a network.
    pub reports: &'a [Report],
    pub live_ms: i64,
    /// The stations whose flags are wanted.
    pub watched: &'a [StationId],
}

/// Something that finds faults. To add a column, implement it and put it into `columns` of `main.rs`.
pub trait Detector: Sync {
    fn name(&self) -> &'static str;

    /// Flags wrong instantaneous values and means.
    fn flags(&self, feed: Feed<'_>) -> Flags;
}

/// This library: the intake into a store.
pub struct Mesonet(pub Checker);

impl Detector for Mesonet {
    fn name(&self) -> &'static str {
        "mesonet"
    }

    fn flags(&self, feed: Feed<'_>) -> Flags {
        take_in(&self.0, feed).expect("a store in memory takes real reports")
    }
}

fn take_in(
    checker: &Checker,
    Feed { stations, reports, live_ms, watched }: Feed<'_>,
) -> Result<Flags, StoreError> {
    /// Verdicts change no longer than this after a reading.
    const SETTLED_MS: i64 = 10 * DAY_MS;
    let mut watched = watched.to_vec();
    watched.sort_unstable();
    let (intake, store) = (Intake::new(checker.clone()), MemoryStore::default());
    let history = reports.partition_point(|report| report.ts_ms < live_ms);
    let (history, live) = reports.split_at(history);
    let mut flags = Flags::new();
    let mut stations = stations.to_vec();
    let together = stations.len() > 1;
    let span_ms = if together { 20 * MINUTE_MS } else { 1 };
    let batches = live.chunk_by(|one, next| one.ts_ms / span_ms == next.ts_ms / span_ms);
    for reports in std::iter::once(history).chain(batches) {
        let batch = Batch { stations: std::mem::take(&mut stations), reports: reports.to_vec() };
        intake.take_in(&store, batch)?;
        let Some(newest) = reports.last() else { continue };
        let from_ms = reports[0].ts_ms - SETTLED_MS;
        for (_, flag) in flags.iter_mut().filter(|(value, _)| value.ts_ms >= from_ms) {
            let flag: &mut Flag = flag;
            flag.kept = None;
        }
        let window = ClosedWindow::new(from_ms, newest.ts_ms).expect("ascending");
        let variables = Variable::ALL;
        let selection = Selection { stations: &watched, variables, window };
        store.scan(&selection, &mut |which, slices| {
            for slice in slices.iter().filter(|slice| is_of_the_moment(&slice.series.key)) {
                for (i, code) in slice.quality.iter().enumerate() {
                    let quality = code.quality();
                    if quality.base <= BaseQuality::Instrumentation {
                        let (variable, ts_ms) = (slice.series.key.variable, slice.ts_ms[i]);
                        let value = FlaggedValue { station: watched[which], variable, ts_ms };
                        let raised_ms = newest.ts_ms;
                        let flag = flags.entry(value).or_insert(Flag { raised_ms, kept: None });
                        flag.kept = Some(quality);
                    }
                }
            }
        })?;
    }
    Ok(flags)
}
