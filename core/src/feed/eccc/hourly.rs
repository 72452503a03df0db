//! The provincial summaries of Environment and Climate Change Canada, schema 2.1.

use std::io::BufRead;

use super::point_observation::{Element, PointObservation, read_point_observations};
use crate::feed::collect::{Measurement, ReadingCollector};
use crate::feed::item::{FeedReport, FeedStation, FileContext};
use crate::feed::plausible;
use crate::feed::sign::holds;
use crate::feed::summary::{FeedError, RefusalReason, Summary, excerpt};
use crate::observation::IntervalType::{Cumulative, Instantaneous, Max, Min, Unknown};
use crate::observation::{IdScheme, Identifiers, Qualifier, Quality, Report, Variable};
use crate::time::{DAY_MS, HOUR_MS, parse_instant};
use crate::unit::Vocabulary;

/// Network that stations of the provincial summaries belong to.
pub const ECCC_HOURLY_NETWORK: &str = "ECCC";

/// The default namespace of the documents.
const SCHEMA: &str = "http://dms.ec.gc.ca/schema/point-observation/2.1";

/// Reads the stations of a provincial summary, this hour's or yesterday's, and visits each.
///
/// The files do not name a provider: the network is [`ECCC_HOURLY_NETWORK`] and the native id is
/// `climate_station_number`. Many of the stations also report by SWOB-ML and METAR, with more
/// digits and their own verdicts; there they are stations of other networks.
///
/// | Element, this hour | Series |
/// | --- | --- |
/// | `air_temperature`, `dew_point`, `relative_humidity` | airTemperature, dewPointTemperature, relativeHumidity Instantaneous |
/// | `mean_sea_level` (kPa), `horizontal_visibility`, `humidex` | mslp, visibility, humidex Instantaneous |
/// | `wind_speed`, `wind_gust_speed`, `wind_direction` (N, NNE, …) | windSpeed, windGust, windDirection, of Unknown interval |
/// | `present_weather` | present weather, in the words and the language of the file |
///
/// | Element, yesterday | Series |
/// | --- | --- |
/// | `air_temperature_yesterday_high`, `…_low` | airTemperature Max, Min 1440 |
/// | `total_precipitation`, `rain_amount`, `snow_amount` | precipitation, rainfall, snowfall Cumulative 1440 |
/// | `wind_gust_speed` | windGust Max 1440 |
///
/// - A report of this hour has the time of its observation, `observation_date_utc`: a late station
///   stays in the file with its last report.
/// - The wind is a mean over one, two or ten minutes, usually at 10 m. The file does not say which,
///   so neither interval nor sensor height is given.
/// - Yesterday is the last whole climate day, 06 to 06 UTC. Its report has the time of its end: the
///   last 06 UTC before `observation_date_utc`, which in this file is the time when the file was
///   made. Files are renewed at 06:30 and 08:00. A file made from 06 to before 08 UTC may still be
///   for the day before, and its reports are refused.
/// - A trace of precipitation is 0 with the qualifier Trace. North is 360; a calm has no direction.
/// - The first observation of a file, hot and cold spots, belongs to no station and is skipped.
///   Records, tendencies, cloud cover, wind chill (which has no unit there) and the direction of
///   yesterday's gust are counted as values without a variable.
/// - Today's summary (extremes since 06 UTC) is refused: its interval grows during the day.
///
/// Values are not checked: the feed gives no verdicts.
///
/// Source: ECCC, MSC Open Data, "Observations summary data in XML format by province or territory"
/// (climate day, times of the files), and the glossary of its climate data (wind).
///
/// # Errors
/// If the source fails, if the text is not well-formed XML (or deeper than 32 levels or with more
/// than 16 KiB between two tags), or if the document has another schema. A station without an id or
/// a time is counted and listed in the summary.
///
/// ```
/// use mesonet::{Variable, feed::read_eccc_hourly};
/// let document = r#"<om:ObservationCollection xmlns:om="http://www.opengis.net/om/1.0"
///     xmlns="http://dms.ec.gc.ca/schema/point-observation/2.1"><om:member><om:Observation>
///   <om:metadata><set><general>
///     <dataset name="mscobservation/atmospheric/surface_weather/wxo_dd_hour_summary-1.0-ascii/"/>
///   </general><identification-elements>
///     <element name="station_name" uom="unitless" value="Abbotsford Airport"/>
///     <element name="observation_date_utc" uom="unitless" value="2016-06-11T15:07:00.000Z"/>
///     <element name="climate_station_number" uom="unitless" value="1100031"/>
///   </identification-elements></set></om:metadata>
///   <om:result><elements>
///     <element name="mean_sea_level" uom="kPa" value="102.1"/>
///   </elements></om:result>
/// </om:Observation></om:member></om:ObservationCollection>"#;
/// let mut reports = Vec::new();
/// read_eccc_hourly(document.as_bytes(), |item| reports.push(item))?;
/// let reading = &reports[0].report.readings[0];
/// assert_eq!((reading.series.variable, reading.value), (Variable::Mslp, 1021.0));
/// # Ok::<(), mesonet::feed::FeedError>(())
/// ```
pub fn read_eccc_hourly(
    input: impl BufRead,
    mut visit: impl FnMut(FeedReport),
) -> Result<Summary, FeedError> {
    read_point_observations(input, SCHEMA, |observation, summary| {
        if observation.identification("creation_date_utc").is_some() {
            return Ok(());
        }
        let station = station(observation)?;
        let stamp = observation.required("observation_date_utc")?;
        let of = Period::of(observation.dataset())?;
        let ts_ms = match of {
            Period::Hour => plausible::observed(stamp)?,
            Period::Yesterday => plausible::observed_at(end_of_climate_day(stamp)?)?,
        };
        let mut present_weather = None;
        let mut readings = ReadingCollector::new(Vocabulary::Swob, &mut summary.kept_as_reported);
        for element in observation.elements().filter(Element::has_value) {
            if of == Period::Hour && element.name == "present_weather" {
                present_weather = Some(vec![element.value.to_owned()]);
                continue;
            }
            let Some(measured) = of.measured(&element) else {
                summary.without_variable.add(element.name);
                continue;
            };
            let is_new = !readings.so_far().iter().any(|reading| measured.is_of(&reading.series));
            match value(&element) {
                Some(value) if is_new => {
                    let qualifier = is_trace(&element).then_some(Qualifier::Trace);
                    readings.push_qualified(measured, value, Quality::UNCHECKED, qualifier);
                }
                Some(_) => summary.without_variable.add(element.name),
                None => summary.unread_values.add(element.name),
            }
        }
        let report = Report {
            station: station.id(),
            ts_ms,
            revision: 0,
            present_weather,
            text: None,
            readings: readings.into_readings(),
        };
        summary.read += 1;
        visit(FeedReport::new(station, report));
        Ok(())
    })
}

/// The summaries that are read.
#[derive(Clone, Copy, PartialEq)]
enum Period {
    Hour,
    Yesterday,
}

impl Period {
    /// The summary of a data set: each observation of the file names its data set.
    fn of(dataset: &str) -> Result<Self, RefusalReason> {
        if dataset.contains("_hour_summary") {
            Ok(Self::Hour)
        } else if dataset.contains("_yesterday_summary") {
            Ok(Self::Yesterday)
        } else {
            let what = "data set of this hour's or yesterday's summary";
            Err(RefusalReason::Field { what, got: excerpt(dataset) })
        }
    }

    /// What an element measures; `None` if the service has no variable for it.
    fn measured<'a>(self, element: &Element<'a>) -> Option<Measurement<'a>> {
        let now = |variable| Some((variable, Instantaneous, 0));
        let wind = |variable| Some((variable, Unknown, 0));
        let day = |variable, kind| Some((variable, kind, DAY_MINUTES));
        let (variable, interval_type, interval_minutes) = match self {
            Self::Hour => match element.name {
                "air_temperature" => now(Variable::AirTemperature),
                "dew_point" => now(Variable::DewPointTemperature),
                "relative_humidity" => now(Variable::RelativeHumidity),
                "mean_sea_level" => now(Variable::Mslp),
                "horizontal_visibility" => now(Variable::Visibility),
                "humidex" => now(Variable::Humidex),
                "wind_speed" => wind(Variable::WindSpeed),
                "wind_gust_speed" => wind(Variable::WindGust),
                "wind_direction" => wind(Variable::WindDirection),
                _ => None,
            },
            Self::Yesterday => match element.name {
                "air_temperature_yesterday_high" => day(Variable::AirTemperature, Max),
                "air_temperature_yesterday_low" => day(Variable::AirTemperature, Min),
                "total_precipitation" => day(Variable::Precipitation, Cumulative),
                "rain_amount" => day(Variable::Rainfall, Cumulative),
                "snow_amount" => day(Variable::Snowfall, Cumulative),
                "wind_gust_speed" => day(Variable::WindGust, Max),
                _ => None,
            },
        }?;
        let unit = if variable == Variable::WindDirection { "°" } else { element.unit };
        Some(Measurement::new(variable, interval_type, interval_minutes, unit))
    }
}

const DAY_MINUTES: i32 = 1440;

fn is_trace(element: &Element<'_>) -> bool {
    element.value.eq_ignore_ascii_case("trace")
}

/// The number of an element: a compass point is converted to degrees, a trace is 0.
fn value(element: &Element<'_>) -> Option<f64> {
    match element.name {
        "wind_direction" => compass_degrees(element.value),
        _ if is_trace(element) => Some(0.0),
        _ => element.number(),
    }
}

/// The direction of a compass point, English or French: west is W or O.
fn compass_degrees(point: &str) -> Option<f64> {
    const POINTS: [&str; 16] = [
        "NNE", "NE", "ENE", "E", "ESE", "SE", "SSE", "S", "SSW", "SW", "WSW", "W", "WNW", "NW",
        "NNW", "N",
    ];
    let english = point.replace('O', "W");
    let number = (1_u8..).zip(POINTS).find(|&(_, name)| name == english)?.0;
    Some(f64::from(number) * 22.5)
}

fn station(observation: &PointObservation) -> Result<FeedStation, RefusalReason> {
    let native_id = observation.required("climate_station_number")?;
    let number = |name| observation.identification(name).and_then(|element| element.number());
    let mut identifiers = Identifiers::default();
    for (name, scheme) in [
        ("climate_station_number", IdScheme::Climate),
        ("transport_canada_id", IdScheme::TransportCanada),
        ("wmo_station_number", IdScheme::Wmo),
    ] {
        if let Some(id) = observation.identification(name) {
            identifiers.add(scheme, id.value);
        }
    }
    Ok(FeedStation {
        name: observation.identification("station_name").map(|name| name.value.to_owned()),
        // A place that is missing or unknown is ignored; the report is valid without it.
        place: number("longitude")
            .zip(number("latitude"))
            .and_then(|(lon, lat)| plausible::place(lon, lat)),
        identifiers,
        ..FeedStation::new(ECCC_HOURLY_NETWORK, native_id)
    })
}

/// The end of the last whole climate day, 06 UTC, before a file was made.
fn end_of_climate_day(made: &str) -> Result<i64, RefusalReason> {
    let made_ms = parse_instant(made)?;
    let since_end_ms = (made_ms - 6 * HOUR_MS).rem_euclid(DAY_MS);
    if since_end_ms < 2 * HOUR_MS {
        let what = "time at which yesterday is certain: from 06 to before 08 UTC the file may be \
                    of the day before";
        return Err(RefusalReason::Field { what, got: excerpt(made) });
    }
    Ok(made_ms - since_end_ms)
}

/// Whether a file looks like one of this kind.
pub(in crate::feed) fn is_sign(_name: &str, start: &[u8]) -> bool {
    holds(start, SCHEMA)
}

/// Reads a file of this kind.
pub(in crate::feed) fn read(
    input: &mut dyn BufRead,
    _file: &FileContext<'_>,
    visit: &mut dyn FnMut(FeedReport),
) -> Result<Summary, FeedError> {
    read_eccc_hourly(input, visit)
}

#[cfg(test)]
#[path = "hourly_tests.rs"]
mod tests;
