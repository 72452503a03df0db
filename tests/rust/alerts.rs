//! The vectors of official alerts.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;
use mesonet::alert::{AlertState, Clock, Feature, Query, resolve};
use mesonet::feed::{FeedError, Summary, read_cap, read_nws_alerts};
use mesonet::zone::Zones;
use mesonet::{BBox, LonLat, alert};
use serde_json::{Value, json};

use super::{assert_count, list, text, vectors};

fn whole(of: &Value, key: &str) -> i64 {
    of[key].as_i64().unwrap_or_else(|| panic!("{key} is not a whole number in {of}"))
}

fn clock(of: &Value) -> Clock {
    Clock::replay(whole(of, "at_ms"))
}

fn messages(
    reader: &str,
    content: &[u8],
    messages: &mut Vec<alert::Message>,
) -> Result<Summary, FeedError> {
    let visit = |message| messages.push(message);
    match reader {
        "cap" => read_cap(content, visit),
        "nws-alerts" => read_nws_alerts(content, visit),
        _ => panic!("{reader} is not a reader"),
    }
}

/// The messages of the files of a case, in the order they were sent.
fn read(case: &Value) -> Vec<alert::Message> {
    let (mut all, mut read, mut refused) = (Vec::new(), 0, 0);
    for file in list(case, "files") {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(file.as_str().unwrap());
        let mut content = Vec::new();
        GzDecoder::new(&*fs::read(path).unwrap()).read_to_end(&mut content).unwrap();
        let summary = messages(text(case, "reader"), &content, &mut all).unwrap();
        read += summary.read;
        refused += summary.refused;
    }
    assert_eq!(json!([read, refused]), json!([case["read"], case["refused"]]), "{}", case["name"]);
    all.sort_by(|a, b| (a.sent_ms, &a.id).cmp(&(b.sent_ms, &b.id)));
    all
}

fn states_at(all: &[alert::Message], clock: Clock) -> Vec<AlertState> {
    resolve(&all.iter().collect::<Vec<_>>(), clock)
}

/// The features of the alerts that meet the conditions, the latest first.
fn features(all: &[alert::Message], of: &Value) -> Vec<Value> {
    let numbers = |key: &str| -> Option<Vec<f64>> {
        Some(of[key].as_array()?.iter().map(|number| number.as_f64().unwrap()).collect())
    };
    let bbox = numbers("bbox").map(|of| BBox::new(of[0], of[1], of[2], of[3]).unwrap());
    let place = numbers("place").map(|of| LonLat::new(of[0], of[1]).unwrap());
    let is_active = of["active"].as_bool().unwrap_or_default();
    let query = Query::default().is_active(is_active).bbox(bbox).at(place);
    let language = of["language"].as_str().unwrap_or("en");
    let found = query.select(all, clock(of), &Zones::default());
    let newest_first = found.iter().rev();
    newest_first
        .map(|(message, state)| json!(Feature::new(message, state, &Zones::default(), language)))
        .collect()
}

/// How many positions geometries have, and the sums of their longitudes and latitudes.
fn positions<'a>(geometries: impl Iterator<Item = &'a Value>) -> Value {
    let (mut count, mut lons, mut lats) = (0, 0.0, 0.0);
    for geometry in geometries.filter(|geometry| !geometry.is_null()) {
        let is_one = geometry["type"] == "Polygon";
        let one = json!([geometry["coordinates"]]);
        let polygons = if is_one { &one } else { &geometry["coordinates"] };
        let rings = polygons.as_array().unwrap().iter().flat_map(|of| of.as_array().unwrap());
        for position in rings.flat_map(|ring| ring.as_array().unwrap()) {
            count += 1;
            lons += position[0].as_f64().unwrap();
            lats += position[1].as_f64().unwrap();
        }
    }
    json!([count, lons, lats])
}

/// A feature as the file has it.
fn feature_summary(feature: &Value) -> Value {
    let (alert, geometry) = (&feature["properties"], &feature["geometry"]);
    let or = |key: &str, empty: Value| alert.get(key).cloned().unwrap_or(empty);
    let areas: Vec<Value> =
        alert["areas"].as_array().into_iter().flatten().take(12).cloned().collect();
    let code = |area: &Value| area.get("clcCode").or(area.get("ugcCode")).cloned();
    let positions = match geometry {
        Value::Null => Value::Null,
        geometry => positions(std::iter::once(geometry)),
    };
    json!({
        "id": feature["id"],
        "status": alert["status"],
        "headline": alert["alertHeadline"],
        "event_codes": or("eventCodes", json!({})),
        "same_codes": or("sameCodes", json!([])),
        "areas": areas.iter().map(|area| json!([code(area), area["status"]])).collect::<Vec<_>>(),
        "geometry": geometry.get("type"),
        "positions": positions,
    })
}

fn chain(case: &Value) {
    let all = read(case);
    let ids: Vec<&str> = all.iter().map(|message| &*message.id).collect();
    assert_eq!(json!(ids), case["ids"], "{}", case["name"]);
    for one in list(case, "states") {
        let index = |id: &String| ids.iter().position(|known| known == id);
        let states = states_at(&all, clock(one)).into_iter().map(|state| {
            let next: Vec<_> = state.next_ids.iter().map(index).collect();
            json!([state.status, next])
        });
        assert_eq!(states.collect::<Value>(), one["of"], "{} at {}", case["name"], one["at_ms"]);
    }
    for one in list(case, "features") {
        let got: Value = features(&all, one).iter().map(feature_summary).collect();
        assert_eq!(got, one["of"], "{} at {}", case["name"], one["at_ms"]);
    }
    if let Some(collection) = case.get("collection") {
        let got = json!({"type": "FeatureCollection", "features": features(&all, collection)});
        assert_eq!(got, collection["of"], "{}", case["name"]);
    }
}

fn many(case: &Value) {
    let all = read(case);
    for one in list(case, "tally") {
        let mut statuses = BTreeMap::new();
        for state in states_at(&all, clock(one)) {
            *statuses.entry(state.status.name()).or_insert(0) += 1;
        }
        assert_eq!(json!(statuses), one["statuses"], "{}", case["name"]);
        let mut query = one.clone();
        query["active"] = json!(true);
        let found = features(&all, &query);
        assert_eq!(json!(found.len()), one["active"], "{}", case["name"]);
        let without = found.iter().filter(|feature| feature["geometry"].is_null()).count();
        assert_eq!(json!(without), one["without_outline"], "{}", case["name"]);
        let got = positions(found.iter().map(|feature| &feature["geometry"]));
        assert_eq!(got, one["positions"], "{}", case["name"]);
    }
}

fn refused(case: &Value) {
    let content = text(case, "content").as_bytes();
    let error = messages(text(case, "reader"), content, &mut Vec::new()).unwrap_err();
    assert_eq!(error.to_string(), text(case, "message"), "{}", case["name"]);
}

fn left_out(case: &Value) {
    let mut none = Vec::new();
    let summary = messages("cap", text(case, "content").as_bytes(), &mut none).unwrap();
    assert!(none.is_empty(), "{}", case["name"]);
    let refusals = summary.refusals.iter().map(ToString::to_string);
    assert_eq!(refusals.collect::<Value>(), case["refusals"], "{}", case["name"]);
}

/// Holds the cases of a section to the library.
type Section = fn(&Value);

#[test]
fn alerts() {
    let file = vectors("alerts.json");
    let sections: [(&str, Section); 4] =
        [("chains", chain), ("many", many), ("refused", refused), ("left_out", left_out)];
    let mut ran = 0;
    for (section, check) in sections {
        list(&file, section).iter().for_each(check);
        ran += list(&file, section).len();
    }
    assert_count(ran, &file);
}
