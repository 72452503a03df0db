//! What of a description breaks the callers of an earlier one.

use std::collections::BTreeSet;

use serde_json::Value;

/// Returns each change that breaks callers, in words. Without an earlier description there is none.
pub fn breaks(before: &Value, after: &Value) -> Vec<String> {
    let mut comparison = Comparison { before, after, found: BTreeSet::new() };
    for (path, item) in members(&before["paths"]) {
        for (method, operation) in members(item) {
            let name = format!("{} {path}", method.to_uppercase());
            match &after["paths"][path][method] {
                Value::Null => comparison.tell(format!("{name} is gone")),
                now => comparison.operation(&name, operation, now),
            }
        }
    }
    comparison.found.into_iter().collect()
}

/// Who makes a value: a caller must not be allowed less, nor be given what it does not know.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    Caller,
    Server,
}

struct Comparison<'a> {
    before: &'a Value,
    after: &'a Value,
    found: BTreeSet<String>,
}

impl Comparison<'_> {
    fn tell(&mut self, text: String) {
        self.found.insert(text);
    }

    fn operation(&mut self, name: &str, before: &Value, after: &Value) {
        for was in items(&before["parameters"]) {
            let told = format!("{name}: parameter {}", text(&was["name"]));
            match items(&after["parameters"]).find(|now| is_same(now, was)) {
                None => self.tell(format!("{told} is gone")),
                Some(now) => {
                    if now["required"] == true && was["required"] != true {
                        self.tell(format!("{told} is required now"));
                    }
                    self.schema(&told, &was["schema"], &now["schema"], Side::Caller, &mut vec![]);
                }
            }
        }
        for now in items(&after["parameters"]).filter(|now| now["required"] == true) {
            if !items(&before["parameters"]).any(|was| is_same(now, was)) {
                let parameter = text(&now["name"]);
                self.tell(format!("{name}: parameter {parameter} is required now"));
            }
        }
        if items(&before["security"]).any(is_empty) && !items(&after["security"]).any(is_empty) {
            self.tell(format!("{name}: a credential is needed now"));
        }
        let (was, now) = (&before["requestBody"], &after["requestBody"]);
        if now["required"] == true && was["required"] != true {
            self.tell(format!("{name}: body is required now"));
        }
        self.contents(&format!("{name}: body"), was, now, Side::Caller);
        for (status, was) in members(&before["responses"]) {
            let told = format!("{name}: answer {status}");
            match &after["responses"][status] {
                // A caller need not meet an error any longer.
                Value::Null if !status.starts_with('2') => {}
                Value::Null => self.tell(format!("{told} is gone")),
                now => {
                    let (was, now) = (resolve(self.before, was), resolve(self.after, now));
                    self.contents(&told, was, now, Side::Server);
                }
            }
        }
    }

    fn contents(&mut self, told: &str, before: &Value, after: &Value, side: Side) {
        for (media_type, was) in members(&before["content"]) {
            match &after["content"][media_type] {
                Value::Null => self.tell(format!("{told}: {media_type} is gone")),
                now => self.schema(told, &was["schema"], &now["schema"], side, &mut vec![]),
            }
        }
    }

    /// Compares two schemas; `within` are the names of those around them, which may hold themselves.
    fn schema(
        &mut self,
        told: &str,
        before: &Value,
        after: &Value,
        side: Side,
        within: &mut Vec<String>,
    ) {
        let name = before["$ref"].as_str().unwrap_or_default().to_owned();
        if !name.is_empty() && within.contains(&name) {
            return;
        }
        within.push(name);
        let (was, now) = (resolve(self.before, before), resolve(self.after, after));
        self.bounds(told, was, now, side);
        self.members(told, was, now, side, within);
        for key in ["items", "additionalProperties"] {
            if was[key].is_object() {
                self.schema(told, &was[key], &now[key], side, within);
            }
        }
        for key in ["oneOf", "allOf", "anyOf"] {
            let (old, new) = (items(&was[key]).count(), items(&now[key]).count());
            if old != new {
                self.tell(format!("{told}: {key} has {new} kinds, had {old}"));
            }
            for (was, now) in items(&was[key]).zip(items(&now[key])) {
                self.schema(told, was, now, side, within);
            }
        }
        within.pop();
    }

    fn bounds(&mut self, told: &str, was: &Value, now: &Value, side: Side) {
        if side == Side::Caller && was["format"] == "uuid" && takes_uuids(now) {
            return;
        }
        for key in ["type", "format"] {
            if was[key] != now[key] {
                self.tell(format!("{told}: {key} is {}, was {}", now[key], was[key]));
            }
        }
        if side == Side::Server {
            return;
        }
        for was in items(&was["enum"]) {
            if now["enum"].is_array() && !items(&now["enum"]).any(|now| now == was) {
                self.tell(format!("{told}: {was} is allowed no longer"));
            }
        }
        if now["enum"].is_array() && !was["enum"].is_array() {
            self.tell(format!("{told}: only some words are allowed now"));
        }
        if !now["pattern"].is_null() && was["pattern"] != now["pattern"] {
            self.tell(format!("{told}: pattern is {}, was {}", now["pattern"], was["pattern"]));
        }
        for (key, sign) in BOUNDS {
            let value = |of: &Value| of[key].as_f64().map(|value| value * sign);
            let narrowed = value(now).is_some_and(|now| value(was).is_none_or(|was| now > was));
            if narrowed {
                self.tell(format!("{told}: {key} is {}, was {}", now[key], was[key]));
            }
        }
    }

    fn members(
        &mut self,
        told: &str,
        before: &Value,
        after: &Value,
        side: Side,
        within: &mut Vec<String>,
    ) {
        for (name, was) in members(&before["properties"]) {
            match &after["properties"][name] {
                Value::Null => self.tell(format!("{told}: {name} is gone")),
                now => self.schema(&format!("{told}: {name}"), was, now, side, within),
            }
        }
        let (was, now) = (required(before), required(after));
        match side {
            Side::Caller => now.difference(&was).for_each(|name| {
                self.found.insert(format!("{told}: {name} is required now"));
            }),
            Side::Server => was.difference(&now).for_each(|name| {
                self.found.insert(format!("{told}: {name} may be absent now"));
            }),
        }
    }
}

/// Bounds, and which way they narrow.
const BOUNDS: [(&str, f64); 8] = [
    ("minimum", 1.0),
    ("maximum", -1.0),
    ("exclusiveMinimum", 1.0),
    ("exclusiveMaximum", -1.0),
    ("minLength", 1.0),
    ("maxLength", -1.0),
    ("minItems", 1.0),
    ("maxItems", -1.0),
];

fn is_same(one: &Value, other: &Value) -> bool {
    one["name"] == other["name"] && one["in"] == other["in"]
}

fn is_empty(requirement: &Value) -> bool {
    requirement.as_object().is_some_and(serde_json::Map::is_empty)
}

fn required(schema: &Value) -> BTreeSet<&str> {
    items(&schema["required"]).filter_map(Value::as_str).collect()
}

fn members(of: &Value) -> impl Iterator<Item = (&String, &Value)> {
    of.as_object().into_iter().flatten()
}

fn items(of: &Value) -> impl Iterator<Item = &Value> {
    of.as_array().into_iter().flatten()
}

fn text(of: &Value) -> &str {
    of.as_str().unwrap_or_default()
}

fn resolve<'a>(document: &'a Value, of: &'a Value) -> &'a Value {
    let target = of["$ref"].as_str().and_then(|to| document.pointer(to.strip_prefix('#')?));
    target.unwrap_or(of)
}

/// Whether any text of the length of a UUID is allowed.
fn takes_uuids(now: &Value) -> bool {
    let length = |key: &str, default| now[key].as_u64().unwrap_or(default);
    now["type"] == "string"
        && [&now["format"], &now["pattern"], &now["enum"]].into_iter().all(Value::is_null)
        && (length("minLength", 0)..=length("maxLength", u64::MAX)).contains(&36)
}
