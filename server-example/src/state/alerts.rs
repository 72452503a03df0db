//! The alerts that are served. The state of each alert is resolved and encoded once per change, not
//! once per request.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use axum::body::Bytes;
use mesonet::alert::{self, Feature};
use mesonet::geo::MultiPolygon;
use mesonet::store::{AlertRecord, AlertStore};

use crate::http::encoding::Effort;
use crate::http::snapshot::{Snapshot, SnapshotError};
use crate::state::alert_clocks::AlertClocks;
use crate::state::zones::ZoneSet;
use mesonet_service::sync::get_or_try_init;

/// A language in which alerts can be requested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    /// English.
    #[default]
    English,
    /// French.
    French,
}

impl Language {
    /// The name in the query, and the primary subtag of its language tags.
    pub const fn name(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::French => "fr",
        }
    }
}

/// An alert in its state at a time.
#[derive(Debug)]
pub struct AlertInState {
    pub message: Arc<alert::Message>,
    pub state: alert::AlertState,
    pub geometry: Option<Arc<MultiPolygon>>,
    pub zones: Arc<ZoneSet>,
}

impl AlertInState {
    /// The alert as `/alerts` gives it.
    pub fn feature(&self, language: Language) -> Feature<'_> {
        let (geometry, zones) = (self.geometry.as_deref(), self.zones.zones());
        Feature::drawn(&self.message, &self.state, geometry, zones, language.name())
    }
}

/// The alerts of the record with their state at a time.
pub struct AlertView {
    record: Arc<AlertRecord>,
    zones: Arc<ZoneSet>,
    clocks: AlertClocks,
    /// The state of each alert stays the same until this time, by the clock of the server.
    until_ms: i64,
    states: Vec<alert::AlertState>,
    /// The geometry of each alert.
    geometries: Vec<Option<Arc<MultiPolygon>>>,
    /// Places of the alerts whose outlines are not known.
    missing: BTreeSet<String>,
    /// By [`Language`].
    encoded: [OnceLock<Encoded>; 2],
    /// The whole answer in English, compressed in the background.
    snapshot: OnceLock<Snapshot>,
    /// That of the alerts before.
    replaced: Option<Snapshot>,
}

/// The answer with all alerts, the latest sent first, and the position of each alert in it.
struct Encoded {
    body: Bytes,
    features: Vec<Range<usize>>,
}

const HEAD: &[u8] = br#"{"type":"FeatureCollection","features":["#;
const TAIL: &[u8] = b"]}";

impl AlertView {
    /// Returns the alerts of a record at a time. Geometries that were computed before are reused.
    pub fn new(
        record: Arc<AlertRecord>,
        zones: Arc<ZoneSet>,
        clocks: AlertClocks,
        before: Option<&Self>,
    ) -> Self {
        let messages: Vec<&alert::Message> =
            record.messages.iter().map(|message| &**message).collect();
        let (states, until_ms) = clocks.resolve(&messages);
        let missing = messages
            .iter()
            .flat_map(|message| alert::missing_zones(message, zones.zones()))
            .map(str::to_owned)
            .collect();
        let geometries = geometries(&record, &states, &zones, before);
        let replaced = before.and_then(|before| before.snapshot().or(before.replaced.as_ref()));
        let replaced = replaced.cloned();
        let (encoded, snapshot) = <_>::default();
        Self {
            record,
            zones,
            clocks,
            until_ms,
            states,
            geometries,
            missing,
            encoded,
            snapshot,
            replaced,
        }
    }

    /// Logs the places whose outlines are not known, unless they were logged before.
    pub fn log_missing(&self, before: Option<&Self>) {
        let known = before.map(|before| &before.missing);
        let new =
            self.missing.iter().filter(|code| known.is_none_or(|known| !known.contains(*code)));
        let new: Vec<&str> = new.map(String::as_str).collect();
        if !new.is_empty() {
            tracing::warn!(
                "alerts name places whose outlines are not known: {}; a newer file of zones may have \
                 them (--zones)",
                new.join(", "),
            );
        }
    }

    /// Whether the record and the states of its alerts are still the same.
    pub fn is_current(&self, store: &AlertStore, clocks: AlertClocks) -> bool {
        self.clocks.is_same_until(self.until_ms, &clocks)
            && self.record.generation == store.record().generation
    }

    /// Every alert in its state.
    pub fn all(&self) -> impl Iterator<Item = AlertInState> {
        let states = self.states.iter().zip(&self.geometries);
        let with_states = self.record.messages.iter().zip(states);
        with_states.map(|(message, (state, geometry))| AlertInState {
            message: Arc::clone(message),
            state: state.clone(),
            geometry: geometry.clone(),
            zones: Arc::clone(&self.zones),
        })
    }

    /// The whole answer in English in every encoding, once it is made.
    pub fn snapshot(&self) -> Option<&Snapshot> {
        self.snapshot.get()
    }

    /// Makes the snapshot.
    ///
    /// # Errors
    /// The snapshot could not be encoded or compressed.
    pub fn make_snapshot(&self) -> Result<(), SnapshotError> {
        get_or_try_init(&self.snapshot, || -> Result<_, SnapshotError> {
            let (body, replaced) = (&self.encoded(Language::English)?.body, self.replaced.as_ref());
            Ok(Snapshot::new(body.clone(), "no-cache", Effort::Thorough, replaced)?)
        })?;
        Ok(())
    }

    /// Returns the selected alerts in a language, as GeoJSON.
    ///
    /// # Errors
    /// The alerts could not be encoded.
    pub fn answer(&self, query: &alert::Query, language: Language) -> Result<Bytes, SnapshotError> {
        let Encoded { body, features } = self.encoded(language)?;
        if *query == alert::Query::default() {
            return Ok(body.clone());
        }
        let zones = self.zones.zones();
        let newest_first = self.record.messages.iter().zip(&self.states).rev();
        let meant: Vec<&Range<usize>> = newest_first
            .zip(features)
            .filter(|((message, state), _)| query.is_met(message, state, zones))
            .map(|(_, feature)| feature)
            .collect();
        let length: usize = meant.iter().map(|feature| feature.len() + 1).sum();
        let mut answer = Vec::with_capacity(HEAD.len() + length + TAIL.len());
        answer.extend_from_slice(HEAD);
        for (i, feature) in meant.into_iter().enumerate() {
            if i > 0 {
                answer.push(b',');
            }
            answer.extend_from_slice(&body[feature.clone()]);
        }
        answer.extend_from_slice(TAIL);
        Ok(answer.into())
    }

    fn encoded(&self, language: Language) -> Result<&Encoded, SnapshotError> {
        get_or_try_init(&self.encoded[language as usize], || self.encode(language))
    }

    fn encode(&self, language: Language) -> Result<Encoded, SnapshotError> {
        let mut body = HEAD.to_vec();
        let mut features = Vec::with_capacity(self.states.len());
        let with_states = self.record.messages.iter().zip(&self.states).zip(&self.geometries);
        for ((message, state), geometry) in with_states.rev() {
            if !features.is_empty() {
                body.push(b',');
            }
            let start = body.len();
            let (geometry, zones) = (geometry.as_deref(), self.zones.zones());
            let feature = Feature::drawn(message, state, geometry, zones, language.name());
            serde_json::to_writer(&mut body, &feature)?;
            features.push(start..body.len());
        }
        body.extend_from_slice(TAIL);
        Ok(Encoded { body: body.into(), features })
    }
}

/// The geometry of each alert. An alert that was there before, in the same state, keeps its
/// geometry: dissolving outlines takes about a millisecond.
fn geometries(
    record: &AlertRecord,
    states: &[alert::AlertState],
    zones: &Arc<ZoneSet>,
    before: Option<&AlertView>,
) -> Vec<Option<Arc<MultiPolygon>>> {
    let before = before.filter(|before| Arc::ptr_eq(&before.zones, zones));
    let known: HashMap<_, _> = before
        .iter()
        .flat_map(|before| {
            let states = before.states.iter().zip(&before.geometries);
            let messages = before.record.messages.iter().map(Arc::as_ptr);
            messages.zip(states)
        })
        .collect();
    let geometry = |(message, state): (&Arc<alert::Message>, &alert::AlertState)| match known
        .get(&Arc::as_ptr(message))
    {
        Some((before, geometry)) if before.areas == state.areas => (*geometry).clone(),
        _ => alert::geometry(message, state, zones.zones()).map(Arc::new),
    };
    record.messages.iter().zip(states).map(geometry).collect()
}
