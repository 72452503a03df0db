//! The query behind the series endpoint: the readings of one variable at one station.

use std::sync::Arc;

use crate::observation::{Qualifier, Quality, Series, SeriesFilter, StationId};
use crate::query::rows::StationRows;
use crate::store::{Reader, StationSeries, StoreError};
use crate::time::ClosedWindow;

/// How many readings are read from the store at once.
const READINGS_AT_ONCE: usize = 16_384;

/// The readings of the series of one station that match a request.
///
/// Readings of several series are mixed in one list, sorted by time, then by series id. When
/// serialized, the fields that describe a series are those of the first series, by id, that has a
/// reading in the window.
///
/// ```
/// # use mesonet::{Intake, MemoryStore, intake::FeedFile};
/// # let csv = "raw_text,station_id,observation_time,latitude,longitude\n\
/// #     CYYZ 032000Z 24012G20KT 15SM 29/17 A2991,CYYZ,2024-08-03T20:00:00Z,43.68,-79.63\n";
/// # let store = MemoryStore::default();
/// # Intake::default().read_file(&store, csv.as_bytes(), &FeedFile::new("metars.csv", 0))?;
/// // The store has one report of Toronto Pearson: 29 °C, wind 12 kt with gusts of 20 kt.
/// use mesonet::query::{self, ObservationSeries, SeriesReading};
/// use mesonet::{ClosedWindow, StationId, Variable};
/// let hour = ClosedWindow::new(1_722_711_600_000, 1_722_715_200_000)?;
/// let id = StationId::new("METAR", "CYYZ");
/// let gusts = query::observation_series(&store, id, &Variable::WindGust.into(), hour)?;
/// let gusts: ObservationSeries = gusts.ok_or("there is no gust")?;
/// let worst: &SeriesReading = gusts.worst().ok_or("there is no gust")?;
/// assert_eq!(worst.value, 37.04); // 20 kt in km/h
/// assert_eq!(gusts.series_of(worst).key.interval_minutes, 10);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ObservationSeries {
    /// The station.
    pub station: StationId,
    /// The series that have a reading in the window, sorted by id; there is at least one.
    pub series: Vec<StationSeries>,
    /// The readings.
    pub readings: Vec<SeriesReading>,
}

/// One reading of [`ObservationSeries`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeriesReading {
    /// Time of the reading, milliseconds since 1970.
    pub ts_ms: i64,
    /// The value, in the series' unit.
    pub value: f64,
    /// Index of the series in [`ObservationSeries::series`].
    pub series: u32,
    /// The verdict.
    pub quality: Quality,
    /// The qualifier of the value.
    pub qualifier: Option<Qualifier>,
}

/// Finds the readings of the series of a station that match a filter, in a window with both ends
/// included. Returns `None` if there is no such reading.
///
/// # Errors
/// The store cannot be read.
///
/// ```
/// use mesonet::{ClosedWindow, MemoryStore, StationId};
/// use mesonet::observation::SeriesFilter;
/// use mesonet::query::observation_series;
/// let filter = SeriesFilter { name: Some("airTemperature".into()), ..SeriesFilter::default() };
/// let window = ClosedWindow::new(0, 86_400_000)?;
/// let station = StationId::new("METAR", "CYYZ");
/// assert_eq!(observation_series(&MemoryStore::default(), station, &filter, window)?, None);
/// # Ok::<(), mesonet::Error>(())
/// ```
pub fn observation_series(
    store: &dyn Reader,
    station: StationId,
    filter: &SeriesFilter,
    window: ClosedWindow,
) -> Result<Option<ObservationSeries>, StoreError> {
    let directory = store.directory()?;
    let Some(record) = directory.get(station) else { return Ok(None) };
    let matching = record.series.iter().filter(|known| filter.matches(&known.series.key));
    let matching: Vec<StationSeries> = matching.cloned().collect();
    let latest_ms = record.update_time_ms.unwrap_or(i64::MIN).min(window.end_ms());
    let mut rows = StationRows::new(station, &matching, window.start_ms(), latest_ms);
    let mut readings = Vec::new();
    let mut reporting = vec![false; matching.len()];
    loop {
        let done = rows.walk(store, READINGS_AT_ONCE, &mut |row| {
            reporting[row.series] = true;
            readings.push(SeriesReading {
                ts_ms: row.ts_ms,
                value: row.value,
                series: row.series as u32,
                quality: row.quality.quality(),
                qualifier: Qualifier::of_code(row.qualifier),
            });
        })?;
        if done {
            break;
        }
    }
    // Series without a reading are left out, and the others move up.
    let mut places = vec![0; matching.len()];
    let mut series = Vec::new();
    for (place, known) in matching.into_iter().enumerate().filter(|&(place, _)| reporting[place]) {
        places[place] = series.len() as u32;
        series.push(known);
    }
    for reading in &mut readings {
        reading.series = places[reading.series as usize];
    }
    Ok((!readings.is_empty()).then_some(ObservationSeries { station, series, readings }))
}

impl ObservationSeries {
    /// Returns the reading with the worst verdict, the first of several; `None` without readings.
    pub fn worst(&self) -> Option<&SeriesReading> {
        self.readings.iter().min_by_key(|reading| reading.quality.base)
    }

    /// Returns the series of a reading.
    pub fn series_of(&self, reading: &SeriesReading) -> &Arc<Series> {
        &self.series[reading.series as usize].series
    }
}

/// The wire shape of the interface.
mod wire {
    use std::collections::BTreeMap;

    use serde::ser::{Serialize, Serializer};

    use crate::observation::{IntervalType, Qualifier, Quality, StationId};
    use crate::query::{AnswerForm, ObservationSeries, SeriesReading};
    use crate::store::StationSeries;
    use crate::time::Iso8601;

    /// Readings of one variable at one station. Where several series match, the description is that
    /// of the first.
    #[derive(serde::Serialize)]
    #[serde(rename_all = "camelCase")]
    #[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ObservationSeries))]
    struct Answer<'a> {
        station_id: StationId,
        #[serde(flatten)]
        #[cfg_attr(feature = "openapi", schema(inline, value_type = First<'static>))]
        first: Option<First<'a>>,
        /// Unit of the values of the first series; only where units were asked for.
        #[serde(skip_serializing_if = "Option::is_none")]
        unit: Option<String>,
        /// The time zone of the local times; only where `tz` was given.
        #[serde(skip_serializing_if = "Option::is_none")]
        time_zone: Option<String>,
        /// By name of the bucket; only of series that have one.
        #[serde(skip_serializing_if = "BTreeMap::is_empty")]
        bucket_metadata: BTreeMap<&'a str, Bucket<'a>>,
        /// By time, then by series.
        // The last field, so that a writer can put the readings of a long answer in its place.
        #[cfg_attr(feature = "openapi", schema(value_type = Vec<Reading<'static>>))]
        readings: Items<'a>,
    }

    described_as!(ObservationSeries, Answer<'static>);

    /// What is said of the first series.
    #[derive(serde::Serialize)]
    #[serde(rename_all = "camelCase")]
    #[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
    struct First<'a> {
        name: &'a str,
        pretty_name: &'a str,
        reported_unit: &'a str,
        interval_type: IntervalType,
        interval_minutes: i32,
        first_appearance: Iso8601,
    }

    #[derive(serde::Serialize)]
    #[serde(rename_all = "camelCase")]
    #[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
    struct Bucket<'a> {
        pretty_name: &'a str,
    }

    struct Items<'a>(&'a ObservationSeries);

    #[derive(serde::Serialize)]
    #[serde(rename_all = "camelCase")]
    #[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = SeriesReading))]
    struct Reading<'a> {
        timestamp: Iso8601,
        /// The local time with its offset from UTC; only where `tz` was given.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(format = DateTime))]
        local_timestamp: Option<String>,
        value: f64,
        quality: Quality,
        #[serde(skip_serializing_if = "Option::is_none")]
        qualifier: Option<Qualifier>,
        /// Unit of the value; only where units were asked for.
        #[serde(skip_serializing_if = "Option::is_none")]
        unit: Option<String>,
        calculated: bool,
        #[serde(skip_serializing_if = "str::is_empty")]
        #[cfg_attr(feature = "openapi", schema(required = false))]
        group_bucket_name: &'a str,
        /// The report that the reading came in, if it has a text; only with `reportText=true`.
        // The writer of an answer adds it.
        #[serde(skip_serializing_if = "Option::is_none")]
        report_text: Option<&'a str>,
    }

    impl<'a> First<'a> {
        fn new(first: &'a StationSeries) -> Self {
            let key = &first.series.key;
            Self {
                name: key.variable.name(),
                pretty_name: key.variable.pretty_name(),
                reported_unit: &key.reported_unit,
                interval_type: key.interval_type,
                interval_minutes: key.interval_minutes,
                first_appearance: Iso8601(first.first_appearance_ms),
            }
        }
    }

    impl<'a> Reading<'a> {
        fn new(answer: &'a ObservationSeries, reading: &SeriesReading) -> Self {
            let key = &answer.series_of(reading).key;
            Self {
                timestamp: Iso8601(reading.ts_ms),
                local_timestamp: None,
                value: reading.value,
                quality: reading.quality,
                qualifier: reading.qualifier,
                unit: None,
                calculated: key.calculated,
                group_bucket_name: &key.bucket,
                report_text: None,
            }
        }
    }

    impl ObservationSeries {
        /// The answer with what a form adds before the readings.
        pub(crate) fn formed(&self, form: &AnswerForm) -> impl Serialize {
            let buckets = self.series.iter().map(|known| &*known.series.key.bucket);
            let named = buckets.filter(|bucket| !bucket.is_empty());
            Answer {
                station_id: self.station,
                first: self.series.first().map(First::new),
                unit: self.series.first().and_then(|first| form.symbol(&first.series.key)),
                time_zone: form.clock_of(self.station).map(|clock| clock.name().to_owned()),
                bucket_metadata: named.map(|name| (name, Bucket { pretty_name: name })).collect(),
                readings: Items(self),
            }
        }
    }

    impl Serialize for ObservationSeries {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            self.formed(&AnswerForm::default()).serialize(serializer)
        }
    }

    impl Serialize for Items<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer
                .collect_seq(self.0.readings.iter().map(|reading| Reading::new(self.0, reading)))
        }
    }
}

#[cfg(test)]
#[path = "series_tests.rs"]
mod tests;
