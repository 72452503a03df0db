//! Finds the series and the month in which a station differs.

use std::collections::BTreeMap;

use super::digest::{Digest, reading_sum};
use super::sums::Sum;
use super::walk::{WindowWalk, is_too_long};
use super::{CopyError, Original};
use crate::observation::{SeriesId, StationId, Variable};
use crate::store::Selection;
use crate::time::Iso8601;

/// The approximate number of readings in one window.
const CONTENT: u64 = 100_000;

/// A series, or the weather, in a month such as `2024-08`.
type Cell = (Option<SeriesId>, String);

/// Describes the first series and month in which a station differs; empty if there is none.
pub(super) fn locate(
    original: &dyn Original,
    copy: &dyn Original,
    station: StationId,
) -> Result<String, CopyError> {
    let (expected, found) = (cells(original, station)?, cells(copy, station)?);
    let mut all: Vec<&Cell> = expected.keys().chain(found.keys()).collect();
    all.sort();
    all.dedup();
    let of =
        |cells: &BTreeMap<Cell, Digest>, cell: &Cell| cells.get(cell).copied().unwrap_or_default();
    let first = all.into_iter().find(|cell| of(&expected, cell) != of(&found, cell));
    let Some(cell) = first else { return Ok(String::new()) };
    let what = match cell.0 {
        Some(series) => {
            let directory = original.directory()?;
            directory
                .get(station)
                .and_then(|record| record.series.iter().find(|known| known.series.id == series))
                .map_or_else(
                    || format!("series {series}"),
                    |known| format!("series {series} ({})", known.series.key.variable),
                )
        }
        None => "the present weather".to_owned(),
    };
    let (expected, found) = (of(&expected, cell), of(&found, cell));
    let count = |digest: Digest| digest.readings + digest.weather;
    Ok(format!(
        "; first in {what} of {}: {} in the original, {} in the copy",
        cell.1,
        count(expected),
        count(found)
    ))
}

fn cells(reader: &dyn Original, station: StationId) -> Result<BTreeMap<Cell, Digest>, CopyError> {
    let mut cells: BTreeMap<Cell, Digest> = BTreeMap::new();
    let directory = reader.directory()?;
    let span_ms = directory.get(station).and_then(|record| {
        let first_ms = record.series.iter().map(|series| series.first_appearance_ms).min()?;
        Some((first_ms, record.update_time_ms?))
    });
    WindowWalk::new(span_ms, CONTENT).each(&mut |window| {
        let mut found = 0;
        let selection = Selection { stations: &[station], variables: Variable::ALL, window };
        reader.scan(&selection, &mut |_, slices| {
            for slice in slices {
                found += slice.ts_ms.len() as u64;
                for at in (0..slice.ts_ms.len()).filter(|_| !is_too_long(window)) {
                    let cell = (Some(slice.series.id), month(slice.ts_ms[at]));
                    let digest = cells.entry(cell).or_default();
                    let mut sum = Sum(digest.checksum);
                    sum += reading_sum(slice, at);
                    (digest.checksum, digest.readings) = (sum.0, digest.readings + 1);
                }
            }
        })?;
        reader.scan_weather(&[station], window, &mut |_, ts_ms, revision, words| {
            found += 1;
            if !is_too_long(window) {
                let digest = cells.entry((None, month(ts_ms))).or_default();
                digest.add_weather(ts_ms, revision, words);
            }
        })?;
        Ok(Some(found).filter(|&found| found == 0 || !is_too_long(window)))
    })?;
    Ok(cells)
}

/// The month of an instant, such as `2024-08`.
fn month(ts_ms: i64) -> String {
    let text = Iso8601(ts_ms).to_string();
    text.rsplitn(3, '-')
        .last()
        .map_or(text.clone(), |year| text[..text.len().min(year.len() + 3)].to_owned())
}
