//! Rows as CSV (RFC 4180): text that is the same in all rows of a series, or for all rows with a
//! verdict, is formatted once.

use super::track::Track;
use crate::observation::{Qualifier, QualityCode, Series};
use crate::query::rows::Row;
use crate::time::InstantWriter;

/// The column that a request may ask for in addition to those of the interface.
pub(super) const QUALIFIER: &str = "qualifier";

/// The names of the columns, in order.
pub(super) const COLUMNS: [&str; 10] = [
    "lat",
    "lon",
    "observation_name",
    "interval_type",
    "interval_minutes",
    "timestamp",
    "value",
    "quality_base",
    "quality_reason",
    "group_bucket_name",
];

/// Writes rows, each ended by a line feed.
#[derive(Debug)]
pub(super) struct CsvRows {
    track: Track,
    /// The place at the start of the heads, and the first moment at which the place is different.
    place: String,
    place_until_ms: i64,
    /// From the start of a row to its timestamp, by series.
    heads: Vec<Vec<u8>>,
    /// From the end of the value to the bucket, by the byte of the verdict.
    verdicts: Vec<Vec<u8>>,
    /// The bucket, by series.
    buckets: Vec<Vec<u8>>,
    /// The end of the row, by the code of the qualifier if there is a column of them.
    qualifiers: Option<[String; 4]>,
    instants: InstantWriter,
    /// Rows of one time follow one another, so their timestamp is formatted once.
    stamp_ms: Option<i64>,
    stamp: Vec<u8>,
}

impl CsvRows {
    pub(super) fn new<'a>(
        track: Track,
        series: impl Iterator<Item = &'a Series> + Clone,
        has_qualifiers: bool,
    ) -> Self {
        let (place, place_until_ms) = place_at(&track, i64::MIN);
        let head = |series: &Series| {
            let key = &series.key;
            format!("{place},{},{},{},", key.variable, key.interval_type, key.interval_minutes)
        };
        let verdict = |code| {
            let quality = QualityCode(code).quality();
            format!(",{},{},", quality.base, quality.reason)
        };
        let end = |code| format!(",{}\n", Qualifier::of_code(code).map_or("", Qualifier::name));
        Self {
            heads: series.clone().map(|series| head(series).into_bytes()).collect(),
            track,
            place,
            place_until_ms,
            verdicts: (0..=u8::MAX).map(|code| verdict(code).into_bytes()).collect(),
            buckets: series.map(|series| quoted(&series.key.bucket).into_bytes()).collect(),
            qualifiers: has_qualifiers.then(|| [0, 1, 2, 3].map(end)),
            instants: InstantWriter::default(),
            stamp_ms: None,
            stamp: Vec::new(),
        }
    }

    pub(super) fn head(&self, text: &mut Vec<u8>) {
        text.extend_from_slice(COLUMNS.join(",").as_bytes());
        if self.qualifiers.is_some() {
            text.push(b',');
            text.extend_from_slice(QUALIFIER.as_bytes());
        }
        text.push(b'\n');
    }

    pub(super) fn row(&mut self, row: &Row, text: &mut Vec<u8>) {
        if self.stamp_ms != Some(row.ts_ms) {
            self.stamp_ms = Some(row.ts_ms);
            self.stamp.clear();
            self.instants.write(row.ts_ms, &mut self.stamp);
            self.stamp.push(b',');
            // Rows are sorted by time.
            if row.ts_ms >= self.place_until_ms {
                self.move_to(row.ts_ms);
            }
        }
        text.extend_from_slice(&self.heads[row.series]);
        text.extend_from_slice(&self.stamp);
        // A store holds only finite values.
        text.extend_from_slice(zmij::Buffer::new().format_finite(row.value).as_bytes());
        text.extend_from_slice(&self.verdicts[usize::from(row.quality.0)]);
        text.extend_from_slice(&self.buckets[row.series]);
        let end = self.qualifiers.as_ref().and_then(|ends| ends.get(usize::from(row.qualifier)));
        text.extend_from_slice(end.map_or("\n", String::as_str).as_bytes());
    }

    /// Puts the place at a time into the heads.
    fn move_to(&mut self, ts_ms: i64) {
        let (place, until_ms) = place_at(&self.track, ts_ms);
        for head in &mut self.heads {
            head.splice(..self.place.len(), place.bytes());
        }
        (self.place, self.place_until_ms) = (place, until_ms);
    }
}

/// Latitude and longitude at a time, and the first moment at which they are different.
fn place_at(track: &Track, ts_ms: i64) -> (String, i64) {
    let ((lat, lon), until_ms) = track.at(ts_ms);
    let mut number = zmij::Buffer::new();
    let lat = number.format(lat).to_owned();
    (format!("{lat},{}", number.format(lon)), until_ms)
}

/// A field, quoted if it contains a character that would end it. Names of variables, numbers and
/// codes never contain one; the bucket is a text from the source.
fn quoted(field: &str) -> String {
    if field.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}
