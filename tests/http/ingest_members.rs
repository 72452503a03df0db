//! Members of an ensemble, and fields over an interval: from files to answers.

use axum::http::header;
use mesonet::access::Plan;
use serde_json::{Value, json};

use crate::crafted::{Message, interval};
use crate::model_pushes::ModelPushes;
use crate::support::Answer;

const MODELS: &str = r#"
    [ensemble]
    title = "e"
    access = { plan = "none" }
    hours = "0,6,12"
    members = "0-3"
    products = [
        { name = "pressure", field = "member", unit = "Pa", scale = 1.0, offset = 98000.0, parameter = "7:0.3.1", level = "101", tiles_and_series = { plan = "free" } },
        { name = "rain", field = "member", unit = "kg/m²", scale = 0.5, parameter = "7:0.1.8", level = "1", interval = "any", statistic = "accumulation" },
    ]
    [single]
    title = "s"
    access = { plan = "none" }
    hours = "0,6,12"
    products = [
        { name = "rain", unit = "kg/m²", scale = 0.5, parameter = "7:0.1.8", level = "1", interval = "any", statistic = "accumulation" },
        { name = "rain_6h", unit = "kg/m²", scale = 0.5, parameter = "7:0.1.8", level = "1", interval = "6h", statistic = "accumulation" },
    ]
"#;

const RUN: &str = "20180917T000000Z";

fn service() -> ModelPushes {
    ModelPushes::new(MODELS, Plan::Free)
}

fn push(service: &ModelPushes, model: &str, messages: &[Message]) -> Answer {
    let bytes: Vec<u8> = messages.iter().flat_map(|one| one.clone().bytes()).collect();
    service.push(&format!("model={model}"), bytes)
}

fn summary(service: &ModelPushes, model: &str, messages: &[Message]) -> Value {
    let answer = push(service, model, messages);
    assert_eq!(answer.status, 200, "{}", answer.text());
    serde_json::from_slice::<Value>(&answer.body).unwrap()["models"].clone()
}

fn refusal(service: &ModelPushes, path: &str) -> String {
    let answer = service.get(path);
    assert_eq!(answer.status, 400, "{path}: {}", answer.text());
    serde_json::from_slice(&answer.body).unwrap()
}

/// A member at an hour. Its template says whether it is perturbed or the control.
fn member(number: u8, hour: u8, value: f32) -> Message {
    let kind = if number == 0 { 1 } else { 3 };
    Message::pressure().at_hour(hour).of_template(1, &[kind, number, 4]).of_value(value)
}

/// Rain over an interval that ends at an hour.
fn rain(end: u8, length_h: u8, value: f32) -> Message {
    Message::pressure()
        .with(4, 10, &[1, 8])
        .with(4, 23, &[1])
        .at_hour(end - length_h)
        .of_template(8, &interval(end, length_h))
        .of_value(value)
}

fn point(more: &str) -> String {
    format!("/models/ensemble/point?run={RUN}&row=40&col=20{more}")
}

#[test]
fn each_member_of_an_ensemble_is_asked_for_by_its_number() {
    let service = service();
    // One file per member, in any order.
    for number in [2, 0, 3] {
        let value = 100_000.0 + 100.0 * f32::from(number);
        summary(&service, "ensemble", &[member(number, 0, value), member(number, 6, value + 1.0)]);
    }
    let entry = |more: &str| {
        service.json(&point(&format!("&hour=0&fields=pressure{more}")))["fields"]["pressure"]
            .clone()
    };
    assert_eq!(entry("&member=2"), json!({"unit": "Pa", "value": 100_200.0, "member": 2}));
    // Without a number, it is the control.
    assert_eq!(entry(""), json!({"unit": "Pa", "value": 100_000.0, "member": 0}));
    // The member has not arrived.
    assert_eq!(entry("&member=1"), json!({"unit": "Pa", "value": null, "member": 1}));
    let series = service
        .json(&format!("/models/ensemble/series?run={RUN}&row=40&col=20&fields=pressure&member=3"));
    let series = &series["fields"]["pressure"];
    assert_eq!((&series["member"], &series["levels_hpa"]), (&json!(3), &Value::Null));
    let values: Vec<&Value> =
        series["series"].as_array().unwrap().iter().map(|item| &item["value"]).collect();
    assert_eq!(values, [&json!(100_300.0), &json!(100_301.0)]);
    let products = service.json(&format!("/models/ensemble/products?run={RUN}"));
    assert_eq!(products["products"][0]["name"], "pressure");
    assert_eq!(products["products"][0]["members"], json!([0, 1, 2, 3]));
    assert_eq!(products["products"][0]["field"], "member");
    assert_eq!(products["products"].as_array().unwrap().len(), 2);

    let unknown = refusal(&service, &point("&hour=0&fields=pressure&member=4"));
    assert_eq!(unknown, "product \"pressure\" has no member 4; its members are 0, 1, 2, 3");
    let refused = refusal(&service, &point("&hour=0&fields=pressure&member=300"));
    assert_eq!(refused, "member must be 0 (the control) to 255; got 300");
    // The name of a single member is not a field, so it cannot bypass a rule.
    let named = refusal(&service, &point("&hour=0&fields=pressure/2"));
    assert!(named.starts_with("unknown product \"pressure/2\""), "{named}");

    // What the ensemble does not have is refused by name.
    let surplus = push(&service, "ensemble", &[member(7, 0, 1.0)]);
    assert_eq!(surplus.status, 400);
    assert!(surplus.text().contains("has no member 7; its members are 0, 1, 2, 3"));

    // The missing member comes later, and nothing else changes.
    let late = summary(&service, "ensemble", &[member(1, 0, 99_000.0), member(2, 0, 1.0)]);
    assert_eq!((&late["used"], &late["thereAlready"]), (&json!(1), &json!(1)));
    assert_eq!(entry("&member=1")["value"], 99_000.0);
    assert_eq!(entry("&member=2")["value"], 100_200.0);
    let check = mesonet::model::RunStore::new(service.runs());
    let check = check.check_run("ensemble", RUN.parse().unwrap()).unwrap();
    assert_eq!((check.faults.len(), check.surplus.len(), check.shards), (0, 0, 7));
}

#[test]
fn tiles_are_of_a_member() {
    let service = service();
    summary(&service, "ensemble", &[member(0, 0, 100_000.0), member(1, 0, 101_000.0)]);
    let tile = |more: &str| {
        let path = format!("/models/ensemble/products/pressure/data/2/0/1?run={RUN}&hour=0{more}");
        let answer = service.get(&path);
        assert_eq!(answer.status, 200, "{}", answer.text());
        let raw = answer.body.chunks_exact(2).map(|two| i16::from_le_bytes([two[0], two[1]]));
        raw.filter(|raw| *raw != i16::MIN).max().unwrap()
    };
    assert_eq!((tile(""), tile("&member=0"), tile("&member=1")), (2_000, 2_000, 3_000));
    let path = format!("/models/ensemble/products/pressure/data/2/0/1?run={RUN}&hour=0&member=9");
    assert!(refusal(&service, &path).contains("has no member 9"));
}

#[test]
fn an_answer_may_be_kept_for_good_once_all_members_are_there() {
    let service = service();
    let cached = || {
        let answer = service.get(&point("&hour=0&fields=pressure&member=0"));
        answer.header(header::CACHE_CONTROL).unwrap().to_owned()
    };
    summary(&service, "ensemble", &[member(0, 0, 100_000.0)]);
    assert_eq!(cached(), "private, no-cache");
    summary(&service, "ensemble", &[1, 2, 3].map(|number| member(number, 0, 100_000.0)));
    assert_eq!(cached(), "private, max-age=31536000, immutable");
}

#[test]
fn a_field_over_an_interval_answers_with_it() {
    let service = service();
    summary(&service, "single", &[rain(6, 6, 3.0), rain(12, 6, 4.0)]);
    let point = service
        .json(&format!("/models/single/point?run={RUN}&row=40&col=20&hour=2&fields=rain_6h"));
    let interval = json!({
        "start": "2018-09-17T06:00:00Z", "end": "2018-09-17T12:00:00Z",
        "statistic": "accumulation",
    });
    assert_eq!(
        point["fields"]["rain_6h"],
        json!({"unit": "kg/m²", "value": 4.0, "interval": interval})
    );
    let series =
        service.json(&format!("/models/single/series?run={RUN}&row=40&col=20&fields=rain_6h"));
    let items = series["fields"]["rain_6h"]["series"].as_array().unwrap();
    assert_eq!(items[0]["interval"]["start"], "2018-09-17T00:00:00Z");
    assert_eq!(items[1]["interval"], interval);
    let products = service.json("/models/single/products");
    let listed = &products["products"][1];
    assert_eq!((&listed["interval"], &listed["statistic"]), (&json!("6h"), &json!("accumulation")));
}

#[test]
fn two_intervals_that_end_at_one_hour_are_not_mixed() {
    let value = |service: &ModelPushes, hour: u8| {
        let path = format!("/models/single/point?run={RUN}&row=40&col=20&hour={hour}&fields=rain");
        let entry = service.json(&path)["fields"]["rain"].clone();
        (entry["value"].clone(), entry["interval"]["start"].clone())
    };
    // Of two intervals in a file the shorter one counts, in any order.
    for files in [[rain(12, 12, 7.0), rain(12, 6, 4.0)], [rain(12, 6, 4.0), rain(12, 12, 7.0)]] {
        let service = service();
        let summary = summary(&service, "single", &files);
        assert_eq!((&summary["used"], &summary["replaced"]), (&json!(1), &json!(1)));
        assert_eq!(value(&service, 2), (json!(4.0), json!("2018-09-17T06:00:00Z")));
        // Another interval later is refused by name.
        let refused = push(&service, "single", &[rain(12, 12, 7.0)]);
        assert_eq!(refused.status, 400);
        assert!(
            refused.text().contains(
                "product \\\"rain\\\" of hour 2 is accumulation over 6 h; it cannot also be \
                 accumulation over 12 h"
            ),
            "{}",
            refused.text()
        );
        assert_eq!(value(&service, 2).0, 4.0);
    }
}

/// All members of a product at an hour have the same interval.
#[test]
fn a_member_over_another_interval_is_refused() {
    let service = service();
    let of_member = |number: u8, length_h: u8| {
        let octets = [&[3, number, 4][..], &interval(12, length_h)].concat();
        rain(12, length_h, 2.0).of_template(11, &octets)
    };
    summary(&service, "ensemble", &[of_member(0, 6)]);
    let refused = push(&service, "ensemble", &[of_member(1, 12)]);
    assert_eq!(refused.status, 400);
    assert!(refused.text().contains("it cannot also be accumulation over 12 h"));
    summary(&service, "ensemble", &[of_member(1, 6)]);
    let entry = service.json(&point("&hour=2&fields=rain&member=1"))["fields"]["rain"].clone();
    assert_eq!((&entry["value"], &entry["member"]), (&json!(2.0), &json!(1)));
    assert_eq!(entry["interval"]["end"], "2018-09-17T12:00:00Z");
}
