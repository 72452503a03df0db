//! The description of the service beside the one that was committed last.
//!
//! `docs/openapi-v1.json` is what callers rely on. `MESONET_REFRESH=1 cargo test -p mesonet-tests --test
//! description` writes it anew, but not if callers would break: such a change must be named, in the
//! words of this test, in the section `### Breaks of the interface` of CHANGELOG.md.

mod breaks;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use breaks::breaks;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package has a parent").to_owned()
}

fn present() -> Value {
    let description = mesonet_server::description("/api/v1", "");
    serde_json::to_value(description).expect("a description is JSON")
}

/// The lines of the sections of breaks in the changelog.
fn named(changelog: &str) -> String {
    let sections =
        changelog.split("\n### ").filter(|text| text.starts_with("Breaks of the interface"));
    let words = sections.map(|section| section.split("\n## ").next().unwrap_or_default());
    words.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_change_that_breaks_callers_is_named_in_the_changelog() {
    let committed = root().join("docs/openapi-v1.json");
    let changelog = fs::read_to_string(root().join("CHANGELOG.md")).expect("CHANGELOG.md");
    let before: Value = fs::read_to_string(&committed)
        .map(|text| serde_json::from_str(&text).expect("docs/openapi-v1.json is JSON"))
        .unwrap_or_default();
    let present = present();
    let named = named(&changelog);
    let unnamed: Vec<String> =
        breaks(&before, &present).into_iter().filter(|text| !named.contains(&**text)).collect();
    assert!(unnamed.is_empty(), "callers break, and CHANGELOG.md does not say so: {unnamed:#?}");
    if std::env::var_os("MESONET_REFRESH").is_some() {
        let text = serde_json::to_string_pretty(&present).expect("it is JSON") + "\n";
        fs::write(&committed, text).expect("docs/openapi-v1.json can be written");
        return;
    }
    assert!(
        before == present,
        "docs/openapi-v1.json is not the description of now; write it anew with MESONET_REFRESH=1 \
         cargo test -p mesonet-tests --test description"
    );
}

/// Each change breaks callers, and is told in these words.
#[test]
fn what_breaks_callers_is_found() {
    let alerts = "/paths/~1api~1v1~1alerts/get";
    let station = "/components/schemas/StationDetail";
    for (at, to, told) in [
        ("/paths/~1api~1v1~1alerts", Value::Null, "GET /api/v1/alerts is gone"),
        (
            &*format!("{alerts}/parameters/0"),
            Value::Null,
            "GET /api/v1/alerts: parameter start is gone",
        ),
        (
            &*format!("{alerts}/parameters/0/required"),
            json!(true),
            "GET /api/v1/alerts: parameter start is required now",
        ),
        (
            &*format!("{alerts}/parameters/11/schema/enum"),
            json!(["en"]),
            "GET /api/v1/alerts: parameter lang: \"fr\" is allowed no longer",
        ),
        (
            &*format!("{alerts}/parameters/3/schema/minimum"),
            json!(-80.0),
            "GET /api/v1/alerts: parameter minLat: minimum is -80.0, was -90",
        ),
        (
            &*format!("{alerts}/responses/200"),
            Value::Null,
            "GET /api/v1/alerts: answer 200 is gone",
        ),
        (
            &*format!("{alerts}/security"),
            json!([{ "accountToken": [] }]),
            "GET /api/v1/alerts: a credential is needed now",
        ),
        (
            &*format!("{station}/properties/network"),
            Value::Null,
            "GET /api/v1/stations/{id}: answer 200: network is gone",
        ),
        (
            &*format!("{station}/properties/elevation/type"),
            json!(["number", "null"]),
            "GET /api/v1/stations/{id}: answer 200: elevation: type is [\"number\",\"null\"], was \
             \"number\"",
        ),
        (
            &*format!("{station}/required"),
            json!([]),
            "GET /api/v1/stations/{id}: answer 200: network may be absent now",
        ),
        (
            "/components/schemas/SeriesRequest/required",
            json!(["stationId", "name", "calculated"]),
            "POST /api/v1/observations/series: body: calculated is required now",
        ),
        (
            "/components/schemas/ReadingsRequest/properties/stationIds/maxItems",
            json!(10),
            "POST /api/v1/stations/readings: body: stationIds: maxItems is 10, was 5000",
        ),
    ] {
        let before = present();
        let mut after = before.clone();
        let (parent, name) = at.rsplit_once('/').expect("a pointer");
        let name = name.replace("~1", "/");
        match (after.pointer_mut(parent), to) {
            (Some(Value::Object(members)), Value::Null) => drop(members.remove(&name).expect(at)),
            (Some(Value::Array(items)), Value::Null) => {
                drop(items.remove(name.parse().expect("an index")));
            }
            (Some(Value::Object(members)), to) => drop(members.insert(name, to)),
            (parent, _) => panic!("{at} is in {parent:?}"),
        }
        let found = breaks(&before, &after);
        assert!(found.iter().any(|text| text == told), "{told}: {found:#?}");
    }
}

#[test]
fn any_text_where_a_uuid_was_needed_breaks_nobody() {
    let after = present();
    let mut before = after.clone();
    let at = "/paths/~1api~1v1~1stations~1{id}/get/parameters/0/schema";
    *before.pointer_mut(at).expect("the station") = json!({ "type": "string", "format": "uuid" });
    assert_eq!(breaks(&before, &after), [""; 0]);
    // The other way round it does.
    assert!(!breaks(&after, &before).is_empty());
}

#[test]
fn what_is_added_breaks_nobody() {
    let before = present();
    let mut after = before.clone();
    after["paths"]["/new"] = json!({ "get": { "responses": {} } });
    let parameters = after.pointer_mut("/paths/~1api~1v1~1alerts/get/parameters");
    let parameters = parameters.and_then(Value::as_array_mut).expect("parameters");
    parameters.push(json!({ "name": "new", "in": "query", "schema": { "type": "string" } }));
    after["components"]["schemas"]["StationDetail"]["properties"]["new"] =
        json!({ "type": "string" });
    assert_eq!(breaks(&before, &after), [] as [String; 0]);
    assert_eq!(breaks(&before, &before), [] as [String; 0]);
}

#[test]
fn breaks_are_looked_for_in_their_section() {
    let changelog = "# C\n\n## Unreleased\n\n### Breaks of the interface\n- GET /a: parameter\n  b is gone\n\n\
                     ### Added\n- GET /c is gone\n";
    assert!(named(changelog).contains("GET /a: parameter b is gone"));
    assert!(!named(changelog).contains("GET /c"));
}
