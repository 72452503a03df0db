//! `GET /observations/units`

use axum::http::header;

use crate::support::{Api, TestStore};

const UNITS: &str = concat!(
    r#"{"airTemperature":"°C","altimeterSetting":"hPa","avgGlobalSolarRadiation":"W/m²","#,
    r#""barometricPressure":"hPa","ceilingHeight":"m","cloudBaseHeight":"m","#,
    r#""cloudCover":"okta","cumulativeGlobalSolarRadiation":"kJ/m²","#,
    r#""dewPointTemperature":"°C","fireWeatherIndex":"","heatIndex":"°C","humidex":"","#,
    r#""iceAccretion":"mm","maxWindDirection":"°","mslp":"hPa","peakWindDirection":"°","#,
    r#""peakWindSpeed":"km/h","photosyntheticRadiation":"µmol/(m²·s)","precipitation":"mm","#,
    r#""precipitationGaugeWeight":"kg/m²","precipitationRate":"mm/h","#,
    r#""precipitationSinceReset":"mm","pressureTendency":"hPa","#,
    r#""pressureTendencyCharacter":"","rainfall":"mm","reflectedShortwaveRadiation":"W/m²","#,
    r#""relativeHumidity":"%","seaSurfaceTemperature":"°C","seaSurfaceTemperature1m":"°C","#,
    r#""snowDepth":"cm","snowWaterEquivalent":"mm","snowfall":"mm","solarRadiation":"W/m²","#,
    r#""stationHeight":"m","subsurfaceTemperature":"°C","tide":"m","uvIndex":"","#,
    r#""visibility":"km","waveDirection":"°","waveHeight":"m","waveHeightMax":"m","#,
    r#""wavePeriodAverage":"s","wavePeriodPeak":"s","wetBulbTemperature":"°C","#,
    r#""windChill":"°C","windDirection":"°","windGust":"km/h","windGust10m":"km/h","#,
    r#""windSpeed":"km/h","windSpeed10m":"km/h"}"#
);

#[test]
fn every_variable_has_its_canonical_unit() {
    Api::new(TestStore::default()).get("/observations/units").is(UNITS);
}

#[test]
fn the_units_may_be_kept_for_an_hour_and_asked_for_again_by_etag() {
    let api = Api::new(TestStore::default());
    let full = api.get("/observations/units");
    assert_eq!(full.header(header::CACHE_CONTROL), Some("public, max-age=3600"));
    let etag = full.header(header::ETAG).unwrap();
    let again = api.get_with("/observations/units", &[(header::IF_NONE_MATCH, etag)]);
    again.is_empty(304);
    assert_eq!(again.header(header::ETAG), Some(etag));
    assert_eq!(again.header(header::CACHE_CONTROL), Some("public, max-age=3600"));
}
