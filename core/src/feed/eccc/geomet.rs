//! Canada's surface observations from MSC GeoMet, GeoJSON.

use std::io::BufRead;

use serde_json::Value;

use super::point_observation::PointObservation;
use super::swob;
use crate::feed::item::{FeedReport, FileContext};
use crate::feed::sign::holds;
use crate::feed::summary::{FeedError, RefusalReason, Summary};
use crate::feed::text::features::{Feature, read_features};

/// Maximum size of one observation, and of anything else in the document; a real observation has 12
/// KB.
const MAX_FEATURE_BYTES: usize = 256 * 1024;

/// Reads the items of MSC GeoMet's collection `swob-realtime` (api.weather.gc.ca) and visits each.
///
/// GeoMet makes each feature from one SWOB-ML document, so it is read by the rules of
/// [`read_swob`](crate::feed::read_swob), and the stations are the same: a document that comes both
/// ways is one report. The notation differs:
///
/// | Property | SWOB-ML |
/// | --- | --- |
/// | `air_temp`, `air_temp-uom`, `air_temp-qa` | an element, its unit and its `qa_summary` |
/// | `stn_nam-value`, `msc_id-value`, `date_tm-value` | identification elements |
/// | the third coordinate | `stn_elev` |
/// | `null` | `MSNG` |
/// | `id`, the name of the document | its corrections (`…-CCA-swob.xml`) |
/// | `dataset`, with `-` for `/` | the data set; for the Service's own documents without `data_pvdr` |
///
/// An element that a document has twice appears once here, with the last value. A response is a
/// page of `limit` items; its links are not followed.
///
/// # Errors
/// If the source fails; if the text is not JSON, or an observation has more than 256 KiB; if the
/// document holds no features. An observation without a provider, an id or a time is counted and
/// listed in the summary.
///
/// ```
/// use mesonet::{Variable, feed::read_geomet_swob};
/// let document = r#"{"type": "FeatureCollection", "features": [{
///     "id": "2026-09-10-1500-CYOD-MAN-swob.xml",
///     "type": "Feature",
///     "geometry": {"type": "Point", "coordinates": [-110.28, 54.41, 541]},
///     "properties": {
///         "id": "2026-09-10-1500-CYOD-MAN-swob.xml",
///         "dataset": "msc-observation-atmospheric-surface_weather-winide_fm12-1.0-xml",
///         "date_tm-value": "2026-09-10T15:00:00.000Z",
///         "msc_id-value": "3081680",
///         "air_temp": 14.2, "air_temp-uom": "°C", "air_temp-qa": 100
///     }
/// }]}"#;
/// let summary = read_geomet_swob(document.as_bytes(), |item| {
///     assert_eq!((&*item.station.network, &*item.station.native_id), ("MSC", "3081680"));
///     assert_eq!(item.station.altitude_m, Some(541.0));
///     let air = &item.report.readings[0];
///     assert_eq!((air.series.variable, air.value), (Variable::AirTemperature, 14.2));
/// })?;
/// assert_eq!(summary.read, 1);
/// # Ok::<(), mesonet::feed::FeedError>(())
/// ```
pub fn read_geomet_swob(
    input: impl BufRead,
    visit: impl FnMut(FeedReport),
) -> Result<Summary, FeedError> {
    read_features(input, MAX_FEATURE_BYTES, report, visit)
}

fn report(feature: &Feature, summary: &mut Summary) -> Result<FeedReport, RefusalReason> {
    let properties = feature.get("properties").and_then(Value::as_object);
    let properties = properties.ok_or(RefusalReason::Without { what: "properties" })?;
    let text = |name: &str| properties.get(name).and_then(Value::as_str).unwrap_or("");
    let mut observation = PointObservation::of_dataset(text("dataset"));
    let coordinates = feature.get("geometry").and_then(|geometry| geometry.get("coordinates"));
    for (at, (name, unit)) in [("long", "°"), ("lat", "°"), ("stn_elev", "m")].iter().enumerate()
    {
        let number = coordinates.and_then(|all| all.get(at)).and_then(Value::as_f64);
        if let Some(number) = number {
            observation.identify(name, unit, &number.to_string());
        }
    }
    for (name, value) in properties {
        if DESCRIPTIONS.contains(&name.as_str()) || is_attribute(name) {
            continue;
        }
        let value = match value {
            Value::Null => "",
            Value::String(text) => text,
            other => &other.to_string(),
        };
        let unit = text(&format!("{name}-uom"));
        if let Some(name) = name.strip_suffix("-value") {
            observation.identify(name, unit, value);
        } else {
            let flag = properties.get(&format!("{name}-qa")).and_then(Value::as_i64);
            let qa_summary = flag.map_or(String::new(), |flag| flag.to_string());
            observation.measure(name, unit, value, &qa_summary);
        }
    }
    let mut item = swob::report(&observation.whole()?, summary)?;
    item.correct(swob::revision_of_name(text("id")));
    Ok(item)
}

/// Properties that are neither an element nor an identification.
pub(super) const DESCRIPTIONS: [&str; 5] =
    ["dataset", "id", "obs_date_tm", "processed_date_tm", "url"];

/// Whether a property describes another one.
fn is_attribute(name: &str) -> bool {
    let ends = ["-uom", "-qa", "-code-src", "-code-type"];
    ends.iter().any(|end| name.ends_with(end)) || name.contains("-data_flag-")
}

/// Whether a file looks like one of this kind.
pub(in crate::feed) fn is_sign(_name: &str, start: &[u8]) -> bool {
    let signs = ["-swob.xml\"", "\"date_tm-value\"", "collections/swob-realtime"];
    start.trim_ascii_start().starts_with(b"{") && signs.iter().any(|sign| holds(start, sign))
}

/// Reads a file of this kind.
pub(in crate::feed) fn read(
    input: &mut dyn BufRead,
    _file: &FileContext<'_>,
    visit: &mut dyn FnMut(FeedReport),
) -> Result<Summary, FeedError> {
    read_geomet_swob(input, visit)
}

#[cfg(test)]
#[path = "geomet_tests.rs"]
mod tests;
