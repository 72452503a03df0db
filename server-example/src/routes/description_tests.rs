use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use super::*;

fn described() -> Value {
    serde_json::to_value(description("/api/v1", "")).unwrap()
}

fn operations(of: &Value) -> Vec<(String, &Value)> {
    let paths = of["paths"].as_object().unwrap();
    let of_path = |(path, item): (&String, &'_ Value)| {
        let methods = item.as_object().unwrap().keys();
        methods.map(|method| format!("{} {path}", method.to_uppercase())).collect::<Vec<_>>()
    };
    let names: Vec<String> = paths.iter().flat_map(of_path).collect();
    let operation = |name: String| {
        let (method, path) = name.split_once(' ').unwrap();
        let operation = &of["paths"][path][method.to_lowercase()];
        (name, operation)
    };
    names.into_iter().map(operation).collect()
}

/// The router, too, is made only from the declarations: see `nothing_is_routed_past_the_tables`.
#[test]
fn every_endpoint_is_described_and_nothing_else() {
    let description = described();
    let described: BTreeSet<String> =
        operations(&description).into_iter().map(|(name, _)| name).collect();
    let all: Vec<String> = all("/api/v1", "")
        .map(|(prefix, endpoint)| format!("{} {prefix}{}", endpoint.method, endpoint.path))
        .collect();
    assert_eq!(described, all.iter().cloned().collect());
    assert_eq!(described.len(), all.len(), "an endpoint is declared twice");
}

#[test]
fn nothing_is_routed_past_the_tables() {
    fn sources(folder: &Path, found: &mut Vec<std::path::PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                sources(&path, found);
            } else if path.extension().is_some_and(|end| end == "rs") {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
    assert!(found.len() > 100);
    // In two parts, so that this file does not contain the text itself.
    let call = concat!(".route", "(");
    let routes = |path: &&std::path::PathBuf| std::fs::read_to_string(path).unwrap().contains(call);
    // Metrics have their own socket.
    let declared = |path: &&std::path::PathBuf| !path.ends_with("figures/mod.rs");
    let routing: Vec<_> = found.iter().filter(routes).filter(declared).collect();
    let [only] = &routing[..] else { panic!("{routing:?}") };
    assert!(only.ends_with("app/router.rs"), "{only:?}");
}

#[test]
fn names_of_operations_are_distinct_and_paths_have_their_parameters() {
    let description = described();
    let mut ids = BTreeSet::new();
    for (name, operation) in operations(&description) {
        assert!(ids.insert(operation["operationId"].as_str().unwrap().to_owned()), "{name}");
        let in_path: BTreeSet<&str> = operation["parameters"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|parameter| parameter["in"] == "path")
            .map(|parameter| parameter["name"].as_str().unwrap())
            .collect();
        let in_braces: BTreeSet<&str> =
            name.split('{').skip(1).map(|rest| rest.split('}').next().unwrap()).collect();
        assert_eq!(in_path, in_braces, "{name}");
    }
}

#[test]
fn a_body_that_is_described_is_one_that_is_read() {
    for (_, endpoint) in all("", "") {
        let operation = (endpoint.about)().operation(endpoint);
        let has_body = operation.request_body.is_some();
        let is_json = operation.request_body.as_ref().is_some_and(|body| {
            serde_json::to_value(body).unwrap()["content"].get("application/json").is_some()
        });
        assert_eq!(is_json, !endpoint.body.is_empty(), "{}", endpoint.path);
        assert!(!has_body || endpoint.method == "POST", "{}", endpoint.path);
    }
}

#[test]
fn members_of_bodies_are_those_that_are_checked() {
    fn members(schema: &Value, of: &Value, found: &mut BTreeSet<String>) {
        if let Some(name) = schema["$ref"].as_str() {
            let name = name.rsplit('/').next().unwrap();
            members(&of["components"]["schemas"][name], of, found);
        }
        // A value that may be null is one of two types.
        let kinds = schema["oneOf"].as_array().into_iter().flatten();
        for part in kinds.chain([&schema["items"]]).filter(|part| part.is_object()) {
            members(part, of, found);
        }
        for (name, member) in schema["properties"].as_object().into_iter().flatten() {
            found.insert(name.clone());
            members(member, of, found);
        }
    }
    let description = described();
    for (prefix, endpoint) in all("/api/v1", "").filter(|(_, endpoint)| !endpoint.body.is_empty()) {
        let path = format!("{prefix}{}", endpoint.path);
        let body = &description["paths"][&path]["post"]["requestBody"]["content"];
        let mut found = BTreeSet::new();
        members(&body["application/json"]["schema"], &description, &mut found);
        let checked = endpoint.body.iter().map(|member| member.name.to_owned()).collect();
        assert_eq!(found, checked, "{path}");
    }
}

/// `tests/interface` checks them against their schemas.
#[test]
fn every_answer_in_json_has_an_example_of_the_sample() {
    // A document with a form of its own, and files that callers push.
    let without = ["getDescription"];
    let description = described();
    let mut count = 0;
    for (name, operation) in operations(&description) {
        for status in ["200", "201"] {
            let json = &operation["responses"][status]["content"]["application/json"];
            let id = operation["operationId"].as_str().unwrap();
            if json.is_object() && !without.contains(&id) {
                assert!(json.get("example").is_some(), "{name}");
                count += 1;
            }
        }
    }
    assert!(count > 20, "{count}");
}

#[test]
fn every_reference_leads_somewhere() {
    fn check(value: &Value, of: &Value) {
        if let Some(to) = value["$ref"].as_str() {
            let pointer = to.strip_prefix('#').unwrap();
            assert!(of.pointer(pointer).is_some(), "{to}");
        }
        match value {
            Value::Object(members) => members.values().for_each(|value| check(value, of)),
            Value::Array(items) => items.iter().for_each(|value| check(value, of)),
            _ => {}
        }
    }
    let description = described();
    check(&description, &description);
    assert_eq!(description["openapi"], "3.1.0");
    assert_eq!(description["info"]["version"], "1.0.0");
}

/// Two types with the same name would be one in the description.
#[test]
fn types_of_one_name_are_the_same() {
    let mut known = std::collections::BTreeMap::new();
    for (_, endpoint) in all("", "") {
        for (name, schema) in (endpoint.about)().schemas() {
            let schema = serde_json::to_value(schema).unwrap();
            let before = known.insert(name.clone(), schema.clone());
            assert!(before.is_none_or(|before| before == schema), "{name}");
        }
    }
}

/// Links between items of the library lead nowhere here.
#[test]
fn descriptions_have_no_links_to_items_of_the_library() {
    let text = described().to_string();
    let links: Vec<&str> = text
        .split("[`")
        .skip(1)
        .map(|rest| rest.split(char::is_whitespace).next().unwrap())
        .collect();
    assert_eq!(links, [] as [&str; 0]);
}
