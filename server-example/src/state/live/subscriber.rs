//! The events from a place in the stream on, one after the other. What the ring no longer has is read
//! from the record.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use mesonet::store::{ChangeLog, Changes, StoreError};
use mesonet_service::live::Position;
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use super::Live;
use super::event::{BatchPart, Content};
use super::publish::after_part;
use super::ring::{Entry, RingRead};
use crate::state::State;
use mesonet_service::sync::lock;

/// How much of the record is read at once for a subscriber that comes back.
const READ_BYTES: usize = 64 << 10;

/// How long a patient subscriber waits after the record could not be read.
const AFTER_FAILURE: Duration = Duration::from_secs(5);

const TOO_SLOW: &str = "the events came faster than they were read";
const SEALED: &str = "the record no longer tells the events after the id apart";
const LOST: &str = "a part of the record after the id is damaged";
const UNREADABLE: &str = "the record cannot be read at present";

/// An event for a subscriber.
pub enum Event {
    /// An event of the ring.
    Shared(Arc<Entry>),
    /// An event of the record, or the news that events are missing.
    Own(Content),
}

impl Event {
    /// What it says.
    pub fn content(&self) -> &Content {
        match self {
            Self::Shared(entry) => &entry.content,
            Self::Own(content) => content,
        }
    }
}

/// A place in the stream.
pub struct Subscriber {
    state: Arc<State>,
    live: Arc<Live>,
    /// The position after the last event, and after what made none.
    pub at: Position,
    /// The number of the next event in the ring.
    next: u64,
    /// Whether it needs what the ring no longer has from the record.
    is_behind: bool,
    /// Whether it reads from the record what it is too slow for, instead of leaving it out.
    is_patient: bool,
    /// Events that come next, with the position after each.
    waiting: VecDeque<(Position, Event)>,
    end: watch::Receiver<u64>,
}

impl Subscriber {
    /// Begins after the event with an id if there is one, and otherwise now. The result also says why
    /// it could not begin after that event.
    pub fn new(state: &Arc<State>, last_id: Option<&str>) -> (Self, Result<(), String>) {
        let live = Arc::clone(&state.live);
        let end = live.end.subscribe();
        // Before the end of the ring is read: what comes in between is sent.
        let resumed = last_id.map(|id| live.resume(id)).transpose();
        let (now, first, last, before) = {
            let ring = lock(&live.ring);
            (ring.now, ring.first, ring.end(), ring.before)
        };
        let (at, next, is_behind) = match resumed {
            Ok(Some(at)) => (at, first, !before.is_within(&at)),
            Ok(None) | Err(_) => (now, last, false),
        };
        let state = Arc::clone(state);
        let waiting = VecDeque::new();
        let is_patient = false;
        (Self { state, live, at, next, is_behind, is_patient, waiting, end }, resumed.map(|_| ()))
    }

    /// The same, reading from the record what it is too slow for.
    #[cfg(feature = "mqtt")]
    #[must_use]
    pub fn patient(self) -> Self {
        Self { is_patient: true, ..self }
    }

    /// The next event; `None` if there is none until a time, or if the stream has ended. It may be
    /// dropped while it waits.
    pub async fn next(&mut self, until: Instant) -> Option<Event> {
        while !self.live.is_closed() {
            if let Some((position, event)) = self.waiting.pop_front() {
                self.at = position;
                return Some(event);
            }
            if self.is_behind {
                self.catch_up().await;
                continue;
            }
            self.end.borrow_and_update();
            let found = lock(&self.live.ring).starting_at(self.next);
            match found {
                RingRead::Entries(entries) => self.take(entries),
                RingRead::Gone if self.is_patient => self.is_behind = true,
                RingRead::Gone => self.begin_anew(TOO_SLOW),
                RingRead::Nothing(now) => {
                    self.pass(now);
                    timeout_at(until, self.end.changed()).await.ok()?.ok()?;
                }
            }
        }
        None
    }

    /// Waits until a time, or until the stream changes.
    #[cfg(feature = "mqtt")]
    pub async fn rest(&mut self, until: Instant) {
        self.end.borrow_and_update();
        let _ = timeout_at(until, self.end.changed()).await;
    }

    /// Goes on to a position at which there is nothing for it.
    fn pass(&mut self, now: Position) {
        // What it has from the record may be ahead of the ring.
        self.at.batch = self.at.batch.max(now.batch);
        self.at.item = self.at.item.max(now.item);
    }

    /// Takes events of the ring that it has not received.
    fn take(&mut self, entries: Vec<Arc<Entry>>) {
        let mut at = self.at;
        for entry in entries {
            self.next = entry.number + 1;
            let position = entry.position;
            let is_new = match entry.content {
                Content::Part(_) => position.batch > at.batch,
                Content::Alert(_) | Content::Item { .. } => position.item > at.item,
                Content::Resync(_) => !position.is_within(&at),
            };
            at.batch = at.batch.max(position.batch);
            at.item = at.item.max(position.item);
            if is_new {
                self.waiting.push_back((at, Event::Shared(entry)));
            }
        }
        if self.waiting.is_empty() {
            self.at = at;
        }
    }

    /// Goes on at the end of the ring.
    fn begin_anew(&mut self, reason: &'static str) {
        let (now, end) = {
            let ring = lock(&self.live.ring);
            (ring.now, ring.end())
        };
        self.is_behind = false;
        self.next = end;
        self.waiting.push_back((now, Event::Own(Content::Resync(reason))));
    }

    /// Reads some of what the ring no longer has from the record.
    async fn catch_up(&mut self) {
        let (before, first) = {
            let ring = lock(&self.live.ring);
            (ring.before, ring.first)
        };
        if self.at.item < before.item {
            let (state, after) = (Arc::clone(&self.state), self.at.item);
            let items = self.state.look_up(move |_| state.items_after(after)).await;
            match items {
                Ok((items, last)) => {
                    for (number, content) in items {
                        let at = Position { item: number, ..self.at };
                        self.waiting.push_back((at, Event::Own(content)));
                    }
                    match self.waiting.back_mut() {
                        Some((at, _)) => at.item = last,
                        None => self.at.item = last,
                    }
                }
                Err(_) => self.unreadable().await,
            }
            return;
        }
        if self.at.batch >= before.batch {
            self.is_behind = false;
            self.next = first;
            return;
        }
        let after = self.at.batch.0;
        let read = self.state.look_up(move |state| changes_after(state, after)).await;
        match read {
            Ok(Ok(Some(changes))) => self.take_changes(changes),
            Ok(Ok(None)) => self.begin_anew(SEALED),
            Ok(Err(error)) => {
                tracing::error!("{error}");
                self.unreadable().await;
            }
            Err(_) => self.unreadable().await,
        }
    }

    /// A patient subscriber tries again later; another one begins anew.
    async fn unreadable(&mut self) {
        if self.is_patient {
            tokio::time::sleep(AFTER_FAILURE).await;
        } else {
            self.begin_anew(UNREADABLE);
        }
    }

    fn take_changes(&mut self, changes: Changes) {
        let mut at = self.at;
        if changes.known_after > at.batch.0 {
            return self.begin_anew(SEALED);
        }
        if changes.batches.is_empty() {
            return self.begin_anew(LOST);
        }
        for batch in changes.batches {
            if batch.after > at.batch.0 {
                return self.begin_anew(LOST);
            }
            let batch = Arc::new(batch);
            let parts = BatchPart::all(&batch);
            let last = parts.last().map(|(part, _)| *part);
            for (part, content) in parts {
                let after = after_part(batch.number, part, last);
                if after > at.batch {
                    at.batch = after;
                    self.waiting.push_back((at, Event::Own(Content::Part(content))));
                }
            }
            at.batch = (batch.number, 0);
        }
        match self.waiting.back_mut() {
            Some((last, _)) => last.batch = at.batch,
            None => self.at = at,
        }
    }
}

/// Reads a part of what the record has after a batch; `None` if it has no log of its batches.
fn changes_after(state: &State, batch: u64) -> Result<Option<Changes>, StoreError> {
    let log: Option<&dyn ChangeLog> = state.services.change_log();
    log.map(|log| log.changes_after(batch, READ_BYTES)).transpose()
}
