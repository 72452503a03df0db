use serde_json::json;

use super::*;
use crate::geo::LonLat;
use crate::observation::{BaseQuality, Variable};

fn read_one(properties: &Value) -> (Vec<FeedReport>, Summary) {
    let feature = json!({
        "type": "Feature",
        "geometry": {"type": "Point", "coordinates": [-110.28, 54.41, "high"]},
        "properties": properties,
    });
    let mut all = Vec::new();
    let summary = read_geomet_swob(feature.to_string().as_bytes(), |item| all.push(item)).unwrap();
    (all, summary)
}

#[test]
fn properties_are_elements_with_their_units_and_verdicts() {
    let (all, summary) = read_one(&json!({
        "id": "2026-09-10-1500-CYOD-MAN-CCB-swob.xml",
        "dataset": "partners-x", "data_pvdr-value": "NAV CANADA", "data_pvdr-uom": "unitless",
        "date_tm-value": "2026-09-10T15:00:00.000Z", "msc_id-value": "3081680",
        "icao_stn_id-value": "CYOD", "cor-value": "orig",
        "air_temp": 14.2, "air_temp-uom": "°C", "air_temp-qa": -10,
        "air_temp-data_flag-value": 4, "air_temp-data_flag-uom": "code",
        "rel_hum": "MSNG", "rel_hum-uom": "%", "mslp": null, "vis": "far", "vis-uom": "km",
        "batry_volt": 12.6, "batry_volt-uom": "V",
        "_is-minutely_obs-value": false, "-code-type": "report_type",
    }));
    let FeedReport { station, report, .. } = &all[0];
    assert_eq!((&*station.network, station.altitude_m), ("NAV CANADA", None));
    assert_eq!(station.place.map(LonLat::lat), Some(54.41));
    assert_eq!(report.revision, 2);
    assert_eq!(report.readings.len(), 1);
    let air = &report.readings[0];
    assert_eq!((air.series.variable, air.value), (Variable::AirTemperature, 14.2));
    assert_eq!((&*air.series.reported_unit, air.quality.base), ("°C", BaseQuality::Suppressed));
    assert_eq!(summary.unread_values.iter().collect::<Vec<_>>(), [("vis", 1)]);
    assert_eq!(summary.without_variable.iter().collect::<Vec<_>>(), [("batry_volt", 1)]);
}

#[test]
fn an_item_without_an_id_or_a_time_is_refused() {
    let reason = |properties: Value| {
        let (all, summary) = read_one(&properties);
        assert_eq!((all.len(), summary.refused), (0, 1));
        summary.refusals[0].reason.to_string()
    };
    let time = "2026-09-10T15:00:00.000Z";
    assert_eq!(reason(json!({"dataset": "msc-x", "date_tm-value": time})), "no msc_id");
    assert_eq!(reason(json!({"msc_id-value": "1", "date_tm-value": time})), "no data_pvdr");
    assert_eq!(reason(json!({"dataset": "msc-x", "msc_id-value": "1"})), "no date_tm");
}

#[test]
fn an_item_that_is_too_large_is_refused() {
    let mut properties = json!({"dataset": "msc-x", "msc_id-value": "1"});
    for i in 0..5_000 {
        properties[format!("e{i}")] = json!(i);
    }
    let (all, summary) = read_one(&properties);
    assert_eq!((all.len(), summary.refused), (0, 1));
    assert!(summary.refusals[0].reason.to_string().contains("4096 elements"));
}

#[test]
fn a_response_is_told_by_its_start() {
    let empty = r#"{"type":"FeatureCollection","features":[],"links":[{"href":
        "https://api.weather.gc.ca/collections/swob-realtime/items?f=json"}]}"#;
    assert!(is_sign("", empty.as_bytes()));
    assert!(is_sign("", br#" {"features":[{"id":"2026-09-10-1500-CYOD-MAN-swob.xml","#));
    assert!(!is_sign("", br#"{"type":"FeatureCollection","features":[]}"#));
    assert!(!is_sign("", b"2026-09-10-1500-CYOD-MAN-swob.xml\""));
}
