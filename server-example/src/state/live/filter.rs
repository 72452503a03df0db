//! What a listener wants.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

use mesonet::access::{GRACE_MS, Limits, Plan};
use mesonet::query::StationFilter;
use mesonet::store::Directory;
use mesonet::{StationId, Variable, alert};

use crate::state::alerts::Language;
use mesonet_service::sync::lock;

/// The kinds of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Events {
    Readings,
    Verdicts,
    Alerts,
    Runs,
    Products,
    Feeds,
}

impl Events {
    /// Every kind.
    pub const ALL: [Self; 6] =
        [Self::Readings, Self::Verdicts, Self::Alerts, Self::Runs, Self::Products, Self::Feeds];

    /// The name on the wire: of the topic, and of its events.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Readings => "readings",
            Self::Verdicts => "verdicts",
            Self::Alerts => "alerts",
            Self::Runs => "runs",
            Self::Products => "products",
            Self::Feeds => "feeds",
        }
    }
}

/// A set of kinds of events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TopicSet(u8);

impl TopicSet {
    /// Whether a kind is in it.
    pub const fn has(self, events: Events) -> bool {
        self.0 & (1 << events as u8) != 0
    }

    /// The names of its kinds.
    pub fn names(self) -> Vec<&'static str> {
        Events::ALL.into_iter().filter(|&of| self.has(of)).map(Events::name).collect()
    }
}

impl FromIterator<Events> for TopicSet {
    fn from_iter<I: IntoIterator<Item = Events>>(topics: I) -> Self {
        Self(topics.into_iter().fold(0, |set, of| set | 1 << of as u8))
    }
}

/// The stations that a listener wants.
#[derive(Clone, Debug)]
pub enum ListenerStations {
    /// These, sorted.
    Named(Vec<StationId>),
    /// Those that match when their readings come.
    Matching(StationFilter),
}

impl ListenerStations {
    /// Whether a station is one of them.
    pub fn has(&self, id: StationId, directory: &Directory) -> bool {
        match self {
            Self::Named(ids) => ids.binary_search(&id).is_ok(),
            Self::Matching(filter) => filter.is_empty() || filter.is_met(directory, id),
        }
    }
}

/// What a listener wants, and may have.
#[derive(Clone, Debug)]
pub struct ListenerFilter {
    pub topics: TopicSet,
    /// The stations of readings and verdicts.
    pub stations: ListenerStations,
    /// The variables of readings and verdicts.
    pub names: Vec<Variable>,
    /// How far back the readings and verdicts may be.
    pub plan: Plan,
    pub alerts: alert::Query,
    pub language: Language,
    /// The models whose runs the listener may see, sorted.
    pub models: Vec<String>,
}

impl ListenerFilter {
    /// The time of the earliest reading that the listener may have.
    pub fn earliest_ms(&self, now_ms: i64) -> i64 {
        let reach_ms = Limits::of(self.plan).max_reach_ms;
        reach_ms.map_or(i64::MIN, |reach_ms| now_ms.saturating_sub(reach_ms + GRACE_MS))
    }
}

/// A filter that all listeners who want the same share, so that their events are encoded once.
#[derive(Debug)]
pub struct SharedFilter {
    pub number: u64,
    pub filter: ListenerFilter,
}

/// The filters of all listeners.
#[derive(Debug, Default)]
pub struct SharedFilters {
    next: AtomicU64,
    known: Mutex<HashMap<String, Weak<SharedFilter>>>,
}

impl SharedFilters {
    /// Returns the filter that says the same as another one.
    pub fn share(&self, filter: ListenerFilter) -> Arc<SharedFilter> {
        // All that it says is in this text.
        let text = format!("{filter:?}");
        let mut known = lock(&self.known);
        if let Some(shared) = known.get(&text).and_then(Weak::upgrade) {
            return shared;
        }
        known.retain(|_, shared| shared.strong_count() > 0);
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let shared = Arc::new(SharedFilter { number, filter });
        known.insert(text, Arc::downgrade(&shared));
        shared
    }
}
