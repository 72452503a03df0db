//! `GET /models/{model}/point`

use serde_json::json;

use super::{RUN, point, service};

#[test]
fn a_point_has_values_and_columns_and_the_turn_of_the_wind() {
    let service = service();
    let got = service.json(&point("hour=0&row=40&col=20&fields=u,prmsl"));
    // The centre and the rotation according to NCEPLIBS-ip.
    for (value, golden) in [
        (&got["lat"], 43.719480441965),
        (&got["lon"], -125.81296536150296),
        (&got["wind_rotation"]["cos"], 0.974283138718),
        (&got["wind_rotation"]["sin"], -0.225327241164),
    ] {
        assert!((value.as_f64().unwrap() - golden).abs() < 1e-9, "{value}");
    }
    assert_eq!(
        got,
        json!({
            "run": RUN, "hour": 0, "valid_time": "2018-09-17T00:00:00Z",
            "availableAt": "2018-09-17T02:00:00Z", "forecast_hours": 2,
            "row": 40, "col": 20, "lat": got["lat"], "lon": got["lon"],
            "fields": {
                "u": {"unit": "m/s", "levels_hpa": [150.0, 100.0], "values": [21.32, 18.2]},
                "prmsl": {"unit": "Pa", "value": 101_828.8},
            },
            "wind_rotation": got["wind_rotation"],
        })
    );
    let level = service.json(&point("hour=0&row=40&col=20&fields=u&level=1"));
    assert_eq!(
        level["fields"]["u"],
        json!({"unit": "m/s", "levels_hpa": [100.0], "values": [18.2]})
    );
}

#[test]
fn a_place_stands_for_the_cell_that_it_lies_in() {
    let service = service();
    let by_cell = service.json(&point("hour=0&row=40&col=20&fields=u"));
    let by_place = service.json(&point("hour=0&lat=43.7&lon=-125.8&fields=u"));
    assert_eq!(by_cell, by_place);
    service.get(&point("hour=0&lat=0&lon=10&fields=u")).refuses(
        400,
        "latitude 0, longitude 10 is not on the grid: it would be row 32.97, column 194.25; \
         allowed are rows 0 to 64 and columns 0 to 92",
    );
    let both = "a cell is required: row and col, or lat and lon, but not both";
    for query in ["", "row=1", "lat=43&lon=-120&row=1&col=1", "row=1&lat=43&lon=-120"] {
        service.get(&point(&format!("hour=0&fields=u&{query}"))).refuses(400, both);
    }
    let pair = "a place needs both lat and lon, or neither";
    service.get(&point("hour=0&fields=u&lat=43")).refuses(400, pair);
}

#[test]
fn winds_are_turned_to_true_north_where_that_is_asked_for() {
    let service = service();
    let as_they_are = service.json(&point("hour=0&row=40&col=20&fields=u,v&winds=grid"));
    assert_eq!(as_they_are, service.json(&point("hour=0&row=40&col=20&fields=u,v")));
    let turned = service.json(&point("hour=0&row=40&col=20&fields=u,v&winds=earth"));
    assert_eq!(turned["wind_rotation"], json!({"cos": 1.0, "sin": 0.0}));
    let number = |value: &serde_json::Value| value.as_f64().unwrap();
    let rotation = &as_they_are["wind_rotation"];
    let (cos, sin) = (number(&rotation["cos"]), number(&rotation["sin"]));
    for level in 0..2 {
        let of = |answer: &serde_json::Value, name: &str| {
            number(&answer["fields"][name]["values"][level])
        };
        let (u, v) = (of(&as_they_are, "u"), of(&as_they_are, "v"));
        // Rounded to two more decimals than the components have.
        assert!((of(&turned, "u") - (cos * u + sin * v)).abs() < 0.000_051);
        assert!((of(&turned, "v") - (-sin * u + cos * v)).abs() < 0.000_051);
    }
    let text = "winds must be grid or earth; got \"true\"";
    service.get(&point("hour=0&row=40&col=20&fields=u&winds=true")).refuses(400, text);
}
