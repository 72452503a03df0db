//! The stream of events: what changes, as it changes.
//!
//! All listeners read the same events from one ring in memory, each at its own place. So an event is
//! in memory once, and a slow listener costs the others nothing: once the ring has gone past its
//! place, it gets `resync` and fetches anew what it shows. A client that comes back goes on where it
//! was, from the ring, or from the record if the ring no longer has it.
//!
//! | What | Where |
//! | --- | --- |
//! | The events of the last moments | `ring.rs` |
//! | What an event is, and its text | `event.rs`, `encoded.rs` |
//! | What a listener wants | `filter.rs` |
//! | The events from a place in the stream on | `subscriber.rs` |
//! | One listener | `listener.rs` |
//! | From the record to the ring | `publish.rs` |
//! | Model runs and raster products on disk | `items.rs` |
//! | From the log of events to webhooks | `webhooks.rs` |
//! | Events as messages of MQTT (feature `mqtt`) | `mqtt.rs`, `mqtt_readings.rs` |

mod encoded;
mod event;
mod filter;
mod items;
mod listener;
#[cfg(feature = "mqtt")]
mod mqtt;
#[cfg(feature = "mqtt")]
mod mqtt_readings;
mod publish;
mod ring;
mod subscriber;
mod webhooks;

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mesonet_service::live::{EventId, EventLog, EventLogError, InvalidEventId, Position, Reach};
use tokio::sync::watch;

use crate::config::Config;
use crate::limits::ClientAddr;
use encoded::EncodedEvents;
use event::KnownAlerts;
use mesonet_service::sync::lock;

use filter::SharedFilters;
pub use filter::{Events, ListenerFilter, ListenerStations, TopicSet};
use items::KnownItems;
pub use listener::Listener;
use ring::Ring;

/// The limits of the stream.
#[derive(Clone, Copy, Debug)]
pub struct LiveLimits {
    /// Maximum number of listeners.
    pub listeners: usize,
    /// Maximum number of listeners of one client address.
    pub of_client: usize,
    /// How long nothing is sent, at most.
    pub heartbeat: Duration,
    /// Memory of the ring.
    pub memory_bytes: usize,
}

impl LiveLimits {
    /// The limits in the settings.
    pub fn of(config: &Config) -> Self {
        Self {
            listeners: config.live_listeners,
            of_client: config.live_address_listeners,
            heartbeat: Duration::from_secs(config.live_heartbeat_s),
            memory_bytes: config.live_memory_bytes,
        }
    }
}

/// Why a caller may not listen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TooMany {
    /// There are too many listeners.
    #[error("{0} callers listen already; the limit live_listeners is {0}")]
    InAll(usize),
    /// The client address has too many listeners.
    #[error("{0} callers of this address listen already; the limit live_address_listeners is {0}")]
    OfClient(usize),
}

/// The stream of events of a server.
pub struct Live {
    limits: LiveLimits,
    ring: Mutex<Ring>,
    /// The end of the ring. Listeners wait for a change of it.
    end: watch::Sender<u64>,
    /// What was published, across restarts.
    log: EventLog,
    items: Mutex<KnownItems>,
    /// The name of the record that is followed.
    record: Mutex<String>,
    alerts: Mutex<KnownAlerts>,
    encoded: EncodedEvents,
    filters: SharedFilters,
    /// The number of listeners, in all and of each client address.
    listeners: Mutex<HashMap<ClientAddr, usize>>,
    pub counts: Counts,
    is_closed: AtomicBool,
}

/// What the metrics tell.
#[derive(Debug, Default)]
pub struct Counts {
    /// The number of listeners.
    pub listeners: AtomicUsize,
    /// Events that were sent, to each listener.
    pub events: AtomicU64,
    /// How often a listener got `resync`.
    pub resyncs: AtomicU64,
    /// Callers that were refused because there were too many.
    pub refused: AtomicU64,
}

impl Live {
    /// Begins the stream after the last batch of a record. `folder` is where the log is; without
    /// one, it ends with the process.
    ///
    /// # Errors
    /// There is no memory for it.
    pub fn new(
        limits: LiveLimits,
        folder: Option<&Path>,
        last_batch: u64,
        record: &str,
    ) -> Result<Self, EventLogError> {
        let kept = folder.and_then(|folder| {
            let opened = EventLog::open(folder, last_batch, record);
            // The record is served all the same.
            opened
                .inspect_err(|error| {
                    tracing::error!("{error}; callers of /live cannot go on after a restart");
                })
                .ok()
        });
        let log = kept.map_or_else(|| EventLog::in_memory(last_batch), Ok)?;
        let now = Position { batch: (last_batch, 0), item: log.last() };
        Ok(Self {
            ring: Mutex::new(Ring::new(now, limits.memory_bytes)),
            limits,
            end: watch::Sender::new(0),
            log,
            items: Mutex::default(),
            record: Mutex::new(record.to_owned()),
            alerts: Mutex::default(),
            encoded: EncodedEvents::default(),
            filters: SharedFilters::default(),
            listeners: Mutex::default(),
            counts: Counts::default(),
            is_closed: AtomicBool::new(false),
        })
    }

    /// Changes with every event, and at the end of the stream.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.end.subscribe()
    }

    /// Ends all listeners, and takes no more.
    pub fn close(&self) {
        self.is_closed.store(true, Ordering::Release);
        self.end.send_modify(|_| {});
    }

    /// Whether the stream has ended.
    pub fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Acquire)
    }

    /// The position after everything that was published.
    fn now(&self) -> Position {
        lock(&self.ring).now
    }

    /// Changes the ring, and wakes all listeners.
    fn change(&self, change: impl FnOnce(&mut Ring)) {
        let end = {
            let mut ring = lock(&self.ring);
            change(&mut ring);
            ring.end()
        };
        self.end.send_if_modified(|known| {
            let is_new = *known != end;
            *known = end;
            is_new
        });
    }

    /// Gives a caller a place among the listeners.
    ///
    /// # Errors
    /// There are too many.
    fn admit(self: &Arc<Self>, client_addr: ClientAddr) -> Result<Place, TooMany> {
        let mut listeners = lock(&self.listeners);
        let refusal = if self.counts.listeners.load(Ordering::Relaxed) >= self.limits.listeners {
            Some(TooMany::InAll(self.limits.listeners))
        } else if listeners.get(&client_addr).is_some_and(|&of| of >= self.limits.of_client) {
            Some(TooMany::OfClient(self.limits.of_client))
        } else {
            None
        };
        if let Some(refusal) = refusal {
            self.counts.refused.fetch_add(1, Ordering::Relaxed);
            return Err(refusal);
        }
        *listeners.entry(client_addr).or_default() += 1;
        self.counts.listeners.fetch_add(1, Ordering::Relaxed);
        Ok(Place { live: Arc::clone(self), client_addr })
    }

    /// Finds out where a caller with an id goes on.
    ///
    /// # Errors
    /// Why it cannot, in a sentence for the caller.
    fn resume(&self, id: &str) -> Result<Position, String> {
        let id: EventId = id.parse().map_err(|error: InvalidEventId| error.to_string())?;
        // Items get their numbers before they are in the ring.
        let now = Position { item: self.log.last(), ..self.now() };
        match self.log.reach(id, &now) {
            Ok(Reach::Known) => Ok(id.position),
            Ok(Reach::OfAnother) => Err("the id is of another record, or too old".to_owned()),
            Ok(Reach::Undone) => {
                Err("the record went back to a state from before the event".to_owned())
            }
            Err(error) => {
                tracing::error!("{error}");
                Err("the log of what was sent cannot be read".to_owned())
            }
        }
    }
}

/// A place among the listeners, given back on drop.
struct Place {
    live: Arc<Live>,
    client_addr: ClientAddr,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut listeners = lock(&self.live.listeners);
        if let Some(of) = listeners.get_mut(&self.client_addr) {
            *of -= 1;
            if *of == 0 {
                listeners.remove(&self.client_addr);
            }
        }
        self.live.counts.listeners.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
#[path = "live_tests.rs"]
mod tests;
