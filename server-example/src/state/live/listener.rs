//! One listener: from its place in the stream on, as fast as it reads.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::body::Bytes;
use mesonet::store::{ChangeLog, Changes, StoreError};
use mesonet_service::live::Position;
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use super::event::{BatchPart, Content, resync, text_of};
use super::filter::{ListenerFilter, SharedFilter};
use super::publish::after_part;
use super::ring::{Entry, Found};
use super::{Live, Place, TooMany};
use crate::limits::ClientAddr;
use crate::state::State;

/// After this time the stream ends, and the listener comes back: its credentials are checked again.
const LONGEST: Duration = Duration::from_secs(3_600);

/// How long a listener waits until it comes back.
const RETRY_MS: u64 = 3_000;

/// How much of the record is read at once for a listener that comes back.
const READ_BYTES: usize = 64 << 10;

/// A text of up to this length is copied together with its id.
const COPIED_BYTES: usize = 1 << 10;

const TOO_SLOW: &str = "the events came faster than they were read";
const SEALED: &str = "the record no longer tells the events after the id apart";
const LOST: &str = "a part of the record after the id is damaged";
const UNREADABLE: &str = "the record cannot be read at present";

/// A listener.
pub struct Listener {
    state: Arc<State>,
    live: Arc<Live>,
    filter: Arc<SharedFilter>,
    /// The position after all that it has received, or does not want.
    at: Position,
    /// The position that the last id said.
    sent: Position,
    /// The number of the next event in the ring.
    next: u64,
    /// Whether it needs what the ring no longer has from the record.
    is_behind: bool,
    /// The rest of an event that has been sent in part.
    rest: Option<Bytes>,
    /// Events that are to be sent, with the position after each.
    waiting: VecDeque<(Position, Waiting)>,
    end: watch::Receiver<u64>,
    /// When something must be sent.
    beat: Instant,
    until: Instant,
    _place: Place,
}

enum Waiting {
    /// An event of the ring.
    Shared(Arc<Entry>),
    /// An event of the record.
    Own(Content),
    /// A text that is ready.
    Text(Bytes),
}

impl Listener {
    /// Begins to listen, after the event with an id if there is one.
    ///
    /// # Errors
    /// There are too many listeners.
    pub fn new(
        state: &Arc<State>,
        client_addr: ClientAddr,
        filter: ListenerFilter,
        last_id: Option<&str>,
    ) -> Result<Self, TooMany> {
        let live = Arc::clone(&state.live);
        let place = live.admit(client_addr)?;
        let end = live.end.subscribe();
        let topics = filter.topics.names();
        let filter = live.filters.share(filter);
        // Before the end of the ring is read: what comes in between is sent.
        let resumed = last_id.map(|id| live.resume(id));
        let (now, first, last, before) = {
            let ring = live.ring();
            (ring.now(), ring.first(), ring.end(), ring.before())
        };
        let began = Instant::now();
        let mut listener = Self {
            state: Arc::clone(state),
            filter,
            at: now,
            sent: now,
            next: last,
            is_behind: false,
            rest: None,
            waiting: VecDeque::new(),
            end,
            beat: began + live.limits.heartbeat,
            until: began + LONGEST,
            live,
            _place: place,
        };
        let begin = match resumed {
            Some(Err(reason)) => {
                listener.counts_resync();
                resync(&reason)
            }
            resumed => {
                if let Some(Ok(at)) = resumed {
                    listener.at = at;
                    listener.next = first;
                    listener.is_behind = !before.is_within(&at);
                }
                let data = serde_json::json!({ "topics": topics });
                text_of("position", data.to_string().as_bytes())
            }
        };
        let begin = [format!("retry: {RETRY_MS}\n").as_bytes(), &begin].concat();
        listener.waiting.push_back((listener.at, Waiting::Text(begin.into())));
        Ok(listener)
    }

    /// The next piece of the stream; `None` at its end.
    pub async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(rest) = self.rest.take() {
                return Some(rest);
            }
            if self.live.is_closed() || Instant::now() >= self.until {
                return None;
            }
            if let Some((position, waiting)) = self.waiting.pop_front() {
                self.at = position;
                if let Some(text) = self.text(waiting) {
                    return Some(self.with_id(text));
                }
                // Events that it does not want take turns with those of others.
                tokio::task::consume_budget().await;
                continue;
            }
            if self.is_behind {
                self.catch_up().await;
                continue;
            }
            self.end.borrow_and_update();
            let found = self.live.ring().starting_at(self.next);
            match found {
                Found::Entries(entries) => self.take(entries),
                Found::Gone => self.begin_anew(TOO_SLOW),
                Found::Nothing(now) => {
                    self.pass(now);
                    let changed = timeout_at(self.beat.min(self.until), self.end.changed());
                    if changed.await.is_err() {
                        return Some(self.heartbeat());
                    }
                }
            }
        }
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
                self.waiting.push_back((at, Waiting::Shared(entry)));
            }
        }
        if self.waiting.is_empty() {
            self.at = at;
        }
    }

    /// The text of an event; `None` if it does not want it.
    fn text(&self, waiting: Waiting) -> Option<Bytes> {
        let own = |content: &Content| {
            let directory = self.state.services.store.directory();
            let directory = directory.unwrap_or_else(|error| {
                tracing::error!("the places of stations: {error}");
                Arc::default()
            });
            content.text(&self.filter.filter, self.state.clock.now_ms(), &directory)
        };
        match waiting {
            Waiting::Text(text) => Some(text),
            Waiting::Own(content) => own(&content),
            Waiting::Shared(entry) => {
                if matches!(entry.content, Content::Resync(_)) {
                    self.counts_resync();
                }
                let key = (entry.number, self.filter.number);
                self.live.encoded.get(key, || own(&entry.content))
            }
        }
    }

    /// A text after the id of the present position.
    fn with_id(&mut self, text: Bytes) -> Bytes {
        self.sent = self.at;
        self.beat = Instant::now() + self.live.limits.heartbeat;
        self.live.counts.events.fetch_add(1, Ordering::Relaxed);
        let id = format!("id: {}\n", self.live.log.id(self.at));
        if text.len() <= COPIED_BYTES {
            return [id.as_bytes(), &text].concat().into();
        }
        // All listeners share it.
        self.rest = Some(text);
        id.into()
    }

    /// Something that keeps the connection alive. If events went by that the listener does not
    /// want, it tells the position.
    fn heartbeat(&mut self) -> Bytes {
        if self.at != self.sent {
            return self.with_id(text_of("position", b"{}"));
        }
        self.beat = Instant::now() + self.live.limits.heartbeat;
        Bytes::from_static(b":\n")
    }

    /// Goes on at the end of the ring.
    fn begin_anew(&mut self, reason: &str) {
        let (now, end) = {
            let ring = self.live.ring();
            (ring.now(), ring.end())
        };
        self.counts_resync();
        self.is_behind = false;
        self.next = end;
        self.waiting.push_back((now, Waiting::Text(resync(reason))));
    }

    fn counts_resync(&self) {
        self.live.counts.resyncs.fetch_add(1, Ordering::Relaxed);
    }

    /// Reads some of what the ring no longer has from the record.
    async fn catch_up(&mut self) {
        let (before, first) = {
            let ring = self.live.ring();
            (ring.before(), ring.first())
        };
        if self.at.item < before.item {
            let (state, after) = (Arc::clone(&self.state), self.at.item);
            let items = self.state.look_up(move |_| state.items_after(after)).await;
            match items {
                Ok((items, last)) => {
                    for (number, content) in items {
                        let at = Position { item: number, ..self.at };
                        self.waiting.push_back((at, Waiting::Own(content)));
                    }
                    match self.waiting.back_mut() {
                        Some((at, _)) => at.item = last,
                        None => self.at.item = last,
                    }
                }
                Err(_) => self.begin_anew(UNREADABLE),
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
                self.begin_anew(UNREADABLE);
            }
            Err(_) => self.begin_anew(UNREADABLE),
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
            if batch.number != at.batch.0 + 1 {
                return self.begin_anew(LOST);
            }
            let batch = Arc::new(batch);
            let parts = BatchPart::all(&batch);
            let last = parts.last().map(|(part, _)| *part);
            for (part, content) in parts {
                let after = after_part(batch.number, part, last);
                if after > at.batch {
                    at.batch = after;
                    self.waiting.push_back((at, Waiting::Own(Content::Part(content))));
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
