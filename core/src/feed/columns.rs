//! The readings of reports, column by column.

use std::collections::HashMap;

use super::item::{FeedReport, FeedStation};
use crate::geo::LonLat;
use crate::observation::{IntervalType, Qualifier, Quality, Report, Variable};

/// Texts that repeat: each is kept once and identified by its place.
///
/// ```
/// use mesonet::feed::Texts;
/// let mut texts = Texts::default();
/// assert_eq!((texts.place("km/h"), texts.place("hPa"), texts.place("km/h")), (0, 1, 0));
/// assert_eq!(texts.all(), ["km/h", "hPa"]);
/// ```
#[derive(Debug, Default)]
pub struct Texts {
    all: Vec<String>,
    places: HashMap<String, u32>,
    last: u32,
}

/// Up to this many texts are compared one by one, which is faster than a hash.
const FEW: usize = 12;

impl Texts {
    /// The place of a text, which is added if it is new.
    pub fn place(&mut self, text: &str) -> u32 {
        // Most readings have the text of the reading before.
        if !self.is_at(self.last, text) {
            self.last = match self.known(text) {
                Some(place) => place,
                None => self.add(text),
            };
        }
        self.last
    }

    /// The texts in the order in which they came.
    pub fn all(&self) -> &[String] {
        &self.all
    }

    fn is_at(&self, place: u32, text: &str) -> bool {
        self.all.get(place as usize).is_some_and(|known| is_same(known, text))
    }

    fn known(&self, text: &str) -> Option<u32> {
        if self.all.len() > FEW {
            return self.places.get(text).copied();
        }
        self.all.iter().position(|known| is_same(known, text)).map(|place| place as u32)
    }

    fn add(&mut self, text: &str) -> u32 {
        let place = self.all.len() as u32;
        self.all.push(text.to_owned());
        self.places.insert(text.to_owned(), place);
        place
    }
}

/// Whether two texts are equal. Most readings have an empty text as bucket; it has no address, and
/// comparing bytes there costs a processor 80 ns even if there are none.
fn is_same(one: &str, other: &str) -> bool {
    one.len() == other.len() && (one.is_empty() || one == other)
}

/// The values that the readings of one report, or of one earlier moment of it, share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReportRow {
    /// Number of its readings.
    pub readings: usize,
    /// Place of the provider in [`ReadingColumns::networks`].
    pub network: u32,
    /// Place of its id of the station in [`ReadingColumns::stations`].
    pub station: u32,
    /// Place of the station's name in [`ReadingColumns::station_names`], if the file gives one.
    pub station_name: Option<u32>,
    /// Place of the station, if the file gives it.
    pub place: Option<LonLat>,
    /// Altitude above mean sea level, if the file gives it.
    pub altitude_m: Option<f64>,
    /// Time, milliseconds since 1970 (UTC).
    pub ts_ms: i64,
    /// 0 for a first report, higher for each correction of it.
    pub revision: u8,
}

/// The readings of reports in columns, in the order of the reports. Values that the readings of a
/// report share are stored once, in its row.
///
/// ```
/// use mesonet::Variable;
/// use mesonet::feed::{FileContext, Kind, ReadingColumns};
/// let text = b"METAR KBUF 312354Z 21014KT 02/M07 A2973=\n";
/// let file = FileContext::new("sa.txt", 1_577_836_800_000);
/// let mut columns = ReadingColumns::default();
/// Kind::MetarBulletin.read(&mut &text[..], &file, &mut |item| {
///     columns.extend(item.into_report().iter());
/// })?;
/// let report = columns.reports[0];
/// assert_eq!((report.readings, columns.values.len()), (6, 6));
/// assert_eq!(columns.stations.all()[report.station as usize], "KBUF");
/// assert_eq!((columns.variables[0], columns.values[0]), (Variable::AirTemperature, 2.0));
/// # Ok::<(), mesonet::feed::FeedError>(())
/// ```
#[derive(Debug, Default)]
pub struct ReadingColumns {
    /// Providers of [`ReportRow::network`].
    pub networks: Texts,
    /// Ids of [`ReportRow::station`].
    pub stations: Texts,
    /// Names of [`ReportRow::station_name`].
    pub station_names: Texts,
    /// Units of [`unit_places`](Self::unit_places).
    pub units: Texts,
    /// Labels of [`bucket_places`](Self::bucket_places); the empty label means no group.
    pub buckets: Texts,
    /// A row for each report with readings, preceded by a row for the earlier moment that it
    /// describes.
    pub reports: Vec<ReportRow>,
    /// The variable of each reading.
    pub variables: Vec<Variable>,
    /// The unit of each value.
    pub unit_places: Vec<u32>,
    /// How each value represents its interval.
    pub interval_types: Vec<IntervalType>,
    /// Length of averaging or accumulation in minutes; 0 for instantaneous.
    pub interval_minutes: Vec<i32>,
    /// The values.
    pub values: Vec<f64>,
    /// The verdict of the source on each value.
    pub qualities: Vec<Quality>,
    /// The qualifier of each number; mostly `None`.
    pub qualifiers: Vec<Option<Qualifier>>,
    /// The bucket of each grouped series.
    pub bucket_places: Vec<u32>,
    /// Whether each value was derived.
    pub calculated: Vec<bool>,
    /// The unit that each variable had last.
    last_units: Vec<u32>,
}

impl ReadingColumns {
    fn push(&mut self, station: &FeedStation, report: &Report) {
        let readings = &report.readings;
        if readings.is_empty() {
            return;
        }
        self.reports.push(ReportRow {
            readings: readings.len(),
            network: self.networks.place(&station.network),
            station: self.stations.place(&station.native_id),
            station_name: station.name.as_ref().map(|name| self.station_names.place(name)),
            place: station.place,
            altitude_m: station.altitude_m,
            ts_ms: report.ts_ms,
            revision: report.revision,
        });
        let series = || readings.iter().map(|reading| &reading.series);
        self.variables.extend(series().map(|key| key.variable));
        self.interval_types.extend(series().map(|key| key.interval_type));
        self.interval_minutes.extend(series().map(|key| key.interval_minutes));
        self.calculated.extend(series().map(|key| key.calculated));
        self.values.extend(readings.iter().map(|reading| reading.value));
        self.qualities.extend(readings.iter().map(|reading| reading.quality));
        self.qualifiers.extend(readings.iter().map(|reading| reading.qualifier));
        self.bucket_places.extend(series().map(|key| self.buckets.place(&key.bucket)));
        self.last_units.resize(Variable::ALL.len(), 0);
        self.unit_places.extend(series().map(|key| {
            let last = &mut self.last_units[key.variable as usize];
            if !self.units.is_at(*last, &key.reported_unit) {
                *last = self.units.place(&key.reported_unit);
            }
            *last
        }));
    }
}

impl<'a> Extend<&'a FeedReport> for ReadingColumns {
    /// Adds the readings of reports, preceded by their readings of earlier moments.
    fn extend<T: IntoIterator<Item = &'a FeedReport>>(&mut self, reports: T) {
        for FeedReport { station, report, earlier } in reports {
            for report in earlier.iter().chain([report]) {
                self.push(station, report);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_keep_their_places_when_there_are_many() {
        let mut texts = Texts::default();
        let names: Vec<String> = (0..3 * FEW).map(|number| format!("station {number}")).collect();
        for _ in 0..2 {
            for (place, name) in names.iter().enumerate() {
                assert_eq!(texts.place(name), place as u32);
            }
        }
        assert_eq!(texts.all(), names);
        assert_eq!(texts.place(""), names.len() as u32);
    }
}
