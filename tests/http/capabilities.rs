//! `GET /capabilities`

use axum::http::header;
use mesonet::MemoryStore;
use mesonet::access::Plan;
use mesonet_server::Config;

use crate::support::Api;

#[test]
fn an_anonymous_caller_gets_the_free_view_and_it_is_not_cached() {
    let answer = Api::new(MemoryStore::default()).get("/capabilities");
    answer.is(concat!(
        r#"{"products":{"historical.bulk":{"allowed":false,"requires":"commercial","requiresStanding":"none"},"#,
        r#""stations.map":{"allowed":true,"requires":"none","requiresStanding":"none"},"#,
        r#""stations.readings":{"allowed":true,"requires":"none","requiresStanding":"none"}},"#,
        r#""limits":{"maxWindowMs":604800000,"maxReachMs":604800000}}"#
    ));
    assert_eq!(answer.header(header::CACHE_CONTROL), Some("no-store"));
}

#[test]
fn the_limits_are_those_of_the_plan_and_null_is_unlimited() {
    for (plan, limits) in [
        (Plan::Free, r#""limits":{"maxWindowMs":604800000,"maxReachMs":604800000}}"#),
        (Plan::Pro, r#""limits":{"maxWindowMs":2592000000,"maxReachMs":2592000000}}"#),
        (Plan::Commercial, r#""limits":{"maxWindowMs":null,"maxReachMs":null}}"#),
    ] {
        let config = Config { assume_plan: plan, ..Config::default() };
        let answer = Api::with(config, MemoryStore::default()).get("/capabilities");
        assert_eq!(answer.status, 200);
        assert!(answer.text().ends_with(limits), "{}", answer.text());
    }
}
