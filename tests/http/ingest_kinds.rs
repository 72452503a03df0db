//! The kind of a field: a product takes only fields of its own kind, even if others have its
//! parameter, level and time.

use mesonet::access::Plan;
use serde_json::Value;

use crate::crafted::Message;
use crate::model_pushes::ModelPushes;

const MODELS: &str = r#"
    [pressure]
    title = "p"
    access = { plan = "none" }
    hours = "0-3"
    products = [
        { name = "pressure", unit = "Pa", scale = 1.0, offset = 98000.0, parameter = "7:0.3.1", level = "101" },
        { name = "mean", field = "mean", unit = "Pa", scale = 1.0, offset = 98000.0, parameter = "7:0.3.1", level = "101" },
        { name = "spread", field = "spread", unit = "Pa", scale = 0.01, parameter = "7:0.3.1", level = "101" },
        { name = "median", field = "percentile:50", unit = "Pa", scale = 1.0, offset = 98000.0, parameter = "7:0.3.1", level = "101" },
        { name = "is_low", field = "probability:below:99000", unit = "%", scale = 0.01, parameter = "7:0.3.1", level = "101" },
        { name = "control", field = "member:0", unit = "Pa", scale = 1.0, offset = 98000.0, parameter = "7:0.3.1", level = "101" },
        { name = "corrected", process = 3, unit = "Pa", scale = 1.0, offset = 98000.0, parameter = "7:0.3.1", level = "101" },
        { name = "ozone", constituent = 0, unit = "Pa", scale = 1.0, offset = 98000.0, parameter = "7:0.3.1", level = "101" },
    ]
"#;

const QUERY: &str = "model=pressure";

/// The products, and a value of its own for each.
const KINDS: [(&str, f32); 8] = [
    ("pressure", 101_000.0),
    ("mean", 102_000.0),
    ("spread", 150.0),
    ("median", 103_000.0),
    ("is_low", 20.0),
    ("control", 104_000.0),
    ("corrected", 105_000.0),
    ("ozone", 106_000.0),
];

fn service() -> ModelPushes {
    ModelPushes::new(MODELS, Plan::None)
}

fn value(service: &ModelPushes, product: &str) -> Value {
    let path = format!(
        "/models/pressure/point?run=20180917T000000Z&hour=0&row=40&col=20&fields={product}"
    );
    service.json(&path)["fields"][product]["value"].clone()
}

/// The message of a product: its template, its process and its value.
fn message(product: &str) -> Message {
    let (_, value) = KINDS.into_iter().find(|(name, _)| *name == product).unwrap();
    let message = Message::pressure().of_value(value);
    // 99 · 10³, the upper limit; the lower one is missing.
    let below = [0, 1, 4, 255, 255, 255, 255, 255, 0x83, 0, 0, 0, 99];
    match product {
        "mean" => message.of_template(2, &[0, 21]),
        "spread" => message.of_template(2, &[4, 21]),
        "median" => message.of_template(6, &[50]),
        "is_low" => message.of_template(5, &below),
        "control" => message.of_template(1, &[1, 0, 21]),
        "corrected" => message.with(4, 12, &[3]),
        "ozone" => of_constituent(message, 0),
        _ => message,
    }
}

/// Template 40 has two octets of the constituent after the parameter.
fn of_constituent(message: Message, constituent: u16) -> Message {
    let section = message.section_bytes(4);
    let [high, low] = constituent.to_be_bytes();
    let after = [&[high, low], &section[11..34]].concat();
    message.of_template(40, &[0, 0]).with(4, 12, &after)
}

#[test]
fn the_spread_does_not_take_the_place_of_the_temperature() {
    let service = service();
    service.summary(QUERY, message("pressure").bytes());
    for (product, _) in KINDS {
        service.summary(QUERY, message(product).bytes());
    }
    for (product, expected) in KINDS {
        assert_eq!(value(&service, product), f64::from(expected), "{product}");
    }
}

#[test]
fn a_field_of_another_kind_alone_leaves_the_product_without_values() {
    for (other, _) in &KINDS[1..] {
        let service = service();
        service.summary(QUERY, message(other).bytes());
        assert_eq!(value(&service, "pressure"), Value::Null, "{other}");
    }
}

#[test]
fn what_differs_from_the_nearest_product_is_said() {
    let service = service();
    let none = "-: none of its fields belongs to a product of model pressure; it holds 7:0.3.1; \
                field 1 (7:0.3.1): ";
    let base = Message::pressure;
    for (message, difference) in [
        (base().of_template(6, &[90]), "it is percentile:90; "),
        (base().of_template(1, &[3, 7, 21]), "it is member:7; "),
        (base().of_template(2, &[193, 21]), "it is derived:193; "),
        (base().of_template(7, &[]), "it is error; "),
        (base().with(4, 12, &[9]), "its process is 9; "),
        (of_constituent(base(), 5), "its constituent is 5; "),
        (base().with(4, 23, &[103]), "its level is 103"),
    ] {
        let refusal = service.refused(QUERY, message.bytes());
        assert!(refusal.starts_with(&format!("{none}{difference}")), "{refusal}");
    }
}

#[test]
fn a_template_that_is_not_read_is_refused_by_name() {
    let service = service();
    let aerosols = [44, 45, 46, 47, 48, 49].map(|template| (template, "aerosol"));
    let others = [(32, "simulated satellite"), (3, "a cluster"), (67, "particles")];
    for (template, name) in aerosols.into_iter().chain(others) {
        let refusal =
            service.refused(QUERY, Message::pressure().of_template(template, &[0; 40]).bytes());
        let expected = format!("-: field 1 (7:0.3.1): unsupported product template ({name}");
        assert!(refusal.starts_with(&expected), "{refusal}");
        assert!(refusal.contains(&format!(" {template}; ")), "{refusal}");
    }
}
