//! Merges runs into one, by station, series and time; at the same time, the newer run wins.

use std::ops::Range;

use super::run::{LostPart, SeriesPart, SortedRun};
use super::run_builder::RunBuilder;
use crate::observation::{SeriesId, StationId};
use crate::store::StoreError;

/// Parts of one series that overlap in time, as their range among all parts.
pub(super) struct OverlappingParts(pub Range<usize>);

impl OverlappingParts {
    pub(super) fn is_single(&self) -> bool {
        self.0.len() == 1
    }
}

/// Sorts non-empty parts, each with the age of its run, by time and finds those that overlap.
pub(super) fn groups(parts: &mut [(usize, SeriesPart<'_>)], groups: &mut Vec<OverlappingParts>) {
    groups.clear();
    parts.sort_unstable_by_key(|(age, part)| (part.ts_ms[0], *age));
    let mut last_ms = i64::MIN;
    for (at, (_, part)) in parts.iter().enumerate() {
        match groups.last_mut() {
            Some(group) if part.ts_ms[0] <= last_ms => group.0.end = at + 1,
            _ => groups.push(OverlappingParts(at..at + 1)),
        }
        last_ms = last_ms.max(part.ts_ms[part.len() - 1]);
    }
}

/// Merges overlapping parts: each time appears once, from the newest run.
pub(super) fn merge_parts(parts: &[(usize, SeriesPart<'_>)], put: &mut dyn FnMut(&SeriesPart<'_>)) {
    let mut heads: Vec<(usize, SeriesPart<'_>)> = parts.to_vec();
    // Newest first, so that the newest comes first among equals.
    heads.sort_unstable_by_key(|&(age, _)| std::cmp::Reverse(age));
    while let Some(first) = (0..heads.len()).min_by_key(|&i| heads[i].1.ts_ms[0]) {
        let ts_ms = heads[first].1.ts_ms[0];
        // Takes as many readings as come before the next time of any other part.
        let others = heads.iter().enumerate().filter(|&(i, _)| i != first);
        let until = others.map(|(_, (_, part))| part.ts_ms[0]).min().unwrap_or(i64::MAX);
        let part = heads[first].1;
        let count = 1 + part.ts_ms[1..].partition_point(|&ts| ts < until);
        put(&part.range(0..count));
        heads[first].1 = part.range(count..part.len());
        for (_, part) in &mut heads {
            if part.ts_ms.first() == Some(&ts_ms) {
                *part = part.range(1..part.len());
            }
        }
        heads.retain(|(_, part)| !part.is_empty());
    }
}

/// Merges runs, oldest first, row by row. After each row `sink` gets the builder and may take its
/// content. Readings before `from_ms` and those in damaged blocks are left out; `lost` is called
/// for the latter with the index of the run and the station.
pub(super) fn merge(
    runs: &[&SortedRun],
    from_ms: i64,
    builder: &mut RunBuilder,
    sink: &mut dyn FnMut(&mut RunBuilder) -> Result<(), StoreError>,
    lost: &mut dyn FnMut(usize, StationId, LostPart),
) -> Result<(), StoreError> {
    // The position in each run: station and row.
    let mut at: Vec<(usize, usize)> = vec![(0, 0); runs.len()];
    let (mut parts, mut found) = (Vec::new(), Vec::new());
    loop {
        let key = |i: usize| -> Option<(StationId, SeriesId)> {
            let (station, row) = at[i];
            Some((runs[i].stations.get(station)?.0, runs[i].rows[row].series))
        };
        let Some((station, series)) = (0..runs.len()).filter_map(key).min() else { return Ok(()) };
        parts.clear();
        let mut slot = 0;
        for i in (0..runs.len()).filter(|&i| key(i) == Some((station, series))).collect::<Vec<_>>()
        {
            let row = &runs[i].rows[at[i].1];
            slot = row.slot;
            let found = &mut |part| parts.push((i, part));
            runs[i].parts(row, (from_ms, i64::MAX), found, &mut |part| lost(i, station, part));
            at[i].1 += 1;
            if at[i].1 == runs[i].rows_at(at[i].0).end {
                at[i].0 += 1;
            }
        }
        builder.row(station, series, slot);
        groups(&mut parts, &mut found);
        for group in &found {
            if group.is_single() {
                builder.extend(&parts[group.0.start].1);
            } else {
                merge_parts(&parts[group.0.clone()], &mut |part| builder.extend(part));
            }
        }
        builder.end_row();
        sink(builder)?;
    }
}

/// Merges runs in memory.
pub(super) fn merge_fresh(runs: &[&SortedRun]) -> SortedRun {
    let readings: u64 = runs.iter().map(|run| run.readings).sum();
    let mut builder = RunBuilder::with_capacity(readings as usize);
    // Runs in memory have no file that can be damaged, and the sink accepts everything.
    let _ = merge(runs, i64::MIN, &mut builder, &mut |_| Ok(()), &mut |_, _, _| {});
    builder.finish()
}
