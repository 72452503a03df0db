//! Rows as CSV (RFC 4180): text that is the same in all rows of a series, or for all rows with a
//! verdict, is formatted once.

use std::sync::Arc;

use super::AddedColumns;
use super::page_rows::Visit;
use super::track::Track;
use crate::observation::{Qualifier, QualityCode, Series, StationId};
use crate::query::ShownUnit;
use crate::query::rows::Row;
use crate::time::{InstantWriter, LocalClock};

/// The columns that a request may ask for in addition to those of the interface.
pub(super) const QUALIFIER: &str = "qualifier";
pub(super) const UNIT: &str = "unit";
pub(super) const LOCAL_TIMESTAMP: &str = "local_timestamp";
pub(super) const STATION_ID: &str = "station_id";

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
    /// Whole rows, until they are taken.
    text: Vec<u8>,
    columns: AddedColumns,
    station: Option<StationId>,
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
    /// By the code of the qualifier, if there is a column of them.
    qualifiers: Option<[String; 4]>,
    /// By series, if there is a column of them: how values are shown, and the column.
    units: Option<Vec<(ShownUnit, Vec<u8>)>>,
    /// The clock of the station.
    clock: Option<Arc<LocalClock>>,
    instants: InstantWriter,
    local_instants: InstantWriter,
    /// Rows of one time follow one another, so their timestamps are formatted once.
    stamp_ms: Option<i64>,
    stamp: Vec<u8>,
    /// From the column of the local time to the end of the row.
    end: Vec<u8>,
}

impl CsvRows {
    pub(super) fn new<'a>(
        series: impl Iterator<Item = &'a Series> + Clone,
        columns: AddedColumns,
    ) -> Self {
        let head = |series: &Series| {
            let key = &series.key;
            format!(",{},{},{},", key.variable, key.interval_type, key.interval_minutes)
        };
        let verdict = |code| {
            let quality = QualityCode(code).quality();
            format!(",{},{},", quality.base, quality.reason)
        };
        let qualifier = |code| format!(",{}", Qualifier::of_code(code).map_or("", Qualifier::name));
        let unit = |series: &Series| {
            let unit = columns.form.unit(&series.key);
            let column = format!(",{}", quoted(unit.symbol()));
            (unit, column.into_bytes())
        };
        Self {
            text: Vec::new(),
            heads: series.clone().map(|series| head(series).into_bytes()).collect(),
            station: None,
            track: Track::default(),
            place: String::new(),
            place_until_ms: i64::MIN,
            verdicts: (0..=u8::MAX).map(|code| verdict(code).into_bytes()).collect(),
            buckets: series.clone().map(|series| quoted(&series.key.bucket).into_bytes()).collect(),
            qualifiers: columns.qualifiers.then(|| [0, 1, 2, 3].map(qualifier)),
            units: columns.form.units.as_ref().map(|_| series.map(unit).collect()),
            clock: None,
            columns,
            instants: InstantWriter::default(),
            local_instants: InstantWriter::default(),
            stamp_ms: None,
            stamp: Vec::new(),
            end: Vec::new(),
        }
    }

    pub(super) fn head(&self, text: &mut Vec<u8>) {
        text.extend_from_slice(COLUMNS.join(",").as_bytes());
        for name in self.columns.names() {
            text.push(b',');
            text.extend_from_slice(name.as_bytes());
        }
        text.push(b'\n');
    }

    /// Moves the rows since the last call to the end of a text.
    pub(super) fn take(&mut self, text: &mut Vec<u8>) {
        text.append(&mut self.text);
    }

    fn begin_instant(&mut self, ts_ms: i64) {
        self.stamp_ms = Some(ts_ms);
        self.stamp.clear();
        self.instants.write(ts_ms, &mut self.stamp);
        self.stamp.push(b',');
        // Rows of a station are sorted by time.
        if ts_ms >= self.place_until_ms {
            self.move_to(ts_ms);
        }
        self.end.clear();
        if self.columns.form.clock.is_some() {
            self.end.push(b',');
            if let Some(clock) = &self.clock {
                clock.write(ts_ms, &mut self.local_instants, &mut self.end);
            }
        }
        if let Some(station) = self.station.filter(|_| self.columns.stations) {
            self.end.extend_from_slice(format!(",{station}").as_bytes());
        }
        self.end.push(b'\n');
    }

    /// Puts the place at a time into the heads.
    fn move_to(&mut self, ts_ms: i64) {
        let (place, until_ms) = place_at(&self.track, ts_ms);
        if place != self.place {
            for head in &mut self.heads {
                head.splice(..self.place.len(), place.bytes());
            }
        }
        (self.place, self.place_until_ms) = (place, until_ms);
    }
}

impl Visit for CsvRows {
    fn station(&mut self, station: StationId, track: &Track) {
        if self.station != Some(station) {
            self.station = Some(station);
            self.track = track.clone();
            self.clock = self.columns.form.clock_of(station).cloned();
            (self.stamp_ms, self.place_until_ms) = (None, i64::MIN);
        }
    }

    fn row(&mut self, row: &Row) {
        if self.stamp_ms != Some(row.ts_ms) {
            self.begin_instant(row.ts_ms);
        }
        let text = &mut self.text;
        let mut value = row.value;
        text.extend_from_slice(&self.heads[row.series]);
        text.extend_from_slice(&self.stamp);
        if let Some(units) = &self.units {
            value = units[row.series].0.value(value);
        }
        // A store holds only finite values.
        text.extend_from_slice(zmij::Buffer::new().format_finite(value).as_bytes());
        text.extend_from_slice(&self.verdicts[usize::from(row.quality.0)]);
        text.extend_from_slice(&self.buckets[row.series]);
        let qualifier =
            self.qualifiers.as_ref().and_then(|all| all.get(usize::from(row.qualifier)));
        text.extend_from_slice(qualifier.map_or("", String::as_str).as_bytes());
        if let Some(units) = &self.units {
            text.extend_from_slice(&units[row.series].1);
        }
        text.extend_from_slice(&self.end);
    }
}

impl AddedColumns {
    /// The names of the columns, in order.
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> {
        let named = [
            (QUALIFIER, self.qualifiers),
            (UNIT, self.form.units.is_some()),
            (LOCAL_TIMESTAMP, self.form.clock.is_some()),
            (STATION_ID, self.stations),
        ];
        named.into_iter().filter(|(_, is_there)| *is_there).map(|(name, _)| name)
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
/// codes never contain one; buckets and units are texts from the source.
fn quoted(field: &str) -> String {
    if field.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}
