//! What a connection is doing, and the requests of it that are in flight.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use tokio::sync::Notify;
use tokio::time::Instant;

use super::limits::ConnectionLimits;
use crate::http::body::Pace;
use crate::limits::ClientAddr;
use mesonet_service::sync::lock;

/// Length of the pieces in which an answer is sent over HTTP/2. The next piece is made only when
/// the caller grants a window for it, so that no answer takes more memory than its limit.
pub const PIECE_BYTES: usize = 16 * 1024;

/// Why a connection must close.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseReason {
    /// A new connection needs room, and this one has no request in flight.
    ForAnother,
    /// A new connection needs room, and the client address of this one has many.
    OfMany,
    /// The head did not arrive, or the connection has been idle for too long.
    TooLate,
    /// The caller reads the answer too slowly.
    TooSlow,
}

/// What a connection is doing.
pub struct ConnectionState {
    pub client_addr: ClientAddr,
    pub(super) activity: Mutex<Activity>,
    pub(super) close_reason: OnceLock<CloseReason>,
    pub(super) close_request: Notify,
}

pub(super) struct Activity {
    /// The time since which no request has been in flight: the accept or the end of the last
    /// answer.
    resting_since: Instant,
    /// The time since which the bytes of a head have been arriving.
    head_since: Option<Instant>,
    /// Whether a whole head has ever arrived.
    has_asked: bool,
    /// Number of requests in flight; more than one only over HTTP/2.
    under_way: usize,
    /// The time since which a request has been in flight.
    pub(super) busy_since: Option<Instant>,
    /// Number of requests whose body the server waits for.
    bodies_awaited: usize,
    /// Set while there are bytes that the caller does not read.
    behind: Option<Behind>,
    /// The frames of HTTP/2; `None` over HTTP/1.
    streams: Option<Streams>,
}

/// What the caller of an HTTP/2 connection does not take because it grants no window. The socket
/// itself does not show this.
#[derive(Default)]
struct Streams {
    next: u64,
    /// The time since which a piece of each answer has been waiting.
    offered: HashMap<u64, Instant>,
    /// The time since which any piece has been waiting, and how much was taken since.
    behind: Option<Behind>,
}

/// The time since which bytes have been waiting for a caller, and how many were read since.
struct Behind {
    since: Instant,
    bytes: u64,
}

impl ConnectionState {
    pub(super) fn new(client_addr: ClientAddr, now: Instant) -> Self {
        let activity = Activity {
            resting_since: now,
            head_since: None,
            has_asked: false,
            under_way: 0,
            busy_since: None,
            bodies_awaited: 0,
            behind: None,
            streams: None,
        };
        Self {
            client_addr,
            activity: Mutex::new(activity),
            close_reason: OnceLock::new(),
            close_request: Notify::new(),
        }
    }

    /// The connection speaks HTTP/2. Heads are not distinguished from other frames, so a head has
    /// the time of an idle connection.
    pub fn speaks_http2(&self) {
        lock(&self.activity).streams = Some(Streams::default());
    }

    /// Bytes arrived.
    pub fn has_read(&self) {
        let mut activity = lock(&self.activity);
        if activity.busy_since.is_none() && activity.streams.is_none() {
            activity.head_since.get_or_insert_with(Instant::now);
        }
    }

    /// A whole head arrived. The request is in flight until the returned guard is dropped.
    pub fn begin_request(self: &Arc<Self>) -> InFlight {
        let mut activity = lock(&self.activity);
        (activity.has_asked, activity.head_since) = (true, None);
        activity.under_way += 1;
        activity.busy_since.get_or_insert_with(Instant::now);
        let number = activity.streams.as_mut().map(|streams| {
            streams.next += 1;
            streams.next
        });
        InFlight { connection_state: Arc::clone(self), number }
    }

    /// The server starts or stops waiting for the body of a request.
    pub fn awaits_body(&self, awaits: bool) {
        let mut activity = lock(&self.activity);
        if awaits {
            activity.bodies_awaited += 1;
        } else {
            activity.bodies_awaited -= 1;
        }
    }

    /// The caller has read bytes.
    pub fn has_written(&self, bytes: usize) {
        if let Some(behind) = &mut lock(&self.activity).behind {
            behind.bytes += bytes as u64;
        }
    }

    /// There are bytes, and the caller is not reading them now.
    pub fn must_wait(&self) {
        let begin = || Behind { since: Instant::now(), bytes: 0 };
        lock(&self.activity).behind.get_or_insert_with(begin);
    }

    /// The caller has read everything there was.
    pub fn has_taken_all(&self) {
        lock(&self.activity).behind = None;
    }

    /// Waits until the connection must close. Returns why, and whether a request is in flight.
    pub async fn close_requested(&self) -> (CloseReason, bool) {
        loop {
            self.close_request.notified().await;
            if let Some(reason) = self.close_reason.get() {
                return (*reason, lock(&self.activity).busy_since.is_some());
            }
        }
    }
}

impl Activity {
    /// The time since which the connection has been idle, if it is idle.
    pub(super) fn resting_since(&self) -> Option<Instant> {
        (self.busy_since.is_none() && self.behind.is_none()).then_some(self.resting_since)
    }

    /// Whether the connection can go on only once its caller sends or reads something.
    pub(super) fn waits_for_caller(&self) -> bool {
        self.bodies_awaited > 0 || self.behind.is_some() || self.offers()
    }

    /// Whether there is a piece of an answer for which the caller grants no window.
    fn offers(&self) -> bool {
        self.streams.as_ref().is_some_and(|streams| streams.behind.is_some())
    }

    pub(super) fn overdue(
        &mut self,
        limits: ConnectionLimits,
        now: Instant,
    ) -> Option<CloseReason> {
        let of_streams = self.streams.as_mut().and_then(|streams| streams.behind.as_mut());
        for behind in self.behind.as_mut().into_iter().chain(of_streams) {
            if behind.is_too_slow(limits.pace, now) {
                return Some(CloseReason::TooSlow);
            }
        }
        if self.streams.as_ref().is_some_and(|streams| streams.has_stuck(limits.pace, now)) {
            return Some(CloseReason::TooSlow);
        }
        self.resting_since()?;
        let (since, limit) = match (self.head_since, self.has_asked) {
            (_, false) => (self.resting_since, limits.head),
            (Some(since), true) => (since, limits.head),
            (None, true) => (self.resting_since, limits.idle),
        };
        (now >= since + limit).then_some(CloseReason::TooLate)
    }
}

impl Behind {
    fn is_too_slow(&mut self, pace: Pace, now: Instant) -> bool {
        if now >= pace.deadline(self.since, self.bytes) {
            return true;
        }
        if now >= self.since + Pace::SPAN {
            // A fast start does not count forever.
            *self = Self { since: now, bytes: 0 };
        }
        false
    }
}

impl Streams {
    /// Whether a piece has been waiting for longer than all pieces take at the pace. A stream that
    /// is read does not excuse others that are not.
    fn has_stuck(&self, pace: Pace, now: Instant) -> bool {
        let all_bytes = (self.offered.len() * PIECE_BYTES) as u64;
        self.offered.values().any(|&since| now >= pace.deadline(since, all_bytes))
    }

    fn ends(&mut self, number: u64) {
        self.offered.remove(&number);
        if self.offered.is_empty() {
            self.behind = None;
        }
    }
}

/// A request in flight.
pub struct InFlight {
    connection_state: Arc<ConnectionState>,
    /// The number of its stream; `None` over HTTP/1.
    number: Option<u64>,
}

impl InFlight {
    /// Whether the answer is sent in [pieces](PIECE_BYTES) that the connection state is told of.
    pub fn is_in_pieces(&self) -> bool {
        self.number.is_some()
    }

    /// A piece of the answer waits until the caller grants a window for it.
    pub fn offers(&self) {
        let mut activity = lock(&self.connection_state.activity);
        if let (Some(number), Some(streams)) = (self.number, &mut activity.streams) {
            let now = Instant::now();
            streams.offered.insert(number, now);
            streams.behind.get_or_insert(Behind { since: now, bytes: 0 });
        }
    }

    /// The caller took a piece.
    pub fn is_taken(&self, bytes: usize) {
        let mut activity = lock(&self.connection_state.activity);
        let streams = activity.streams.as_mut();
        if let Some(behind) = streams.and_then(|streams| streams.behind.as_mut()) {
            behind.bytes += bytes as u64;
        }
    }

    /// No piece waits until the server has made the next one.
    pub fn has_no_piece(&self) {
        let mut activity = lock(&self.connection_state.activity);
        if let (Some(number), Some(streams)) = (self.number, &mut activity.streams) {
            streams.ends(number);
        }
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        let mut activity = lock(&self.connection_state.activity);
        if let (Some(number), Some(streams)) = (self.number, &mut activity.streams) {
            streams.ends(number);
        }
        activity.under_way -= 1;
        if activity.under_way == 0 {
            activity.busy_since = None;
            activity.resting_since = Instant::now();
        }
    }
}
