//! Who may use which model; `GET /capabilities`

use axum::http::header;
use mesonet::access::Plan;
use serde_json::json;

use super::{MODELS, of_models, point, series, tile};

#[test]
fn access_is_that_of_the_source_at_every_endpoint() {
    let gated = |rule: &str| MODELS.replacen("access = { plan = \"none\" }", rule, 1);
    let paths = [
        "/models/nam211/runs".to_owned(),
        "/models/nam211/products".to_owned(),
        "/models/nam211/grid".to_owned(),
        "/models/nam211/locate?lat=43&lon=-120".to_owned(),
        point("hour=0&row=0&col=0&fields=u"),
        series("row=0&col=0&fields=u"),
        tile("u/data/3/1/3?hour=0&level=0"),
    ];
    for (rule, plan, status) in [
        ("access = { plan = \"free\" }", Plan::None, 401),
        ("access = { plan = \"free\" }", Plan::Free, 200),
        // A model without a rule needs an account.
        ("", Plan::None, 401),
        ("access = { plan = \"pro\" }", Plan::None, 401),
        ("access = { plan = \"pro\" }", Plan::Free, 403),
        ("access = { plan = \"pro\" }", Plan::Commercial, 200),
        ("access = { plan = \"none\", organisations = [\"acme\"] }", Plan::None, 401),
        ("access = { plan = \"none\", organisations = [\"acme\"] }", Plan::Commercial, 403),
    ] {
        let service = of_models(&gated(rule), plan);
        for path in &paths {
            let answer = service.get(path);
            assert_eq!(answer.status.as_u16(), status, "{rule} {plan} {path}");
            if status != 200 {
                answer.is_empty(status);
            } else if path.contains("run=") {
                // No shared cache may keep the answer.
                assert!(answer.header(header::CACHE_CONTROL).unwrap().starts_with("private"));
            }
        }
        // Before anything else of the request is checked.
        assert_eq!(
            service.get("/models/nam211/point").status.as_u16(),
            if status == 200 { 400 } else { status }
        );
        let coverage = service.json("/models/coverage");
        assert_eq!(coverage["models"].get("nam211").is_some(), status == 200);
        let shown = &service.json("/capabilities")["products"]["models.nam211"];
        assert_eq!(shown["allowed"], json!(status == 200), "{rule} {plan}");
    }
}

#[test]
fn a_product_may_need_an_account_for_its_tiles_and_series_alone() {
    let models = MODELS.replacen(
        "level = \"101\"",
        "level = \"101\", tiles_and_series = { plan = \"free\" }",
        1,
    );
    let (of_tile, of_series) =
        (tile("prmsl/data/3/1/3?hour=0"), series("row=0&col=0&fields=u,prmsl"));
    let anonymous = of_models(&models, Plan::None);
    anonymous.get(&of_tile).is_empty(401);
    anonymous.get(&of_series).is_empty(401);
    assert_eq!(anonymous.get(&series("row=0&col=0&fields=u")).status, 200);
    assert_eq!(anonymous.get(&point("hour=0&row=0&col=0&fields=prmsl")).status, 200);
    let member = of_models(&models, Plan::Free);
    for path in [of_tile, of_series] {
        let answer = member.get(&path);
        assert_eq!(answer.status, 200);
        assert!(answer.header(header::CACHE_CONTROL).unwrap().starts_with("private"));
    }
}

#[test]
fn capabilities_tell_what_the_caller_may_and_are_not_stored() {
    let models = MODELS.replacen("\"none\" }\n    winds", "\"pro\" }\n    winds", 1);
    let got = of_models(&models, Plan::None).get("/capabilities");
    got.is(
        r#"{"products":{"models.later":{"allowed":true,"requires":"none","requiresStanding":"none"},"models.nam211":{"allowed":false,"requires":"pro","requiresStanding":"none"}},"limits":{"maxValues":1000000}}"#,
    );
    assert_eq!(got.header(header::CACHE_CONTROL), Some("no-store"));
    // The observation service has its own capabilities.
    assert_ne!(got.text(), of_models(&models, Plan::None).get("/api/v1/capabilities").text());
}
