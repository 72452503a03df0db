//! The qualifiers of numbers in reports, in every answer with readings.

use mesonet::access::Plan;
use mesonet::intake::FeedFile;
use mesonet::{Intake, StationId, Variable};
use mesonet_server::Config;
use serde_json::Value;

use crate::support::{Api, NOW_MS, TestStore, instant};

/// A quarter of a mile or less and a trace of rain at 10:54, and ten miles or more an hour later.
const METARS: &str = "raw_text,station_id,observation_time,latitude,longitude,elevation_m\n\
    KBUF 031054Z 21004KT M1/4SM -RA FG VV002 22/22 A2983 RMK AO2 P0000,\
    KBUF,2024-08-03T10:54:00Z,42.94,-78.73,218\n\
    KBUF 031154Z 21004KT 10SM CLR 23/20 A2983 RMK AO2,\
    KBUF,2024-08-03T11:54:00Z,42.94,-78.73,218\n";
const WINDOW: &str = "start=2024-08-03T10:00:00Z&end=2024-08-03T12:00:00Z";

fn buffalo() -> StationId {
    StationId::new("METAR", "KBUF")
}

fn api() -> Api {
    let store = TestStore::default();
    let file = FeedFile::new("metars.csv", NOW_MS);
    Intake::default().read_file(&store, METARS.as_bytes(), &file).unwrap();
    Api::with(Config { assume_plan: Plan::Commercial, ..Config::default() }, store)
}

/// Value and qualifier of each reading.
fn values_and_qualifiers(readings: &Value) -> Vec<(f64, Option<&str>)> {
    let readings = readings.as_array().unwrap().iter();
    readings.map(|one| (one["value"].as_f64().unwrap(), one["qualifier"].as_str())).collect()
}

#[test]
fn a_series_has_the_qualifier_of_each_reading_that_has_one() {
    let series = |name: &str| -> Value {
        let body = format!(r#"{{"stationId":"{}","name":"{name}"}}"#, buffalo());
        let answer = api().post(&format!("/observations/series?{WINDOW}"), body);
        serde_json::from_str(&answer.text()).unwrap()
    };
    let seen = series("visibility");
    let expected = [(0.402_336, Some("less_than")), (16.093_44, Some("at_least"))];
    assert_eq!(values_and_qualifiers(&seen["readings"]), expected);
    assert_eq!(values_and_qualifiers(&series("precipitation")["readings"]), [(0.0, Some("trace"))]);
    // Absent if there is no qualifier.
    let air = series("airTemperature");
    assert_eq!(air["readings"][0].get("qualifier"), None);
    assert_eq!(values_and_qualifiers(&air["readings"]), [(22.0, None), (23.0, None)]);
}

#[test]
fn a_snapshot_and_a_grid_have_it_too() {
    for step in ["", "&step=60"] {
        let path = format!("/stations/readings?{WINDOW}&names=visibility{step}");
        let answer: Value = serde_json::from_str(&api().get(&path).text()).unwrap();
        let readings = &answer["stations"][buffalo().to_string()]["readings"];
        assert_eq!(
            values_and_qualifiers(readings).last(),
            Some(&(16.093_44, Some("at_least"))),
            "{step}"
        );
    }
}

#[test]
fn an_explanation_has_it() {
    let series = instant(Variable::Visibility).id();
    let (station, at) = (buffalo(), "2024-08-03T10:54:00Z");
    let path = format!("/observations/explain?stationId={station}&typeId={series}&timestamp={at}");
    let answer: Value = serde_json::from_str(&api().get(&path).text()).unwrap();
    assert_eq!(answer["qualifier"], "less_than");
}

#[test]
fn an_export_has_a_column_of_them_only_where_it_is_asked_for() {
    let body = || {
        let (id, name) = (buffalo(), "visibility");
        format!(r#"{{"stationId":"{id}","requests":[{{"name":"{name}"}}]}}"#)
    };
    let path = format!("/historical/bulk?{WINDOW}");
    let api = api();
    let plain = api.post(&path, body()).text();
    assert!(plain.starts_with("lat,lon,") && plain.contains("quality_reason,group_bucket_name\n"));
    for same in ["", "&qualifiers=false"] {
        assert_eq!(api.post(&format!("{path}{same}"), body()).text(), plain);
    }
    let with = api.post(&format!("{path}&qualifiers=true"), body()).text();
    let (with, plain): (Vec<_>, Vec<_>) = (with.lines().collect(), plain.lines().collect());
    for (at, more) in [",qualifier", ",less_than", ",at_least"].into_iter().enumerate() {
        assert_eq!(with[at], format!("{}{more}", plain[at]));
    }
    api.post(&format!("{path}&qualifiers=yes"), body())
        .refuses(400, "qualifiers must be true or false; got \"yes\"");
}
