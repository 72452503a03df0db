//! Other ways to name the run, the time and the level of a request: `run=latest`, `valid`,
//! `level_hpa` and longitudes up to 360.

use axum::http::header;
use serde_json::{Value, json};

use super::{RUN, Service, point, series, service, tile};

const FIRST: &str = "2018-09-17T00:00:00Z";

fn without(mut answer: Value, names: &[&str]) -> Value {
    let object = answer.as_object_mut().unwrap();
    for name in names {
        object.remove(*name);
    }
    answer
}

fn refusal(service: &Service, path: &str, status: u16) -> String {
    let answer = service.get(path);
    assert_eq!(answer.status, status, "{path}: {}", answer.text());
    serde_json::from_slice(&answer.body).unwrap()
}

#[test]
fn the_latest_run_is_asked_for_by_that_word_and_its_answers_are_not_for_good() {
    let service = service();
    let cell = "row=40&col=20&fields=prmsl";
    for (named, latest) in [
        (
            point(&format!("hour=0&{cell}")),
            format!("/models/nam211/point?run=latest&hour=0&{cell}"),
        ),
        (series(cell), format!("/models/nam211/series?run=latest&{cell}")),
    ] {
        assert_eq!(service.json(&named), service.json(&latest));
        let answer = service.get(&latest);
        assert_eq!(answer.header(header::CACHE_CONTROL), Some("no-cache"));
        let tag = answer.header(header::ETAG).unwrap().to_owned();
        assert_eq!(service.get_with(&latest, &[(header::IF_NONE_MATCH, &tag)]).status, 304);
    }
    let named = service.get(&point(&format!("hour=0&{cell}")));
    assert!(named.header(header::CACHE_CONTROL).unwrap().ends_with("immutable"));
    let by_name = service.get(&tile("prmsl/data/2/0/1?hour=0"));
    let latest = service.get("/models/nam211/products/prmsl/data/2/0/1?hour=0&run=latest");
    assert_eq!(by_name.body, latest.body);
    for path in ["grid?run=latest", "products?run=latest", "locate?run=latest&lat=40&lon=-100"] {
        assert_eq!(service.json(&format!("/models/nam211/{path}"))["run"], RUN);
    }
    let none = refusal(&service, "/models/later/point?run=latest&hour=0&row=0&col=0&fields=t", 404);
    assert_eq!(none, "model \"later\" has no runs");
}

#[test]
fn a_valid_time_finds_the_newest_run_that_has_it() {
    let service = service();
    let own = service.run();
    let cell = "row=40&col=20&fields=prmsl";
    let at = |time: &str| format!("/models/nam211/point?valid={time}&{cell}");
    assert_eq!(service.json(&at(FIRST)), service.json(&point(&format!("hour=0&{cell}"))));
    // A run that begins three hours later has only the second hour, until its product is there.
    let mut later = own.definition().clone();
    later.run = "20180917T030000Z".parse().unwrap();
    service.publish_second_hour();
    let second = "2018-09-17T03:00:00Z";
    assert_eq!(service.json(&at(second))["run"], RUN);
    service.publish_wind(&later, "u", 1_537_160_500_000);
    assert_eq!(service.json(&at(second))["run"], RUN, "the later run has no pressure yet");
    let wind = format!("/models/nam211/point?valid={second}&row=40&col=20&fields=u");
    assert_eq!(service.json(&wind)["run"], "20180917T030000Z");
    assert_eq!(service.json(&at(FIRST))["run"], RUN);
    assert_eq!(service.get(&at(second)).header(header::CACHE_CONTROL), Some("no-cache"));
    // With a run, `valid` names the hour.
    let named = format!("/models/nam211/point?run={RUN}&valid={second}&{cell}");
    assert_eq!(service.json(&named)["hour"], 1);
    assert!(service.get(&named).header(header::CACHE_CONTROL).unwrap().ends_with("immutable"));
    let tile = format!("/models/nam211/products/prmsl/data/2/0/1?valid={second}");
    assert_eq!(service.get(&tile).status, 200);

    let never = refusal(&service, &at("2030-01-01T00:00:00Z"), 404);
    assert_eq!(never, "no run of model \"nam211\" has 2030-01-01T00:00:00Z");
    let named = format!("/models/nam211/point?run={RUN}&valid=2018-09-17T01:00:00Z&{cell}");
    assert_eq!(
        refusal(&service, &named, 400),
        "valid 2018-09-17T01:00:00Z is not an hour of run 20180917T000000Z; its hours are the 2 \
         from 2018-09-17T00:00:00Z to 2018-09-17T03:00:00Z"
    );
    let both = refusal(&service, &format!("{}&hour=0", at(FIRST)), 400);
    assert_eq!(both, "hour and valid cannot be given together");
}

#[test]
fn a_level_may_be_given_by_its_pressure() {
    let service = service();
    let cell = "row=40&col=20&fields=u";
    let by_index = service.json(&point(&format!("hour=0&{cell}&level=1")));
    assert_eq!(service.json(&point(&format!("hour=0&{cell}&level_hpa=100"))), by_index);
    assert_eq!(by_index["fields"]["u"]["levels_hpa"], json!([100.0]));
    let by_index = service.json(&series(&format!("{cell}&level=1")));
    assert_eq!(service.json(&series(&format!("{cell}&level_hpa=100"))), by_index);
    let tiles = ["level=1", "level_hpa=100"]
        .map(|level| service.get(&tile(&format!("u/data/2/0/1?hour=0&{level}"))).body);
    assert_eq!(tiles[0], tiles[1]);
    // Products of a single level have no other levels.
    let single = service.json(&point("hour=0&row=40&col=20&fields=prmsl&level_hpa=850"));
    assert!(single["fields"]["prmsl"]["value"].is_number());
    let none = refusal(&service, &point(&format!("hour=0&{cell}&level_hpa=850")), 400);
    assert_eq!(none, "product \"u\" has no level at 850 hPa; its levels are 150, 100");
    let both = refusal(&service, &point(&format!("hour=0&{cell}&level=0&level_hpa=150")), 400);
    assert_eq!(both, "level and level_hpa cannot be given together");
}

#[test]
fn longitudes_run_to_180_or_to_360() {
    let service = service();
    let at = |lon: &str| format!("lat=43.7&lon={lon}");
    for [west, east] in [["-125.8", "234.2"], ["-100", "260"]] {
        let found = [west, east].map(|lon| {
            let located = service.json(&format!("/models/nam211/locate?run={RUN}&{}", at(lon)));
            let point = service.json(&point(&format!("hour=0&fields=prmsl&{}", at(lon))));
            let series = service.json(&series(&format!("fields=prmsl&{}", at(lon))));
            (without(located, &["distance_km", "fractional_row", "fractional_col"]), point, series)
        });
        assert_eq!(found[0], found[1]);
    }
    for lon in ["360.5", "-180.5"] {
        let path = format!("/models/nam211/locate?run={RUN}&{}", at(lon));
        assert!(refusal(&service, &path, 400).contains("longitude"), "{lon}");
    }
}

#[test]
fn products_and_located_cells_have_tags() {
    let service = service();
    for path in [
        format!("/models/nam211/products?run={RUN}"),
        "/models/nam211/products".to_owned(),
        format!("/models/nam211/locate?run={RUN}&lat=40&lon=-100"),
    ] {
        let answer = service.get(&path);
        let tag = answer.header(header::ETAG).expect(&path).to_owned();
        let again = service.get_with(&path, &[(header::IF_NONE_MATCH, &tag)]);
        assert_eq!((again.status.as_u16(), again.body.len()), (304, 0), "{path}");
    }
}
