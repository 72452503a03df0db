//! Observations of stations from api.weather.gov: GeoJSON with linked-data units.

use std::io::BufRead;

use serde_json::{Map, Value};

use super::pressure::{Pressure, pressure_of};
use crate::derived::station_pressure_hpa;
use crate::feed::collect::{Measurement, ReadingCollector};
use crate::feed::item::{FeedReport, FeedStation, FileContext, is_location_indicator};
use crate::feed::metar::metar_item::MetarItem;
use crate::feed::metar::series::metar_report;
use crate::feed::metar::{Metar, SkyCover, Weather};
use crate::feed::plausible;
use crate::feed::sign::holds;
use crate::feed::summary::{FeedError, RefusalReason, Summary, Tally, excerpt};
use crate::feed::text::features::read_features;
use crate::geo::LonLat;
use crate::observation::IntervalType::{Average, Cumulative, Instantaneous, Max, Min, Unknown};
use crate::observation::{
    BaseQuality, Canonical, IdScheme, IntervalType, MADIS, Quality, Reading, Report, ReportText,
    SeriesKey, StationType, Variable,
};
use crate::unit::Vocabulary;

/// Network that stations of api.weather.gov belong to.
pub const NWS_NETWORK: &str = "NWS";

/// Maximum size of one observation, and of anything else in the document; a real
/// observation has 4 KB.
const MAX_FEATURE_BYTES: usize = 256 * 1024;
/// Height of the wind sensor above ground at an aerodrome (FMH-1, chapter 5).
const AERODROME_SENSOR_HEIGHT_M: f64 = 10.0;

/// Reads the observations of a `FeatureCollection`, or a single `Feature`, and visits each.
///
/// One observation is in memory at a time. The native id is the end of the `station` address; the
/// geometry is the place and `elevation` the altitude of the ground. Units are WMO's
/// (`wmoUnit:km_h-1`, in older documents `unit:`) and are converted if they are certain.
///
/// | Element | Series |
/// | --- | --- |
/// | `temperature`, `dewpoint` | airTemperature, dewPointTemperature Instantaneous |
/// | `windSpeed`, `windDirection` | windSpeed, windDirection Average 2 |
/// | `windGust` | windGust Max 10 |
/// | `barometricPressure` | altimeterSetting Instantaneous, calculated barometricPressure |
/// | `seaLevelPressure` | mslp Instantaneous |
/// | `visibility`, `relativeHumidity` | visibility, relativeHumidity Instantaneous |
/// | `heatIndex`, `windChill` | heatIndex, windChill Instantaneous |
/// | `maxTemperatureLast24Hours`, `minTemperatureLast24Hours` | airTemperature Max, Min 1440 |
/// | `precipitationLastHour`, `…Last3Hours`, `…Last6Hours` | precipitation Cumulative 60, 180, 360 |
/// | `cloudLayers` | cloudCover, cloudBaseHeight Instantaneous of each layer |
/// | `presentWeather` | present weather |
///
/// Intervals are those of METAR, for stations whose id is a location indicator (four letters). The
/// wind of other stations (fire weather, roads, volunteers) is averaged in ways that the interface
/// does not give: the interval is Unknown, of 0 minutes. The wind sensor of an aerodrome is assumed
/// to be at 10 m in the open, as in METAR; that of other stations is unknown.
///
/// Where an element leaves a choice:
/// - Humidity, heat index and wind chill come from the network, so they are reported values.
/// - A calm has the direction 0; a direction of 0 with a speed is left out.
/// - In a METAR (`rawMessage`) `precipitationLastHour` counts from the last hourly report. That is
///   an hour only at minute 45 to 59 or 0; at other minutes it is left out and counted.
/// - `null` is no value. A value that is not a number is counted by its element.
/// - `barometricPressure` is the altimeter setting in each of the eight real documents in which
///   altimeter setting and station pressure can be told apart: 1010.20 hPa at 91 m beside `A2983`
///   (1010.16 hPa; the pressure there was 999 hPa), 1011.18 hPa at 250 m. It is stored as altimeter
///   setting, and station pressure is calculated from it, as from a METAR. A value that only fits
///   the pressure at the height of the station is stored as station pressure. If both fit and the
///   station is not an aerodrome, the value is left out and counted with the station.
/// - From `rawMessage` only the qualifiers are read: a trace, `10SM` or more, less than `M1/4SM`.
///   `textDescription` and `icon` are not read.
///
/// The flags of `qualityControl` become verdicts by [`MADIS`](crate::observation::MADIS). Z, C and
/// unknown flags give no verdict.
///
/// # Errors
/// If the source fails; if the text is not JSON, or an observation has more than 256 KiB: the start
/// of the next could then not be found; if the document holds no features. An observation without a
/// station or a time is counted and listed in the summary, with its byte offset.
///
/// ```
/// use mesonet::{BaseQuality, feed::read_nws_observations};
/// let document = r#"{"type": "FeatureCollection", "features": [{
///     "type": "Feature",
///     "geometry": {"type": "Point", "coordinates": [-73.8, 42.75]},
///     "properties": {
///         "station": "https://api.weather.gov/stations/KALB",
///         "timestamp": "2026-07-15T19:50:00+00:00",
///         "windSpeed": {"unitCode": "wmoUnit:km_h-1", "value": 22.212, "qualityControl": "V"}
///     }
/// }]}"#;
/// let summary = read_nws_observations(document.as_bytes(), |item| {
///     assert_eq!(item.station.native_id, "KALB");
///     let wind = &item.report.readings[0];
///     assert_eq!((wind.value, wind.series.interval_minutes), (22.212, 2));
///     assert_eq!(wind.quality.base, BaseQuality::Good);
/// })?;
/// assert_eq!(summary.read, 1);
/// # Ok::<(), mesonet::feed::FeedError>(())
/// ```
pub fn read_nws_observations(
    input: impl BufRead,
    visit: impl FnMut(FeedReport),
) -> Result<Summary, FeedError> {
    read_features(input, MAX_FEATURE_BYTES, report, visit)
}

/// The elements that are read, with their series as aerodromes measure them.
const ELEMENTS: [(&str, Variable, IntervalType, i32); 16] = [
    ("temperature", Variable::AirTemperature, Instantaneous, 0),
    ("dewpoint", Variable::DewPointTemperature, Instantaneous, 0),
    (WIND_SPEED, Variable::WindSpeed, Average, 2),
    ("windDirection", Variable::WindDirection, Average, 2),
    ("windGust", Variable::WindGust, Max, 10),
    (PRESSURE, Variable::BarometricPressure, Instantaneous, 0),
    ("seaLevelPressure", Variable::Mslp, Instantaneous, 0),
    ("visibility", Variable::Visibility, Instantaneous, 0),
    ("relativeHumidity", Variable::RelativeHumidity, Instantaneous, 0),
    ("heatIndex", Variable::HeatIndex, Instantaneous, 0),
    ("windChill", Variable::WindChill, Instantaneous, 0),
    ("maxTemperatureLast24Hours", Variable::AirTemperature, Max, 1440),
    ("minTemperatureLast24Hours", Variable::AirTemperature, Min, 1440),
    (LAST_HOUR, Variable::Precipitation, Cumulative, 60),
    ("precipitationLast3Hours", Variable::Precipitation, Cumulative, 180),
    ("precipitationLast6Hours", Variable::Precipitation, Cumulative, 360),
];
const PRESSURE: &str = "barometricPressure";
const WIND_SPEED: &str = "windSpeed";
const LAST_HOUR: &str = "precipitationLastHour";

fn report(
    feature: &Map<String, Value>,
    summary: &mut Summary,
) -> Result<FeedReport, RefusalReason> {
    let properties = feature.get("properties").and_then(Value::as_object);
    let properties = properties.ok_or(RefusalReason::Without { what: "properties" })?;
    let text =
        |name: &str| properties.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let id = text("station").and_then(|address| address.rsplit('/').next());
    let id = id.or(text("stationId")).filter(|id| !id.is_empty());
    let id = id.ok_or(RefusalReason::Without { what: "station" })?;
    if id.len() > MAX_ID_BYTES {
        return Err(RefusalReason::Field { what: "valid station id", got: excerpt(id) });
    }
    let time = text("timestamp").ok_or(RefusalReason::Without { what: "timestamp" })?;
    let ts_ms = plausible::observed(&excerpt(time))?;
    let is_aerodrome = is_location_indicator(id);

    let mut station = FeedStation::new(NWS_NETWORK, id);
    station.name = text("stationName").map(excerpt);
    station.place = place(feature);
    station.altitude_m = properties.get("elevation").and_then(altitude_m);
    if is_aerodrome {
        station.identifiers.add(IdScheme::Icao, id);
        station.sensor_height_m = Some(AERODROME_SENSOR_HEIGHT_M);
        station.station_type = Some(StationType::OpenCountry);
    }

    let minute = ts_ms.div_euclid(60_000).rem_euclid(60);
    let is_within_hour = text("rawMessage").is_some() && !matches!(minute, 0 | 45..=59);
    let is_calm = properties.get(WIND_SPEED).and_then(number) == Some(0.0);
    let mut readings = ReadingCollector::new(Vocabulary::Wmo, &mut summary.kept_as_reported);
    let mut station_hpa = None;
    for (name, mut variable, of, minutes) in ELEMENTS {
        let Some(element) = properties.get(name) else { continue };
        let value = match element.get("value") {
            None | Some(Value::Null) => continue,
            Some(_) => number(element),
        };
        let unit = element.get("unitCode").and_then(Value::as_str).unwrap_or("");
        let Some(value) = value.filter(|_| unit.len() <= MAX_UNIT_CODE_BYTES) else {
            summary.unread_values.add(name);
            continue;
        };
        if name == LAST_HOUR && is_within_hour {
            summary.without_variable.add("precipitationLastHour since the last hourly report");
            continue;
        }
        if variable == Variable::WindDirection && value == 0.0 && !is_calm {
            continue;
        }
        if name == PRESSURE {
            let canonical = Canonical::of(variable, unit, Some(Vocabulary::Wmo));
            let hpa = Some(canonical.apply(value)).filter(|_| canonical.is_converted());
            match hpa.map(|hpa| (hpa, pressure_of(hpa, station.altitude_m, is_aerodrome))) {
                Some((altimeter_hpa, Pressure::AltimeterSetting)) => {
                    variable = Variable::AltimeterSetting;
                    let altitude_m = station.altitude_m;
                    let at_station = |m| station_pressure_hpa(altimeter_hpa, m);
                    station_hpa = altitude_m.and_then(at_station).zip(Some(quality(element)));
                }
                Some((_, Pressure::InDoubt)) => {
                    summary.without_variable.add(&format!("{PRESSURE} in doubt, {id}"));
                    continue;
                }
                Some((_, Pressure::Station)) | None => {}
            }
        }
        let is_wind =
            matches!(variable, Variable::WindSpeed | Variable::WindDirection | Variable::WindGust);
        let (of, minutes) = if is_wind && !is_aerodrome { (Unknown, 0) } else { (of, minutes) };
        readings.push(Measurement::new(variable, of, minutes, unit), value, quality(element));
    }
    if let Some(layers) = properties.get("cloudLayers").and_then(Value::as_array) {
        cloud_layers(layers, &mut readings, &mut summary.unread_values);
    }
    let mut readings = readings.into_readings();
    readings.extend(station_hpa.map(|(value, quality)| Reading {
        quality,
        ..Reading::unchecked(
            SeriesKey::new(Variable::BarometricPressure, Instantaneous, 0).calculated(),
            value,
        )
    }));
    let raw = text("rawMessage").and_then(|raw| Some((raw, metar_readings(raw, id, ts_ms)?)));
    if let Some((_, of_metar)) = &raw {
        qualify(&mut readings, of_metar);
    }
    let report = Report {
        station: station.id(),
        ts_ms,
        revision: 0,
        present_weather: properties.get("presentWeather").and_then(present_weather),
        text: raw.and_then(|(raw, _)| ReportText::new(raw, None)),
        readings,
    };
    Ok(FeedReport::new(station, report))
}

/// The readings of the METAR from which the observation was made; `None` if it cannot be read.
fn metar_readings(raw_text: &str, id: &str, ts_ms: i64) -> Option<Vec<Reading>> {
    let metar = Metar::parse(raw_text).ok()?;
    let (place, altitude_m, kind) = (None, None, metar.kind);
    let item =
        MetarItem { native_id: id, ts_ms, raw_text, header: None, place, altitude_m, kind, metar };
    Some(metar_report(&item).readings)
}

/// Gives values the qualifiers from their METAR. The two round values differently.
fn qualify(readings: &mut [Reading], of_metar: &[Reading]) {
    for reading in readings {
        let said = of_metar.iter().find(|said| said.series == reading.series);
        let is_same = |said: &&Reading| (said.value - reading.value).abs() <= said.value * 0.01;
        reading.qualifier = said.filter(is_same).and_then(|said| said.qualifier);
    }
}

/// Cover and base of each layer of cloud. The base with a clear sky is the reach of the instrument;
/// the base with a hidden sky is the vertical visibility.
fn cloud_layers(layers: &[Value], readings: &mut ReadingCollector<'_>, unread: &mut Tally) {
    for (index, layer) in layers.iter().enumerate() {
        let amount = layer.get("amount").and_then(Value::as_str).unwrap_or("");
        let cover = SkyCover::read(amount.as_bytes());
        let oktas = cover.and_then(SkyCover::oktas);
        if let Some((of, oktas)) =
            Measurement::layer(Variable::CloudCover, "okta", index).zip(oktas)
        {
            readings.push(of, f64::from(oktas), Quality::UNCHECKED);
        }
        let base = layer.get("base");
        let unit = base.and_then(|base| base.get("unitCode")?.as_str()).unwrap_or("");
        let is_base = oktas != Some(0) && cover != Some(SkyCover::Obscured);
        if base
            .and_then(|base| base.get("value"))
            .is_some_and(|base| !base.is_null() && !base.is_number())
        {
            unread.add("cloudLayers");
        }
        let value = base.and_then(number).filter(|_| is_base && unit.len() <= MAX_UNIT_CODE_BYTES);
        if let Some((of, value)) =
            Measurement::layer(Variable::CloudBaseHeight, unit, index).zip(value)
        {
            readings.push(of, value, Quality::UNCHECKED);
        }
    }
}

/// Longest id of a station; real ids have up to 10 characters.
const MAX_ID_BYTES: usize = 64;
/// Longest unit that is looked up and, if it is not certain, kept.
const MAX_UNIT_CODE_BYTES: usize = 64;

fn number(element: &Value) -> Option<f64> {
    element.get("value")?.as_f64()
}

fn quality(element: &Value) -> Quality {
    let flag = element.get("qualityControl").and_then(Value::as_str).unwrap_or("");
    let mut letters = flag.strip_prefix("qc:").unwrap_or(flag).chars();
    let quality = match (letters.next(), letters.next()) {
        (Some(letter), None) => MADIS.quality(letter),
        _ => Quality::UNCHECKED,
    };
    if quality.base == BaseQuality::Unknown { Quality::UNCHECKED } else { quality }
}

fn place(feature: &Map<String, Value>) -> Option<LonLat> {
    let coordinates = feature.get("geometry")?.get("coordinates")?;
    plausible::place(coordinates.get(0)?.as_f64()?, coordinates.get(1)?.as_f64()?)
}

fn altitude_m(elevation: &Value) -> Option<f64> {
    let unit = elevation.get("unitCode")?.as_str()?;
    let metres = Canonical::of(Variable::StationHeight, unit, Some(Vocabulary::Wmo));
    number(elevation).filter(|_| metres.is_converted()).map(|value| metres.apply(value))
}

/// Present weather in English; `None` if the observation does not say.
fn present_weather(list: &Value) -> Option<Vec<String>> {
    const MOST: usize = 16;
    let phenomena = list.as_array()?.iter().take(MOST);
    Some(phenomena.filter_map(phenomenon).collect())
}

/// A phenomenon: from its METAR group, or else in the words of the interface.
fn phenomenon(of: &Value) -> Option<String> {
    let text = |name: &str| of.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let group = text("rawString").and_then(|group| Weather::read(group.as_bytes()));
    if let Some(weather) = group {
        return (!weather.recent).then(|| weather.to_string());
    }
    let words = [text("intensity"), text("modifier"), text("weather")];
    let vicinity = of.get("inVicinity").and_then(Value::as_bool) == Some(true);
    let words = words.into_iter().flatten().chain(vicinity.then_some("in the vicinity"));
    let words = excerpt(&words.collect::<Vec<_>>().join(" ").replace('_', " "));
    let mut letters = words.chars();
    let first = letters.next()?.to_ascii_uppercase();
    Some(std::iter::once(first).chain(letters).collect())
}

/// Whether a file looks like one of this kind.
pub(in crate::feed) fn is_sign(_name: &str, start: &[u8]) -> bool {
    start.trim_ascii_start().starts_with(b"{")
        && holds(start, "api.weather.gov/stations/")
        && holds(start, "/observations")
}

/// Reads a file of this kind.
pub(in crate::feed) fn read(
    input: &mut dyn BufRead,
    _file: &FileContext<'_>,
    visit: &mut dyn FnMut(FeedReport),
) -> Result<Summary, FeedError> {
    read_nws_observations(input, visit)
}

#[cfg(test)]
#[path = "observation_tests.rs"]
mod tests;
