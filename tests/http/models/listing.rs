//! `/models/{model}/runs`, `products`, `grid`, `locate`; `/models/coverage`

use mesonet::{LonLat, model};
use mesonet_server::Config;
use serde_json::json;

use super::{MODELS, RUN, point, service, with};

#[test]
fn runs_are_listed_latest_first_with_what_is_there_of_them() {
    let service = service();
    let detail = |available: &str, published: &[usize], partial: &[usize]| {
        json!({"runs": [RUN], "details": [{
            "run": RUN, "availableAt": available, "forecast_hours": 2,
            "forecast_hour_axis": [0.0, 3.0], "published_hours": published, "partial_hours": partial,
            "valid_from": "2018-09-17T00:00:00Z", "valid_to": "2018-09-17T03:00:00Z",
        }]})
    };
    assert_eq!(service.json("/models/nam211/runs"), detail("2018-09-17T02:00:00Z", &[0], &[]));
    // Another process writes, without telling the server.
    service.publish_second_hour();
    assert_eq!(service.json("/models/nam211/runs"), detail("2018-09-17T05:00:00Z", &[0, 1], &[1]));
    assert_eq!(service.json("/models/later/runs"), json!({"runs": [], "details": []}));

    // A later run, without a published hour yet.
    let store = model::RunStore::new(service.folder.path().join("models"));
    let mut definition = service.run().definition().clone();
    definition.run = "20180917T060000Z".parse().unwrap();
    let mut writer = store.write_run(definition).unwrap();
    assert_eq!(service.json("/models/nam211/runs")["runs"], json!([RUN]));
    writer.write(0, "prmsl", &[10; 65 * 93]).unwrap();
    writer.publish(&[0], 0).unwrap();
    drop(writer);
    assert_eq!(service.json("/models/nam211/runs")["runs"], json!(["20180917T060000Z", RUN]));
    assert_eq!(service.json("/models/nam211/products")["run"], "20180917T060000Z");
    // A removed run disappears at once.
    assert_eq!(service.json(&point("hour=0&row=0&col=0&fields=u"))["run"], RUN);
    store.remove_run("nam211", RUN.parse().unwrap()).unwrap();
    assert_eq!(service.get(&point("hour=0&row=0&col=0&fields=u")).status, 404);
    assert_eq!(service.json("/models/nam211/runs")["runs"], json!(["20180917T060000Z"]));
}

#[test]
fn products_carry_unit_levels_encoding_and_how_their_tiles_are_made() {
    let service = service();
    let encoding = |scale: f64, offset: f64| json!({"height": 65, "width": 93, "scale": scale, "offset": offset, "nodata": -32768});
    let wind = |name: &str| {
        json!({"name": name, "unit": "m/s", "levels_hpa": [150.0, 100.0], "encoding":
            encoding(0.01, 0.0), "sampling": "nearest", "packing_error": 0.005,
            "tile_packing_error": 0.005 * (1.0 + std::f64::consts::SQRT_2), "wind": ["u", "v"]})
    };
    let expected = json!({"run": RUN, "products": [
        {"name": "prmsl", "unit": "Pa", "levels_hpa": null, "encoding": encoding(0.1, 101_000.0),
         "title": "Pressure", "sampling": "bilinear", "packing_error": 0.05,
         "tile_packing_error": 0.1},
        wind("u"),
        wind("v"),
    ]});
    assert_eq!(service.json("/models/nam211/products"), expected);
    assert_eq!(service.json(&format!("/models/nam211/products?run={RUN}")), expected);
}

#[test]
fn coverage_has_the_size_of_each_grid_and_the_box_that_it_lies_in() {
    let service = service();
    let got = service.json("/models/coverage");
    let bounds = &got["models"]["nam211"]["bounds"];
    // The corners according to NCEPLIBS-ip.
    assert!((bounds["minLat"].as_f64().unwrap() - 12.19).abs() < 1e-9);
    assert!((bounds["minLon"].as_f64().unwrap() + 152.85545906531604).abs() < 1e-9);
    assert_eq!(
        got,
        json!({"models": {"nam211": {
            "title": "NAM", "attribution": "NOAA", "ny": 65, "nx": 93, "bounds": bounds,
            "latest_run": RUN, "forecast_hour_axis": [0.0, 3.0], "products": 3,
            "tile_size": 256, "max_zoom": 22,
        }}})
    );
}

#[test]
fn the_grid_says_all_that_is_needed_to_convert() {
    let service = service();
    let got = service.json("/models/nam211/grid");
    assert_eq!((&got["ny"], &got["nx"]), (&json!(65), &json!(93)));
    // With PROJ the cells are at x0 + column · column_step, y0 + row · row_step.
    let (x0, y0) = service.run().grid().first_xy();
    assert_eq!((&got["x0"], &got["y0"]), (&json!(x0), &json!(y0)));
    assert_eq!(got["proj"], json!(service.run().grid().definition().proj_string()));
    // A grid made from the answer has the same cells.
    let definition = serde_json::from_value(got.clone()).unwrap();
    let grid = mesonet::grid::NativeGrid::new(definition).unwrap();
    assert_eq!(&grid, service.run().grid());
    let corner = grid.position(64, 0).unwrap();
    assert_eq!(got["corners"][3], json!([corner.lon(), corner.lat()]));
}

#[test]
fn a_place_is_located_with_its_cell_and_how_far_that_is() {
    let service = service();
    let got = service.json("/models/nam211/locate?lat=43.7&lon=-125.8");
    let at = LonLat::new(-125.8, 43.7).unwrap();
    let grid = service.run();
    let grid = grid.grid();
    let centre = grid.position(40, 20).unwrap();
    let (row, column) = grid.locate(at);
    let rotation = grid.wind_rotation(40, 20).unwrap();
    assert_eq!(
        got,
        json!({
            "run": RUN, "row": 40, "col": 20, "lat": centre.lat(), "lon": centre.lon(),
            "distance_km": at.distance_km(centre), "fractional_row": row, "fractional_col": column,
            "wind_rotation": {"cos": rotation.cos, "sin": rotation.sin},
        })
    );
}

#[test]
fn the_service_lies_below_its_prefix() {
    let config = Config { model_prefix: "/grids".to_owned(), ..Config::default() };
    let service = with(config, MODELS);
    assert_eq!(service.get("/grids/models/nam211/runs").status, 200);
    assert_eq!(service.get("/grids/capabilities").status, 200);
    service.get("/models/nam211/runs").is_empty(404);
    service.get("/capabilities").is_empty(404);
}
