//! The additions of Environment and Climate Change Canada to CAP: parameters of its layers 1.0 and
//! 1.1.

use chrono::NaiveDateTime;

use super::super::summary::Summary;
use super::area::place;
use super::document::CapInfo;
use crate::alert;
use crate::alert::{Outcome, Storm};

const LAYERS: [&str; 2] = ["layer:EC-MSC-SMC:1.1:", "layer:EC-MSC-SMC:1.0:"];

/// The value of a parameter; if the layers disagree, the value of the newer layer.
pub(super) fn parameter<'a>(info: &'a CapInfo, name: &str) -> Option<&'a str> {
    LAYERS.into_iter().find_map(|layer| {
        let named = |full: &str| full.strip_prefix(layer) == Some(name);
        let pair = info.parameters.iter().find(|pair| named(&pair.name))?;
        Some(pair.value.as_str()).filter(|value| !value.is_empty())
    })
}

/// Whether a block is ECCC's: its parameters say so.
fn is_own(info: &CapInfo) -> bool {
    info.parameters.iter().any(|pair| pair.name.starts_with("layer:EC-MSC-SMC:"))
}

/// The text in one language.
pub(super) fn words(info: &CapInfo, text: &mut alert::Text) {
    let words = |name| parameter(info, name).map(str::to_owned);
    text.coverage = words("Alert_Coverage");
    text.storm_motion = words("Motion_Description");
    text.storm_position = words("Storm_Position_Description");
    let places = parameter(info, "List_of_Reference_Points").unwrap_or_default();
    let places = places.split(',').map(str::trim).filter(|place| !place.is_empty());
    text.storm_places = places.map(str::to_owned).collect();
}

/// Facts that are the same in every language. Words of scales are in the language of the block.
pub(super) fn facts(info: &CapInfo, part: &mut alert::Part, summary: &mut Summary) {
    let mut word = |name: &'static str, known: bool| {
        if !known && parameter(info, name).is_some() {
            summary.unread_values.add(name);
        }
    };
    if let Some(text) = parameter(info, "Alert_Type") {
        part.alert_type = alert_type(text);
        word("Alert_Type", part.alert_type != alert::Type::Unknown);
    }
    part.colour = parameter(info, "Colour").map(colour).unwrap_or_default();
    word("Colour", part.colour != alert::Colour::Unknown);
    if is_own(info) {
        // ECCC has a scale of its own, and omits it where it has nothing to say. CAP's severity
        // does not replace it.
        part.impact = parameter(info, "MSC_Impact").map(impact).unwrap_or_default();
        word("MSC_Impact", part.impact != alert::Impact::Unknown);
    }
    part.confidence = parameter(info, "MSC_Confidence").map(confidence).unwrap_or_default();
    word("MSC_Confidence", part.confidence != alert::Confidence::Unknown);
    let ranking = parameter(info, "MSC_Risk_Tiered_Ranking");
    part.risk_ranking = ranking.and_then(|text| text.parse().ok());
    word("MSC_Risk_Tiered_Ranking", part.risk_ranking.is_some());
    part.designation_code = parameter(info, "Designation_Code").map(str::to_owned);
    if let Some(storm) = storm(info, summary) {
        part.storm = Some(storm);
    }
}

/// The state of the alert in the areas of a block.
pub(super) fn outcome(info: &CapInfo) -> Option<Outcome> {
    match parameter(info, "Alert_Location_Status")? {
        "ended" => Some(Outcome::Ended),
        "cancelled" => Some(Outcome::Cancelled),
        _ => Some(Outcome::InForce),
    }
}

fn alert_type(text: &str) -> alert::Type {
    match text {
        "warning" => alert::Type::Warning,
        "watch" => alert::Type::Watch,
        "advisory" => alert::Type::Advisory,
        "statement" => alert::Type::Statement,
        _ => alert::Type::Unknown,
    }
}

fn colour(text: &str) -> alert::Colour {
    match text {
        "yellow" | "jaune" => alert::Colour::Yellow,
        "orange" => alert::Colour::Orange,
        "red" | "rouge" => alert::Colour::Red,
        _ => alert::Colour::Unknown,
    }
}

fn impact(text: &str) -> alert::Impact {
    match text {
        "low" | "faible" => alert::Impact::Low,
        "moderate" | "modéré" => alert::Impact::Moderate,
        "high" | "élevé" => alert::Impact::High,
        "extreme" | "extrême" => alert::Impact::Extreme,
        _ => alert::Impact::Unknown,
    }
}

fn confidence(text: &str) -> alert::Confidence {
    match text {
        "low" | "faible" => alert::Confidence::Low,
        "moderate" | "modérée" => alert::Confidence::Moderate,
        "high" | "élevée" => alert::Confidence::High,
        "very high" | "très élevée" => alert::Confidence::VeryHigh,
        _ => alert::Confidence::Unknown,
    }
}

fn storm(info: &CapInfo, summary: &mut Summary) -> Option<Storm> {
    let mut value = |name: &'static str| parameter(info, name);
    let [speed, direction, form, time] =
        ["Storm_Speed", "Storm_Direction", "Storm_Geometry_Type", "Storm_Time"].map(&mut value);
    let points = value("Storm_Points").or(value("Storm_Point"));
    speed.or(direction).or(form).or(time).or(points)?;
    let mut read = |name: &str, text: Option<&str>, is_read: bool| {
        if text.is_some() && !is_read {
            summary.unread_values.add(name);
        }
    };
    let speed_kmh = speed.and_then(speed_kmh);
    read("Storm_Speed", speed, speed_kmh.is_some());
    let direction_deg = direction.and_then(|text| text.parse().ok());
    let direction_deg = direction_deg.filter(|degrees| (0.0..=360.0).contains(degrees));
    read("Storm_Direction", direction, direction_deg.is_some());
    let time_ms = time.and_then(|text| {
        let time = NaiveDateTime::parse_from_str(text.get(..14)?, "%Y%m%d%H%M%S").ok()?;
        Some(time.and_utc().timestamp_millis())
    });
    read("Storm_Time", time, time_ms.is_some());
    let places = points
        .and_then(|text| text.split_ascii_whitespace().map(place).collect::<Option<Vec<_>>>());
    read("Storm_Point", points, places.is_some());
    Some(Storm {
        time_ms,
        speed_kmh,
        direction_deg,
        geometry_type: form.map(str::to_owned),
        points: places.unwrap_or_default(),
    })
}

/// A number and its unit.
fn speed_kmh(text: &str) -> Option<f64> {
    let (number, unit) = text.split_once(' ')?;
    let number: f64 = number.parse().ok()?;
    let speed_kmh = match unit.trim() {
        "km/h" => number,
        _ => return None,
    };
    (0.0..=1_000.0).contains(&speed_kmh).then_some(speed_kmh)
}
