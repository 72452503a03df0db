//! Compares a copy with its original, by counts and checksums of each station.

use std::collections::BTreeMap;
use std::fmt;

use super::digest::Digest;
use super::locate::locate;
use super::walk::{WindowWalk, is_too_long, keeps_texts, span_ms};
use super::{CopyError, Original, ReferenceData};
use crate::observation::{StationId, Variable};
use crate::store::Selection;
use crate::time::{ClosedWindow, Iso8601};

/// The approximate number of readings in one window.
const CONTENT: u64 = 1_000_000;

/// How many differences are described.
const DESCRIBED: usize = 20;

/// The result of comparing a copy with its original.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Number of stations of the original.
    pub stations: usize,
    /// The content of the original.
    pub original: Digest,
    /// The content of the copy.
    pub copy: Digest,
    /// The first 20 differences.
    pub differences: Vec<Difference>,
    /// The number of differences.
    pub count: usize,
    /// Number of texts of reports that the copy lacks because its store keeps none. They are no
    /// difference.
    pub texts_left_out: u64,
}

/// A difference between a copy and its original.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The station; `None` if the difference does not concern a station.
    pub station: Option<StationId>,
    /// The difference, in words.
    pub what: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.station {
            Some(station) => write!(f, "station {station}: {}", self.what),
            None => f.write_str(&self.what),
        }
    }
}

impl Comparison {
    /// Whether the copy is equal to the original.
    pub fn is_equal(&self) -> bool {
        self.count == 0
    }

    fn note(&mut self, station: Option<StationId>, what: impl FnOnce() -> String) {
        self.count += 1;
        if self.differences.len() < DESCRIBED {
            self.differences.push(Difference { station, what: what() });
        }
    }
}

/// Compares a copy with its original, reading both completely. `progress` receives the number of
/// readings and weather reports looked at so far, in both together.
///
/// # Errors
/// One of them cannot be read, or is damaged.
pub fn compare(
    original: &dyn Original,
    copy: &dyn Original,
    progress: &mut dyn FnMut(u64),
) -> Result<Comparison, CopyError> {
    let (reference, of_copy) = (original.reference_data()?, copy.reference_data()?);
    let mut comparison =
        Comparison { stations: reference.directory.stations.len(), ..Comparison::default() };
    compare_reference_data(&reference, &of_copy, &mut comparison);
    let mut looked = 0;
    let with_texts = keeps_texts(original)? && keeps_texts(copy)?;
    let mut digests = |side, reader, reference| {
        digests(side, with_texts, reader, reference, &mut |more| {
            looked += more;
            progress(looked);
        })
    };
    let expected = digests("original", original, &reference)?;
    let found = digests("copy", copy, &of_copy)?;
    if !with_texts {
        comparison.texts_left_out = count_texts(original, &reference)?;
    }
    for (station, expected) in &expected {
        comparison.original.join(expected);
        let found = found.get(station).copied().unwrap_or_default();
        if *expected != found {
            // The place of a difference is looked up only for the differences that are described.
            let place = (comparison.differences.len() < DESCRIBED)
                .then(|| locate(original, copy, *station))
                .transpose()?;
            comparison.note(Some(*station), || {
                format!(
                    "{expected} in the original, {found} in the copy{}",
                    place.unwrap_or_default()
                )
            });
        }
    }
    for digest in found.values() {
        comparison.copy.join(digest);
    }
    Ok(comparison)
}

/// Compares everything except the readings.
fn compare_reference_data(
    original: &ReferenceData,
    copy: &ReferenceData,
    comparison: &mut Comparison,
) {
    if original.retain_from_ms != copy.retain_from_ms {
        let shown = |instant: Option<i64>| {
            instant.map_or("nothing".to_owned(), |ms| format!("everything before {}", Iso8601(ms)))
        };
        let (original, copy) = (shown(original.retain_from_ms), shown(copy.retain_from_ms));
        comparison.note(None, || {
            format!("the original has dropped {original}, the copy has dropped {copy}")
        });
    }
    let with = |reference: &ReferenceData| -> BTreeMap<_, _> {
        let records = reference.directory.stations.iter().cloned();
        records
            .zip(reference.weather_of.iter().copied())
            .map(|(record, weather_of)| (record.station.id, (record, weather_of)))
            .collect()
    };
    let (expected, found) = (with(original), with(copy));
    for (id, (record, weather_of)) in &expected {
        let Some((copied, copied_weather_of)) = found.get(id) else {
            comparison.note(Some(*id), || "it is missing from the copy".to_owned());
            continue;
        };
        if record.station != copied.station {
            comparison.note(Some(*id), || "its description differs in the copy".to_owned());
        }
        if record.update_time_ms != copied.update_time_ms {
            comparison.note(Some(*id), || "its last report has another time".to_owned());
        }
        if record.present_weather != copied.present_weather || weather_of != copied_weather_of {
            comparison.note(Some(*id), || "its last present weather is another".to_owned());
        }
        if record.series != copied.series {
            comparison.note(Some(*id), || {
                let (series, copied) = (record.series.len(), copied.series.len());
                format!(
                    "it has {series} series in the original and {copied} in the copy, or they \
                         appeared at other times"
                )
            });
        }
    }
    for id in found.keys().filter(|id| !expected.contains_key(id)) {
        comparison.note(Some(*id), || "it is not in the original".to_owned());
    }
}

/// Reads all of a record, and digests it by station.
fn digests(
    side: &'static str,
    with_texts: bool,
    reader: &dyn Original,
    reference: &ReferenceData,
    progress: &mut dyn FnMut(u64),
) -> Result<BTreeMap<StationId, Digest>, CopyError> {
    let ids: Vec<StationId> =
        reference.directory.stations.iter().map(|record| record.station.id).collect();
    let mut digests = vec![Digest::default(); ids.len()];
    WindowWalk::new(span_ms(reference), CONTENT).each(&mut |window| {
        let found = digest_window((side, with_texts), reader, &ids, window, &mut digests)?;
        progress(found.unwrap_or(0));
        Ok(found)
    })?;
    Ok(ids.into_iter().zip(digests).collect())
}

/// Counts the texts of a record; a store that keeps none has none.
fn count_texts(reader: &dyn Original, reference: &ReferenceData) -> Result<u64, CopyError> {
    if !keeps_texts(reader)? {
        return Ok(0);
    }
    let ids: Vec<StationId> =
        reference.directory.stations.iter().map(|record| record.station.id).collect();
    let mut texts = 0;
    WindowWalk::new(span_ms(reference), CONTENT).each(&mut |window| {
        let mut found = 0;
        reader.scan_reports(&ids, window, &mut |_, _| found += 1)?;
        let is_counted = found == 0 || !is_too_long(window);
        texts += if is_counted { found } else { 0 };
        Ok(is_counted.then_some(found))
    })?;
    Ok(texts)
}

fn digest_window(
    (side, with_texts): (&'static str, bool),
    reader: &dyn Original,
    ids: &[StationId],
    window: ClosedWindow,
    digests: &mut [Digest],
) -> Result<Option<u64>, CopyError> {
    let mut found = 0;
    let selection = Selection { stations: ids, variables: Variable::ALL, window };
    let mut damage = reader.scan(&selection, &mut |i, slices| {
        for slice in slices {
            found += slice.ts_ms.len() as u64;
            if !is_too_long(window) {
                digests[i].add(slice);
            }
        }
    })?;
    damage.join(reader.scan_weather(ids, window, &mut |i, ts_ms, revision, words| {
        found += 1;
        if !is_too_long(window) {
            digests[i].add_weather(ts_ms, revision, words);
        }
    })?);
    if with_texts {
        damage.join(reader.scan_reports(ids, window, &mut |i, kept| {
            found += 1;
            if !is_too_long(window) {
                digests[i].add_text(kept);
            }
        })?);
    }
    match damage.blocks() {
        0 => Ok(Some(found).filter(|&found| found == 0 || !is_too_long(window))),
        blocks => Err(CopyError::Damaged { side, blocks }),
    }
}
