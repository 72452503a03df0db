//! Merges runs into one, by station, series and time; at the same time, the newer run wins.

use std::ops::Range;

use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;

use super::packed::Decoder;
use super::report_texts::Content;
use super::run::{LostPart, SeriesPart, SortedRun};
use super::run_builder::RunBuilder;
use super::walk::{RunCursor, RunRef};
use crate::observation::StationId;
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

/// Merges runs, oldest first, station by station. After each station `sink` gets the builder and may
/// take its content; a station with many more than `at_once` readings comes in several spans of
/// time. Only what belongs to a content is merged, if one is given. Readings before `from_ms` and those in damaged blocks are left out; `lost` is called for
/// the latter with the index of the run and the station.
pub(super) fn merge(
    runs: &[RunRef<'_>],
    content: Option<Content>,
    from_ms: i64,
    at_once: u64,
    builder: &mut RunBuilder,
    sink: &mut dyn FnMut(&mut RunBuilder) -> Result<(), StoreError>,
    lost: &mut dyn FnMut(usize, StationId, LostPart),
) -> Result<(), StoreError> {
    let mut cursors: Vec<_> = runs.iter().map(|&run| RunCursor::new(run, 0)).collect();
    // The next station of each run.
    let mut places = vec![0; runs.len()];
    let mut bump = Bump::new();
    loop {
        let next = |i: usize| runs[i].stations().get(places[i]).map(|&(id, _)| id);
        let Some(station) = (0..runs.len()).filter_map(next).min() else { return Ok(()) };
        let of: Vec<(usize, usize)> =
            (0..runs.len()).filter(|&i| next(i) == Some(station)).map(|i| (i, places[i])).collect();
        let readings: u64 = of.iter().map(|&(i, place)| runs[i].readings_at(place)).sum();
        let span = (
            of.iter().map(|&(i, _)| runs[i].span().0).min().unwrap_or(from_ms).max(from_ms),
            of.iter().map(|&(i, _)| runs[i].span().1).max().unwrap_or(from_ms),
        );
        for span in parts_of(span, readings.div_ceil(at_once.max(1))) {
            bump.reset();
            merge_station(&mut cursors, &of, content, (station, span), &bump, builder, lost);
            sink(builder)?;
        }
        for (i, _) in of {
            places[i] += 1;
        }
    }
}

/// Splits a span, both ends included, into about as many.
fn parts_of((first_ms, last_ms): (i64, i64), count: u64) -> impl Iterator<Item = (i64, i64)> {
    let length = last_ms.saturating_sub(first_ms).unsigned_abs() / count.max(1) + 1;
    let length = i64::try_from(length).unwrap_or(i64::MAX);
    let mut from = (first_ms <= last_ms).then_some(first_ms);
    std::iter::from_fn(move || {
        let first_ms = from?;
        let end = first_ms.checked_add(length).filter(|&end| end <= last_ms);
        from = end;
        Some((first_ms, end.map_or(last_ms, |end| end - 1)))
    })
}

/// Merges the readings of a station in a span of time.
fn merge_station(
    cursors: &mut [RunCursor<'_>],
    of: &[(usize, usize)],
    content: Option<Content>,
    (station, span): (StationId, (i64, i64)),
    bump: &Bump,
    builder: &mut RunBuilder,
    lost: &mut dyn FnMut(usize, StationId, LostPart),
) {
    let mut decoder = Decoder::new(bump);
    let mut heads: Vec<(usize, Range<usize>)> = Vec::new();
    for &(i, place) in of {
        let rows = cursors[i].seek_at(place, span, &mut |part| lost(i, station, part));
        heads.push((i, rows));
    }
    let (mut parts, mut found) = (BumpVec::new_in(bump), Vec::new());
    loop {
        heads.retain(|(_, left)| left.start < left.end);
        let first = |(i, left): &(usize, Range<usize>)| cursors[*i].series(left.start);
        let Some((series, slot)) = heads.iter().map(first).min() else { return };
        let is_wanted = content.is_none_or(|content| Content::of(series) == content);
        parts.clear();
        for (i, left) in &mut heads {
            let i = *i;
            while left.start < left.end && cursors[i].series(left.start).0 == series {
                if is_wanted {
                    let (found, lost) =
                        (&mut |part| parts.push((i, part)), &mut |part| lost(i, station, part));
                    cursors[i].find(left.start, span, &mut decoder, found, lost);
                }
                left.start += 1;
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
    }
}

/// Merges runs in memory.
pub(super) fn merge_fresh(runs: &[&SortedRun]) -> SortedRun {
    let readings: u64 = runs.iter().map(|run| run.readings).sum();
    let mut builder = RunBuilder::with_capacity(readings as usize);
    let runs: Vec<RunRef<'_>> = runs.iter().map(|&run| RunRef::Rows(run)).collect();
    // Runs in memory have no file that can be damaged, and the sink accepts everything.
    let _ =
        merge(&runs, None, i64::MIN, u64::MAX, &mut builder, &mut |_| Ok(()), &mut |_, _, _| {});
    builder.finish()
}
