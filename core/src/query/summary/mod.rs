//! The queries behind the summary endpoints.

mod wire;

use crate::observation::{StationId, Variable};
use crate::query::readings::stations_of;
use crate::query::{AnswerUnits, Scope};
use crate::store::{Reader, Selection, SeriesSlice, StationReadings, StoreError};
use crate::summary::{
    LocalDate, Period, Rules, SeriesColumns, Summarizer, Summary, SummaryError, UtcOffset,
    WIND_VARIABLES, periods,
};
use crate::time::{ClosedWindow, DAY_MS, HOUR_MS, HalfOpenWindow};

/// The variables of a summary for which none are named.
pub const DEFAULT_SUMMARY_VARIABLES: [Variable; 9] = [
    Variable::AirTemperature,
    Variable::DewPointTemperature,
    Variable::RelativeHumidity,
    Variable::Mslp,
    Variable::WindSpeed,
    Variable::WindGust,
    Variable::Precipitation,
    Variable::Snowfall,
    Variable::SnowDepth,
];

/// How much of the record is read at once.
const READ_AT_ONCE_MS: i64 = 31 * DAY_MS;

/// Readings so far outside a period may count for it.
const AROUND_MS: i64 = HOUR_MS / 2;

/// A request for summaries.
///
/// ```
/// use mesonet::query::SummaryQuery;
/// use mesonet::summary::{Period, UtcOffset};
/// let august = ("2024-08-01".parse()?, "2024-08-31".parse()?);
/// let query = SummaryQuery::of_dates(Period::Day, august.0, august.1, UtcOffset::UTC)?;
/// assert_eq!(query.windows.len(), 31);
/// # Ok::<(), mesonet::summary::SummaryError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SummaryQuery {
    /// What each summary is of.
    pub period: Period,
    /// The offset of the place's days.
    pub offset: UtcOffset,
    /// The periods, in order.
    pub windows: Vec<HalfOpenWindow>,
    /// The variables; the wind is there if one of [`WIND_VARIABLES`] is among them, and degree days
    /// if the air temperature is.
    pub variables: Vec<Variable>,
    /// The base of degree days in °C.
    pub degree_day_base_c: f64,
    /// The units of the answer; those of the record without.
    pub units: Option<AnswerUnits>,
}

impl SummaryQuery {
    /// Asks for the default variables of the periods of dates, both included.
    ///
    /// # Errors
    /// The first date is after the last one.
    pub fn of_dates(
        period: Period,
        from: LocalDate,
        to: LocalDate,
        offset: UtcOffset,
    ) -> Result<Self, SummaryError> {
        Ok(Self::new(period, offset, periods(period, from, to, offset)?.collect()))
    }

    /// Asks for the default variables of one window.
    pub fn of_window(window: HalfOpenWindow) -> Self {
        Self::new(Period::Window, UtcOffset::UTC, vec![window])
    }

    fn new(period: Period, offset: UtcOffset, windows: Vec<HalfOpenWindow>) -> Self {
        Self {
            period,
            offset,
            windows,
            variables: DEFAULT_SUMMARY_VARIABLES.to_vec(),
            degree_day_base_c: Rules::default().degree_day_base_c,
            units: None,
        }
    }

    fn rules(&self, network: &str) -> Rules {
        let degree_day_base_c = self.degree_day_base_c;
        Rules { degree_day_base_c, ..Rules::of_network(network) }
    }

    /// The variables that are read, each once.
    fn read(&self) -> Vec<Variable> {
        let mut read = self.variables.clone();
        if read.iter().any(|variable| WIND_VARIABLES.contains(variable)) {
            read.extend(WIND_VARIABLES);
        }
        read.sort_unstable();
        read.dedup();
        read
    }

    fn keep_named(&self, summary: &mut Summary) {
        summary.variables.retain(|of| self.variables.contains(&of.variable));
    }
}

/// The summaries of one station.
///
/// ```
/// # use mesonet::{Intake, MemoryStore, intake::FeedFile};
/// # let csv = "raw_text,station_id,observation_time,latitude,longitude\n\
/// #     KBUF 032354Z 24012G20KT 10SM 29/17 A2991 RMK AO2 P0001 60012 T02890172 10306 20250,KBUF,2024-08-03T23:54:00Z,42.94,-78.73\n";
/// # let store = MemoryStore::default();
/// # Intake::default().read_file(&store, csv.as_bytes(), &FeedFile::new("metars.csv", 0))?;
/// // Buffalo reported 28.9 °C at 23:54, and 30.6 °C as the maximum of the six hours until 00:00.
/// use mesonet::query::{StationSummaries, SummaryQuery, station_summaries};
/// use mesonet::summary::{Period, UtcOffset};
/// use mesonet::{StationId, Variable};
/// let date = "2024-08-03".parse()?;
/// let query = SummaryQuery::of_dates(Period::Day, date, date, UtcOffset::UTC)?;
/// let found = station_summaries(&store, StationId::new("METAR", "KBUF"), &query)?;
/// let found: StationSummaries = found.ok_or("the station is known")?;
/// let air = found.summaries[0].of(Variable::AirTemperature).ok_or("there are readings")?;
/// assert_eq!(air.max.map(|max| (max.value, max.from.interval_minutes)), Some((30.6, 360)));
/// let rain = found.summaries[0].of(Variable::Precipitation).ok_or("there are readings")?;
/// assert_eq!(rain.total.as_ref().map(|total| total.readings), Some(1), "not the hour in it");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct StationSummaries {
    /// The station.
    pub station: StationId,
    /// The request.
    pub query: SummaryQuery,
    /// A summary for each window, empty where there are no readings.
    pub summaries: Vec<Summary>,
}

/// The summaries of many stations for one period.
#[derive(Clone, Debug, PartialEq)]
pub struct AreaSummaries {
    /// The request.
    pub query: SummaryQuery,
    /// The stations with readings, in the order of their ids.
    pub stations: Vec<(StationId, Summary)>,
}

/// Summarises the readings of a station. Returns `None` for an unknown one.
///
/// # Errors
/// The store cannot be read.
pub fn station_summaries(
    store: &dyn Reader,
    station: StationId,
    query: &SummaryQuery,
) -> Result<Option<StationSummaries>, StoreError> {
    let directory = store.directory()?;
    let Some(record) = directory.get(station) else { return Ok(None) };
    let variables = query.read();
    let mut summarizer = Summarizer::new(query.rules(&record.station.network));
    let mut summaries: Vec<_> = query.windows.iter().copied().map(Summary::begin).collect();
    let leaves = leaves(query);
    let at_once_ms = store.longest_scan_ms().min(READ_AT_ONCE_MS);
    let mut rest = &leaves[..];
    let mut of_leaf = None;
    while let Some((_, first)) = rest.first() {
        let from_ms = first.start_ms();
        let fits = |(_, leaf): &&(usize, HalfOpenWindow)| leaf.end_ms() - from_ms <= at_once_ms;
        let (together, others) = rest.split_at(rest.iter().take_while(fits).count().max(1));
        rest = others;
        let to_ms = together[together.len() - 1].1.end_ms();
        let mut held = StationReadings::default();
        let selection = Selection {
            stations: &[station],
            variables: &variables,
            window: around(from_ms, to_ms)?,
        };
        store.scan(&selection, &mut |_, slices| held.add(slices))?;
        if held.is_empty() {
            continue;
        }
        for &(of, leaf) in together {
            let span_ms = leaf.start_ms() - AROUND_MS..leaf.end_ms() + AROUND_MS;
            let slices: Vec<_> = held.slices(&span_ms).collect();
            let columns = columns(&slices)?;
            if query.period == Period::Month {
                let of_day = of_leaf.get_or_insert_with(|| Summary::begin(leaf));
                summarizer.summarize(&columns, leaf, of_day);
                query.keep_named(of_day);
                summaries[of].add(of_day);
            } else {
                summarizer.summarize(&columns, leaf, &mut summaries[of]);
                query.keep_named(&mut summaries[of]);
            }
        }
    }
    Ok(Some(StationSummaries { station, query: query.clone(), summaries }))
}

/// Summarises the readings of many stations for the first of the windows, which is not a month.
/// Stations without readings are left out.
///
/// # Errors
/// The store cannot be read.
pub fn area_summaries(
    store: &dyn Reader,
    scope: &Scope,
    query: &SummaryQuery,
) -> Result<AreaSummaries, StoreError> {
    let mut found = AreaSummaries { query: query.clone(), stations: Vec::new() };
    let Some(&window) = query.windows.first() else { return Ok(found) };
    let stations = stations_of(store, scope)?;
    let directory = store.directory()?;
    let mut summarizer = Summarizer::new(Rules::default());
    let mut failed = None;
    let selection = Selection {
        stations: &stations,
        variables: &query.read(),
        window: around(window.start_ms(), window.end_ms())?,
    };
    store.scan(&selection, &mut |at, slices| {
        let network = directory.get(stations[at]).map_or("", |record| &record.station.network);
        match columns(slices) {
            Ok(columns) => {
                let mut summary = Summary::begin(window);
                summarizer.set_rules(query.rules(network));
                summarizer.summarize(&columns, window, &mut summary);
                query.keep_named(&mut summary);
                if !summary.is_empty() || summary.wind.is_some() {
                    found.stations.push((stations[at], summary));
                }
            }
            Err(error) => failed = Some(error),
        }
    })?;
    failed.map_or(Ok(found), Err)
}

/// The windows that are summarised from readings, each with the index of the period that it is of:
/// the days of months, and other periods themselves.
fn leaves(query: &SummaryQuery) -> Vec<(usize, HalfOpenWindow)> {
    let windows = query.windows.iter().copied().enumerate();
    if query.period != Period::Month {
        return windows.collect();
    }
    let days = windows.flat_map(|(of, month)| {
        let starts = (0..).map(move |day| month.start_ms() + day * DAY_MS);
        let starts = starts.take_while(move |&start_ms| start_ms < month.end_ms());
        starts.filter_map(move |start_ms| {
            HalfOpenWindow::new(start_ms, start_ms + DAY_MS).ok().map(|day| (of, day))
        })
    });
    days.collect()
}

fn around(from_ms: i64, to_ms: i64) -> Result<ClosedWindow, StoreError> {
    let window =
        ClosedWindow::new(from_ms.saturating_sub(AROUND_MS), to_ms.saturating_add(AROUND_MS));
    window.map_err(|error| StoreError::Columns(error.to_string()))
}

fn columns<'a>(slices: &[SeriesSlice<'a>]) -> Result<Vec<SeriesColumns<'a>>, StoreError> {
    let of_slice = |slice: &SeriesSlice<'a>| {
        let SeriesSlice { series, ts_ms, value, quality, qualifier, .. } = *slice;
        SeriesColumns::new(series, ts_ms, value, quality, qualifier)
    };
    let columns = slices.iter().map(of_slice).collect::<Result<_, _>>();
    columns.map_err(|error| StoreError::Columns(error.to_string()))
}

#[cfg(all(test, feature = "feed", feature = "checks"))]
#[path = "summary_tests.rs"]
mod tests;
