//! What an event is, and its text.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use axum::body::Bytes;
use mesonet::query::json::ReadingsWriter;
use mesonet::query::{ChangedReadings, Readings};
use mesonet::store::{ChangedBatch, ChangedReading, Directory};
use mesonet::{StationId, alert};
use serde::Serialize;

use super::filter::{Events, ListenerFilter};
use crate::state::alerts::{AlertInState, AlertView};

/// How many stations of a batch are in one event. The parts of a batch must be the same when it is
/// sent again, so this number must not change.
const STATIONS: usize = 64;

/// What an event says.
#[derive(Clone, Debug)]
pub enum Content {
    /// A part of what a batch has changed.
    Part(BatchPart),
    /// An alert in its present state.
    Alert(Arc<AlertInState>),
    /// A model run, a raster product or a feed, as it is sent. A run is for those who may use the model.
    Item { events: Events, model: Option<String>, data: Bytes },
    /// What is before this moment cannot be sent.
    Resync(&'static str),
}

/// Some stations of a batch: their new readings, or the older ones with another verdict.
#[derive(Clone, Debug)]
pub struct BatchPart {
    pub batch: Arc<ChangedBatch>,
    stations: Range<usize>,
    are_revised: bool,
}

/// The alerts that were looked at last.
#[derive(Default)]
pub struct KnownAlerts {
    pub view: Option<Arc<AlertView>>,
    /// By id: the message, its state, and a text that changes whenever its event would.
    pub by_id: HashMap<String, (Arc<alert::Message>, alert::AlertState, String)>,
}

/// The data of an event that tells to fetch everything anew.
#[derive(Serialize)]
struct Resync<'a> {
    reason: &'a str,
}

impl BatchPart {
    /// The parts of a batch, with the number of each and whether it is the last one. New readings and
    /// verdicts of the same stations are two parts; parts of nothing are left out.
    pub fn all(batch: &Arc<ChangedBatch>) -> Vec<(u32, Self)> {
        let mut parts = Vec::new();
        for (at, start) in (0..batch.stations.len()).step_by(STATIONS).enumerate() {
            let stations = start..(start + STATIONS).min(batch.stations.len());
            for (own, are_revised) in [(0, false), (1, true)] {
                let part =
                    Self { batch: Arc::clone(batch), stations: stations.clone(), are_revised };
                if part.readings().iter().any(|reading| reading.is_revised == are_revised) {
                    parts.push((2 * at as u32 + own, part));
                }
            }
        }
        parts
    }

    /// All changed readings of its stations.
    fn readings(&self) -> &[ChangedReading] {
        let end = |at: usize| self.batch.stations[at].1;
        let start = self.stations.start.checked_sub(1).map_or(0, end);
        &self.batch.readings[start..self.stations.end.checked_sub(1).map_or(0, end)]
    }

    const fn events(&self) -> Events {
        if self.are_revised { Events::Verdicts } else { Events::Readings }
    }
}

impl Content {
    /// About how much memory it takes.
    pub fn bytes(&self) -> usize {
        const ENTRY: usize = 256;
        ENTRY
            + match self {
                Self::Part(part) => size_of_val(part.readings()) + 32 * part.stations.len(),
                Self::Alert(alert) => {
                    let texts = alert.message.parts.iter().flat_map(|part| &part.texts);
                    texts.map(|text| text.description.len() + text.headline.len()).sum::<usize>()
                        + 2_048
                }
                Self::Item { data, .. } => data.len(),
                Self::Resync(_) => 0,
            }
    }

    /// The text of the event for a filter, without its id; `None` if the filter selects nothing of it.
    pub fn text(
        &self,
        filter: &ListenerFilter,
        now_ms: i64,
        directory: &Directory,
    ) -> Option<Bytes> {
        if !self.is_selected(filter) {
            return None;
        }
        match self {
            Self::Part(part) => part.text(filter, now_ms, directory),
            Self::Alert(alert) => alert_text(alert, filter),
            Self::Item { events, data, .. } => Some(text_of(events.name(), data)),
            Self::Resync(reason) => Some(resync(reason)),
        }
    }

    /// Whether a filter selects it. Of a part of a batch, it selects each reading by itself.
    pub(super) fn is_selected(&self, filter: &ListenerFilter) -> bool {
        match self {
            Self::Alert(alert) => {
                let zones = alert.zones.zones();
                filter.topics.has(Events::Alerts)
                    && filter.alerts.is_met(&alert.message, &alert.state, zones)
            }
            Self::Item { events, model, .. } => {
                let may_have = |model: &String| filter.models.binary_search(model).is_ok();
                filter.topics.has(*events) && model.as_ref().is_none_or(may_have)
            }
            Self::Part(_) | Self::Resync(_) => true,
        }
    }
}

impl BatchPart {
    /// The readings that a filter selects, and what they are; `None` if there are none.
    pub(super) fn selected(
        &self,
        filter: &ListenerFilter,
        now_ms: i64,
        directory: &Directory,
    ) -> Option<(Events, Readings)> {
        let events = self.events();
        if !filter.topics.has(events) {
            return None;
        }
        let is_meant = |id: StationId| filter.stations.has(id, directory);
        let selection = ChangedReadings {
            stations: self.stations.clone(),
            are_revised: self.are_revised,
            names: &filter.names,
            from_ms: filter.earliest_ms(now_ms),
            is_meant: &is_meant,
        };
        let readings = selection.of(&self.batch);
        (!readings.cells.is_empty()).then_some((events, readings))
    }

    fn text(&self, filter: &ListenerFilter, now_ms: i64, directory: &Directory) -> Option<Bytes> {
        let (events, readings) = self.selected(filter, now_ms, directory)?;
        let mut text = head(events.name());
        let written = ReadingsWriter::new(readings).write(&mut text, usize::MAX);
        written.ok()?;
        text.extend_from_slice(b"\n\n");
        Some(text.into())
    }
}

/// The text of an event with an alert.
fn alert_text(alert: &AlertInState, filter: &ListenerFilter) -> Option<Bytes> {
    let feature = alert.feature(filter.language);
    let mut text = head(Events::Alerts.name());
    text.extend_from_slice(br#"{"type":"FeatureCollection","features":["#);
    serde_json::to_writer(&mut text, &feature).ok()?;
    text.extend_from_slice(b"]}\n\n");
    Some(text.into())
}

/// The beginning of an event of a name.
fn head(name: &str) -> Vec<u8> {
    format!("event: {name}\ndata: ").into_bytes()
}

/// The text of an event with data in one line.
pub fn text_of(name: &str, data: &[u8]) -> Bytes {
    let mut text = head(name);
    text.extend_from_slice(data);
    text.extend_from_slice(b"\n\n");
    text.into()
}

/// The text of an event that tells to fetch everything anew, and why.
pub fn resync(reason: &str) -> Bytes {
    let data = serde_json::to_vec(&Resync { reason }).unwrap_or_default();
    text_of("resync", &data)
}
