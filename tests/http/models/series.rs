//! `GET /models/{model}/series`

use mesonet_server::Config;
use serde_json::json;

use super::{MODELS, point, series, service, with};

#[test]
fn a_series_has_what_is_published_and_spans_the_whole_run() {
    let service = service();
    let whole = service.json(&series("row=40&col=20&fields=prmsl,u"));
    assert_eq!(
        (&whole["valid_from"], &whole["valid_to"], &whole["forecast_hours"]),
        (&json!("2018-09-17T00:00:00Z"), &json!("2018-09-17T03:00:00Z"), &json!(2))
    );
    assert_eq!(
        whole["fields"],
        json!({
            "prmsl": {"unit": "Pa", "levels_hpa": null, "series": [
                {"hour": 0, "valid_time": "2018-09-17T00:00:00Z", "value": 101_828.8},
            ]},
            "u": {"unit": "m/s", "levels_hpa": [150.0, 100.0], "series": [
                {"hour": 0, "valid_time": "2018-09-17T00:00:00Z", "values": [21.32, 18.2]},
            ]},
        })
    );
    service.publish_second_hour();
    let later = "from=2018-09-17T00:00:01Z";
    let narrowed = service.json(&series(&format!("row=40&col=20&fields=prmsl,u&level=0&{later}")));
    assert_eq!(narrowed["valid_from"], "2018-09-17T00:00:00Z");
    assert_eq!(
        narrowed["fields"],
        json!({
            "prmsl": {"unit": "Pa", "levels_hpa": null, "series": [
                {"hour": 1, "valid_time": "2018-09-17T03:00:00Z", "value": 101_001.0},
            ]},
            // The hour has no wind.
            "u": {"unit": "m/s", "levels_hpa": [150.0], "series": [
                {"hour": 1, "valid_time": "2018-09-17T03:00:00Z", "value": null},
            ]},
        })
    );
    let none = "from=2018-09-18T00:00:00Z&to=2018-09-17T00:00:00Z";
    service.get(&series(&format!("row=40&col=20&fields=u&{none}"))).refuses(
        400,
        "from must not be after to; got 2018-09-18T00:00:00Z and 2018-09-17T00:00:00Z",
    );
}

#[test]
fn a_series_has_a_limit_on_its_values() {
    let config = Config { max_model_values: 4, ..Config::default() };
    let service = with(config, MODELS);
    assert_eq!(service.get(&series("row=0&col=0&fields=u,u")).status, 200);
    assert_eq!(service.get(&series("row=0&col=0&fields=u,v&level=1")).status, 200);
    service.get(&series("row=0&col=0&fields=u,v")).refuses(
        400,
        "the fields have 8 values over the run; the limit is 4 (maxValues): ask for fewer \
         fields or for one level",
    );
}

#[test]
fn winds_of_a_series_are_turned_where_that_is_asked_for() {
    let service = service();
    let at = "row=40&col=20&fields=u,prmsl";
    let turned = service.json(&series(&format!("{at}&winds=earth")));
    let by_point = service.json(&point(&format!("hour=0&{at}&winds=earth")));
    let first = &turned["fields"]["u"]["series"][0];
    assert_eq!(first["values"], by_point["fields"]["u"]["values"]);
    assert_eq!(turned["wind_rotation"], by_point["wind_rotation"]);
    // The second hour gets its pressure, but still has no winds.
    service.publish_second_hour();
    let turned = service.json(&series(&format!("{at}&winds=earth")));
    assert_eq!(turned["fields"]["u"]["series"][1]["values"], json!([null, null]));
}
