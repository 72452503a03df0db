//! Official alerts: their messages, and the state of the messages at a time.

use std::collections::BTreeMap;

use mesonet::alert::{AlertState, Clock, Feature, Message, Query, resolve};
use mesonet::feed::{Summary, read_cap, read_nws_alerts};
use mesonet::store::AlertStore;
use mesonet::zone::Zones;
use mesonet::{BBox, LonLat};
use serde_json::json;
use wasm_bindgen::prelude::*;

/// The messages of files, each id once, in the order they were sent; and the zones whose outlines
/// are known.
#[wasm_bindgen]
pub struct AlertMessages {
    store: AlertStore,
    zones: Zones,
}

#[wasm_bindgen]
impl AlertMessages {
    /// No messages yet.
    #[wasm_bindgen(constructor)]
    pub fn new(zones: Option<Vec<u8>>) -> Result<Self, JsError> {
        let zones = zones.map(|bundle| Zones::from_bundle(&bundle)).transpose()?;
        Ok(Self { store: AlertStore::default(), zones: zones.unwrap_or_default() })
    }

    /// Adds the messages of a file of the Common Alerting Protocol; returns how it was read.
    pub fn add_cap(&self, content: &[u8]) -> Result<String, JsError> {
        let mut messages = Vec::new();
        let summary = read_cap(content, |message| messages.push(message))?;
        self.store.append(messages)?;
        summary_of(&summary)
    }

    /// Adds the messages of a file of api.weather.gov; returns how it was read.
    pub fn add_nws_alerts(&self, content: &[u8]) -> Result<String, JsError> {
        let mut messages = Vec::new();
        let summary = read_nws_alerts(content, |message| messages.push(message))?;
        self.store.append(messages)?;
        summary_of(&summary)
    }

    /// The messages, with the member names of the core.
    pub fn messages(&self) -> Result<String, JsError> {
        let record = self.store.record();
        let messages: Vec<&Message> = record.messages.iter().map(AsRef::as_ref).collect();
        Ok(serde_json::to_string(&messages)?)
    }

    /// The state of each message, in the order they were sent.
    pub fn states(&self, at_ms: f64, is_replay: bool) -> Result<String, JsError> {
        let record = self.store.record();
        let messages: Vec<&Message> = record.messages.iter().map(AsRef::as_ref).collect();
        let states = resolve(&messages, clock(at_ms, is_replay));
        let summary_of = messages.iter().zip(states).map(|(message, state)| {
            let AlertState { status, areas, next_ids } = state;
            let Message { id, message_type, sent_ms, references, .. } = message;
            json!({
                "id": id,
                "messageType": message_type,
                "status": status,
                "sentMs": sent_ms,
                "previousIds": references,
                "nextIds": next_ids,
                "areas": areas,
            })
        });
        Ok(serde_json::to_string(&summary_of.collect::<Vec<_>>())?)
    }

    /// The alerts that meet the conditions, the latest sent first, as GeoJSON. `sides` are west,
    /// south, east and north, `place` longitude and latitude.
    #[expect(clippy::needless_pass_by_value, reason = "optional arrays come by value only")]
    pub fn geojson(
        &self,
        at_ms: f64,
        is_replay: bool,
        is_active: bool,
        language: &str,
        sides: Option<Vec<f64>>,
        place: Option<Vec<f64>>,
    ) -> Result<String, JsError> {
        let bbox = match sides.as_deref() {
            Some(&[west, south, east, north]) => Some(BBox::new(west, south, east, north)?),
            _ => None,
        };
        let place = match place.as_deref() {
            Some(&[lon, lat]) => Some(LonLat::new(lon, lat)?),
            _ => None,
        };
        let query = Query::default().is_active(is_active).bbox(bbox).at(place);
        let record = self.store.record();
        let found = query.select(&record.messages, clock(at_ms, is_replay), &self.zones);
        let newest_first = found.iter().rev();
        let features: Vec<Feature<'_>> = newest_first
            .map(|(message, state)| Feature::new(message, state, &self.zones, language))
            .collect();
        let features = serde_json::to_string(&features)?;
        Ok(format!(r#"{{"type":"FeatureCollection","features":{features}}}"#))
    }
}

fn clock(at_ms: f64, is_replay: bool) -> Clock {
    let at_ms = at_ms as i64;
    if is_replay { Clock::replay(at_ms) } else { Clock::live(at_ms) }
}

/// How a file was read.
fn summary_of(of: &Summary) -> Result<String, JsError> {
    let Summary { read, refused, refusals, unread_values, .. } = of;
    let refusals: Vec<String> = refusals.iter().map(ToString::to_string).collect();
    let unread_values: BTreeMap<&str, u64> = unread_values.iter().collect();
    let summary_of = json!({
        "read": read, "refused": refused, "refusals": refusals, "unreadValues": unread_values,
    });
    Ok(serde_json::to_string(&summary_of)?)
}
