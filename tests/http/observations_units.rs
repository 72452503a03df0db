//! `GET /observations/units`

use axum::http::header;
use mesonet::MemoryStore;

use crate::support::Api;

const UNITS: &str = concat!(
    r#"{"airTemperature":"°C","altimeterSetting":"hPa","avgGlobalSolarRadiation":"W/m²","barometricPressure":"hPa","#,
    r#""ceilingHeight":"m","cloudBaseHeight":"m","cloudCover":"okta","cumulativeGlobalSolarRadiation":"kJ/m²","dewPointTemperature":"°C","#,
    r#""fireWeatherIndex":"","heatIndex":"°C","iceAccretion":"mm","mslp":"hPa","#,
    r#""peakWindDirection":"°","peakWindSpeed":"km/h","precipitation":"mm","#,
    r#""precipitationRate":"mm/h","pressureTendency":"hPa","pressureTendencyCharacter":"","#,
    r#""rainfall":"mm","reflectedShortwaveRadiation":"W/m²","#,
    r#""relativeHumidity":"%","seaSurfaceTemperature":"°C","seaSurfaceTemperature1m":"°C","#,
    r#""snowDepth":"cm","snowfall":"mm","solarRadiation":"W/m²","stationHeight":"m","#,
    r#""subsurfaceTemperature":"°C","uvIndex":"","visibility":"km","waveDirection":"°","#,
    r#""waveHeight":"m","waveHeightMax":"m","wetBulbTemperature":"°C","windChill":"°C","#,
    r#""windDirection":"°","windGust":"km/h","windGust10m":"km/h","windSpeed":"km/h","#,
    r#""windSpeed10m":"km/h"}"#
);

#[test]
fn every_variable_has_its_canonical_unit() {
    Api::new(MemoryStore::default()).get("/observations/units").is(UNITS);
}

#[test]
fn the_units_may_be_kept_for_an_hour_and_asked_for_again_by_etag() {
    let api = Api::new(MemoryStore::default());
    let full = api.get("/observations/units");
    assert_eq!(full.header(header::CACHE_CONTROL), Some("public, max-age=3600"));
    let etag = full.header(header::ETAG).unwrap();
    let again = api.get_with("/observations/units", &[(header::IF_NONE_MATCH, etag)]);
    again.is_empty(304);
    assert_eq!(again.header(header::ETAG), Some(etag));
    assert_eq!(again.header(header::CACHE_CONTROL), Some("public, max-age=3600"));
}
