//! `GET /capabilities`

use axum::body::Body;
use axum::http::{Method, header};

use mesonet::access::Plan;
use mesonet_server::Config;
use serde_json::{Value, json};

use crate::support::{Api, TestStore};

#[test]
fn an_anonymous_caller_gets_the_free_view_and_it_is_not_cached() {
    let api = Api::new(TestStore::default());
    let answer = api.get("/capabilities");
    let text = answer.text();
    let limits = r#"},"limits":{"maxWindowMs":604800000,"maxReachMs":604800000}}"#;
    assert!(answer.status == 200 && text.ends_with(limits), "{text}");
    assert_eq!(answer.header(header::CACHE_CONTROL), Some("no-store"));
    let view: Value = serde_json::from_str(&text).unwrap();
    let bulk = json!({"allowed": false, "requires": "commercial", "requiresStanding": "none"});
    assert_eq!(view["products"]["historical.bulk"], bulk);
}

/// Clients take a product that is not named for one that is not offered.
#[test]
fn every_product_that_is_offered_is_named_those_of_models_too() {
    let api = Api::new(TestStore::default());
    let view = |path: &str| -> Value {
        let answer = api.call(Method::GET, path, &[], Body::empty());
        serde_json::from_str(&answer.text()).unwrap()
    };
    let mut products = view("/api/v1/capabilities")["products"].as_object().unwrap().clone();
    let models = view("/capabilities")["products"].as_object().unwrap().clone();
    assert!(models.contains_key("models.hrrr") && models.len() >= 10);
    for (id, access) in models {
        assert_eq!(products.remove(&id), Some(access), "{id}");
    }
    let open = json!({"allowed": true, "requires": "none", "requiresStanding": "none"});
    for id in [
        "alerts",
        "alerts.zones",
        "observations.explain",
        "observations.series",
        "observations.weather",
        "products",
        "stations.map",
        "stations.readings",
    ] {
        assert_eq!(products.remove(id), Some(open.clone()), "{id}");
    }
    assert!(products.remove("historical.bulk").is_some() && products.is_empty(), "{products:?}");
}

#[test]
fn the_limits_are_those_of_the_plan_and_null_is_unlimited() {
    for (plan, limits) in [
        (Plan::Free, r#""limits":{"maxWindowMs":604800000,"maxReachMs":604800000}}"#),
        (Plan::Pro, r#""limits":{"maxWindowMs":2592000000,"maxReachMs":2592000000}}"#),
        (Plan::Commercial, r#""limits":{"maxWindowMs":null,"maxReachMs":null}}"#),
    ] {
        let config = Config { assume_plan: plan, ..Config::default() };
        let answer = Api::with(config, TestStore::default()).get("/capabilities");
        assert_eq!(answer.status, 200);
        assert!(answer.text().ends_with(limits), "{}", answer.text());
    }
}
