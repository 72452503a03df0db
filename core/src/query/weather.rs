//! The query behind the weather endpoint: the present weather of each report of a station.

use serde::{Serialize, Serializer};

use crate::observation::StationId;
use crate::store::{Reader, StoreError};
use crate::time::{ClosedWindow, Iso8601};

/// The most reports of an answer: ten years of hourly reports, or eleven months of a report every
/// five minutes.
pub const MAX_WEATHER_REPORTS: usize = 100_000;

/// The present weather of the reports of one station in a window, ascending in time.
///
/// ```
/// # use mesonet::{Intake, MemoryStore, intake::FeedFile};
/// # let csv = "raw_text,station_id,observation_time,latitude,longitude\n\
/// #     CYYZ 032000Z 24012G20KT 6SM -TSRA VCFG 29/17 A2991,CYYZ,2024-08-03T20:00:00Z,43.68,-79.63\n\
/// #     CYYZ 032100Z 24012KT 15SM 29/17 A2991,CYYZ,2024-08-03T21:00:00Z,43.68,-79.63\n";
/// # let store = MemoryStore::default();
/// # Intake::default().read_file(&store, csv.as_bytes(), &FeedFile::new("metars.csv", 0))?;
/// // The store has two reports of Toronto Pearson: -TSRA VCFG at 20 UTC, nothing at 21 UTC.
/// use mesonet::query::{self, StationWeather};
/// use mesonet::{ClosedWindow, StationId};
/// let day = ClosedWindow::new(1_722_643_200_000, 1_722_729_600_000)?;
/// let weather = query::present_weather(&store, StationId::new("METAR", "CYYZ"), day)?;
/// let weather: StationWeather = weather.ok_or("it is not on record")?;
/// let words = ["Thunderstorm with light rain", "Fog in the vicinity"];
/// assert_eq!(weather.reports[0].present_weather, words);
/// assert!(weather.reports[1].present_weather.is_empty());
/// assert!(weather.is_whole);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StationWeather {
    /// The station.
    #[serde(rename = "stationId")]
    pub station: StationId,
    /// The reports that say anything about the weather.
    ///
    /// At most [`MAX_WEATHER_REPORTS`].
    pub reports: Vec<WeatherReport>,
    /// Whether these are all reports of the window.
    #[serde(skip)]
    pub is_whole: bool,
}

/// What one report says of the weather.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WeatherReport {
    /// Time of the report.
    #[serde(rename = "timestamp", serialize_with = "instant")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub ts_ms: i64,
    /// The present weather in words, one text for each group of the report; empty if the report
    /// says that there is none.
    pub present_weather: Vec<String>,
}

/// Finds the present weather of the reports of a station in a window with both ends included.
/// Returns `None` if the station is not on record.
///
/// # Errors
/// The store cannot be read.
///
/// ```
/// use mesonet::query::present_weather;
/// use mesonet::{ClosedWindow, MemoryStore, StationId};
/// let (store, day) = (MemoryStore::default(), ClosedWindow::new(0, 86_400_000)?);
/// assert_eq!(present_weather(&store, StationId::new("METAR", "CYYZ"), day)?, None);
/// # Ok::<(), mesonet::Error>(())
/// ```
pub fn present_weather(
    store: &dyn Reader,
    station: StationId,
    window: ClosedWindow,
) -> Result<Option<StationWeather>, StoreError> {
    if store.directory()?.get(station).is_none() {
        return Ok(None);
    }
    let mut found = StationWeather { station, reports: Vec::new(), is_whole: true };
    store.scan_weather(&[station], window, &mut |_, ts_ms, _, words| {
        if found.reports.len() < MAX_WEATHER_REPORTS {
            found.reports.push(WeatherReport { ts_ms, present_weather: words.to_vec() });
        } else {
            found.is_whole = false;
        }
    })?;
    Ok(Some(found))
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature is serde's")]
fn instant<S: Serializer>(ts_ms: &i64, to: S) -> Result<S::Ok, S::Error> {
    Iso8601(*ts_ms).serialize(to)
}
