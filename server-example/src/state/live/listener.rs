//! One listener: from its place in the stream on, as fast as it reads.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::body::Bytes;
use mesonet_service::live::Position;
use tokio::time::Instant;

use super::event::{Content, resync, text_of};
use super::filter::{ListenerFilter, SharedFilter};
use super::subscriber::{Event, Subscriber};
use super::{Live, Place, TooMany};
use crate::limits::ClientAddr;
use crate::state::State;

/// After this time the stream ends, and the listener comes back: its credentials are checked again.
const LONGEST: Duration = Duration::from_secs(3_600);

/// How long a listener waits until it comes back.
const RETRY_MS: u64 = 3_000;

/// A text of up to this length is copied together with its id.
const COPIED_BYTES: usize = 1 << 10;

/// A listener.
pub struct Listener {
    state: Arc<State>,
    live: Arc<Live>,
    filter: Arc<SharedFilter>,
    /// Its place: after all that it has received, or does not want.
    subscriber: Subscriber,
    /// The position that the last id said.
    sent: Position,
    /// The first text, until it is sent.
    begin: Option<Bytes>,
    /// The rest of an event that has been sent in part.
    rest: Option<Bytes>,
    /// When something must be sent.
    beat: Instant,
    until: Instant,
    _place: Place,
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
        let topics = filter.topics.names();
        let filter = live.filters.share(filter);
        let (subscriber, resumed) = Subscriber::new(state, last_id);
        let begin = if let Err(reason) = resumed {
            live.counts.resyncs.fetch_add(1, Ordering::Relaxed);
            resync(&reason)
        } else {
            let data = serde_json::json!({ "topics": topics });
            text_of("position", data.to_string().as_bytes())
        };
        let begin = [format!("retry: {RETRY_MS}\n").as_bytes(), &begin].concat();
        let began = Instant::now();
        Ok(Self {
            state: Arc::clone(state),
            filter,
            sent: subscriber.at,
            subscriber,
            begin: Some(begin.into()),
            rest: None,
            beat: began + live.limits.heartbeat,
            until: began + LONGEST,
            live,
            _place: place,
        })
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
            if let Some(begin) = self.begin.take() {
                return Some(self.with_id(begin));
            }
            match self.subscriber.next(self.beat.min(self.until)).await {
                Some(event) => {
                    if let Some(text) = self.text(&event) {
                        return Some(self.with_id(text));
                    }
                    // Events that it does not want take turns with those of others.
                    tokio::task::consume_budget().await;
                }
                None if self.live.is_closed() => return None,
                None => return Some(self.heartbeat()),
            }
        }
    }

    /// The text of an event; `None` if it does not want it.
    fn text(&self, event: &Event) -> Option<Bytes> {
        if matches!(event.content(), Content::Resync(_)) {
            self.live.counts.resyncs.fetch_add(1, Ordering::Relaxed);
        }
        let make = || {
            let directory = self.state.services.store.directory();
            let directory = directory.unwrap_or_else(|error| {
                tracing::error!("the places of stations: {error}");
                Arc::default()
            });
            event.content().text(&self.filter.filter, self.state.clock.now_ms(), &directory)
        };
        match event {
            Event::Own(_) => make(),
            Event::Shared(entry) => self.live.encoded.get((entry.number, self.filter.number), make),
        }
    }

    /// A text after the id of the present position.
    fn with_id(&mut self, text: Bytes) -> Bytes {
        self.sent = self.subscriber.at;
        self.beat = Instant::now() + self.live.limits.heartbeat;
        self.live.counts.events.fetch_add(1, Ordering::Relaxed);
        let id = format!("id: {}\n", self.live.log.id(self.sent));
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
        if self.subscriber.at != self.sent {
            return self.with_id(text_of("position", b"{}"));
        }
        self.beat = Instant::now() + self.live.limits.heartbeat;
        Bytes::from_static(b":\n")
    }
}
