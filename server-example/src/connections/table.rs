//! The open connections, what each one is doing, and which one is closed when there is no room.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tokio::sync::Notify;
use tokio::time::Instant;

use super::limits::ConnectionLimits;
use crate::http::body::Pace;
use crate::limits::ClientAddr;

/// A client address loses a connection with a request in flight only if it has this many times as
/// many connections as the client address of the new one, counting the new one. Ordinary callers
/// keep their requests.
const MANY_TIMES: usize = 4;

/// Length of the pieces in which an answer is sent over HTTP/2. The next piece is made only when
/// the caller grants a window for it, so that no answer takes more memory than its limit.
pub const PIECE_BYTES: usize = 16 * 1024;

/// How many connections may be closing while new ones are accepted.
const STILL_CLOSING: usize = 32;

/// All connections.
///
/// A full table makes room for a new connection by closing the longest idle connection of the
/// client address that has most. So a client address that opens many connections and uses few loses
/// them to active callers. If no connection is idle, one with a request in flight is closed, but
/// only if the new client address has [far fewer](MANY_TIMES) connections. Connections whose caller
/// keeps the server waiting go first.
pub struct Table {
    limits: ConnectionLimits,
    connection_states: Mutex<ConnectionStates>,
    closed: Notify,
}

#[derive(Default)]
struct ConnectionStates {
    next: u64,
    /// Open connections: those in the table, and those that were told to close and are still
    /// closing.
    open: usize,
    taken: HashMap<u64, Arc<ConnectionState>>,
    of_client: HashMap<ClientAddr, usize>,
    counts: ConnectionCounts,
}

/// Counts since the start.
#[derive(Clone, Copy, Debug, Default)]
pub struct ConnectionCounts {
    /// Connections that were accepted.
    pub accepted: u64,
    /// Connections that were refused because there was no room.
    refused: u64,
    for_another: u64,
    of_many: u64,
    too_late: u64,
    too_slow: u64,
}

impl ConnectionCounts {
    /// Connections that were refused or closed, by reason.
    pub fn closed(&self) -> [(&'static str, u64); 5] {
        [
            ("no_room", self.refused),
            ("room_for_another", self.for_another),
            ("room_of_many", self.of_many),
            ("idle_or_late", self.too_late),
            ("too_slow", self.too_slow),
        ]
    }
}

impl Table {
    pub fn new(limits: ConnectionLimits) -> Arc<Self> {
        Arc::new(Self { limits, connection_states: Mutex::default(), closed: Notify::new() })
    }

    /// Waits while many closing connections are still open. Each has a file, and a new connection
    /// would take one that is reserved for other uses.
    pub async fn closed_enough(&self) {
        while lock(&self.connection_states).open >= self.limits.connections + STILL_CLOSING {
            self.closed.notified().await;
        }
    }

    /// Returns a place for a connection of a client address; `None` if all other connections are
    /// busy and no client address has many times more.
    pub fn admit(self: &Arc<Self>, client_addr: ClientAddr) -> Option<ConnectionGuard> {
        let place = self.find_place(client_addr);
        let counts = &mut lock(&self.connection_states).counts;
        *(if place.is_some() { &mut counts.accepted } else { &mut counts.refused }) += 1;
        place
    }

    fn find_place(self: &Arc<Self>, client_addr: ClientAddr) -> Option<ConnectionGuard> {
        let mut connection_states = lock(&self.connection_states);
        let has = connection_states.has(client_addr);
        if has >= self.limits.of_client {
            connection_states.give_up(|_, of| of == client_addr)?;
        } else if connection_states.taken.len() >= self.limits.connections {
            // Never from a client address that has fewer connections.
            connection_states
                .give_up(|connection_states, of| connection_states.has(of) >= has)
                .or_else(|| connection_states.give_up_busy(MANY_TIMES * (has + 1)))?;
        }
        let number = connection_states.next;
        connection_states.next += 1;
        let connection_state = Arc::new(ConnectionState::new(client_addr, Instant::now()));
        connection_states.open += 1;
        connection_states.taken.insert(number, Arc::clone(&connection_state));
        *connection_states.of_client.entry(client_addr).or_default() += 1;
        Some(ConnectionGuard { table: Arc::clone(self), number, connection_state })
    }

    /// Closes an idle connection because the process can open no more files.
    pub fn make_room(&self) {
        lock(&self.connection_states).give_up(|_, _| true);
    }

    /// Closes connections that take too long.
    pub fn sweep(&self, now: Instant) {
        let mut connection_states = lock(&self.connection_states);
        let mut limits = self.limits;
        if connection_states.taken.len() > limits.connections / 2 {
            limits.idle = limits.idle.min(limits.head);
        }
        let late: Vec<(u64, Leave)> = connection_states
            .taken
            .iter()
            .filter_map(|(&number, connection_state)| {
                Some((number, lock(&connection_state.activity).overdue(limits, now)?))
            })
            .collect();
        for (number, leave) in late {
            connection_states.send_away(number, leave);
        }
    }

    /// Counts since the start.
    pub fn counts(&self) -> ConnectionCounts {
        lock(&self.connection_states).counts
    }

    /// Number of connections in the table.
    pub fn len(&self) -> usize {
        lock(&self.connection_states).taken.len()
    }
}

impl ConnectionStates {
    /// Number of connections of a client address.
    fn has(&self, client_addr: ClientAddr) -> usize {
        self.of_client.get(&client_addr).copied().unwrap_or_default()
    }

    /// Closes the longest idle connection of the client address that has most, among those that may
    /// lose a connection.
    fn give_up(&mut self, may_lose: impl Fn(&Self, ClientAddr) -> bool) -> Option<()> {
        let taken = self
            .taken
            .iter()
            .filter(|(_, connection_state)| may_lose(self, connection_state.client_addr));
        let resting = taken.filter_map(|(&number, connection_state)| {
            let since = lock(&connection_state.activity).resting_since()?;
            Some(((Reverse(self.has(connection_state.client_addr)), since), number))
        });
        let (_, number) = resting.min()?;
        self.send_away(number, Leave::ForAnother);
        Some(())
    }

    /// Closes a connection with a request in flight, of a client address with at least a given
    /// number of connections. First choice is a connection whose caller keeps the server waiting,
    /// then one of the client address that has most, then the one whose request has taken longest.
    fn give_up_busy(&mut self, has_at_least: usize) -> Option<()> {
        let taken = self
            .taken
            .iter()
            .filter(|(_, connection_state)| self.has(connection_state.client_addr) >= has_at_least);
        let busy = taken.map(|(&number, connection_state)| {
            let activity = lock(&connection_state.activity);
            let is_at_work = !activity.waits_for_caller();
            (
                (is_at_work, Reverse(self.has(connection_state.client_addr)), activity.busy_since),
                number,
            )
        });
        let (_, number) = busy.min()?;
        self.send_away(number, Leave::OfMany);
        Some(())
    }

    fn send_away(&mut self, number: u64, leave: Leave) {
        if let Some(connection_state) = self.remove(number) {
            let counts = &mut self.counts;
            *match leave {
                Leave::ForAnother => &mut counts.for_another,
                Leave::OfMany => &mut counts.of_many,
                Leave::TooLate => &mut counts.too_late,
                Leave::TooSlow => &mut counts.too_slow,
            } += 1;
            // Only the first reason counts.
            let _ = connection_state.leave.set(leave);
            connection_state.told.notify_one();
        }
    }

    fn remove(&mut self, number: u64) -> Option<Arc<ConnectionState>> {
        let connection_state = self.taken.remove(&number)?;
        if let Some(has) = self.of_client.get_mut(&connection_state.client_addr) {
            *has -= 1;
            if *has == 0 {
                self.of_client.remove(&connection_state.client_addr);
            }
        }
        Some(connection_state)
    }
}

/// A place in the table, freed on drop.
pub struct ConnectionGuard {
    table: Arc<Table>,
    number: u64,
    pub connection_state: Arc<ConnectionState>,
}

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        let mut connection_states = lock(&self.table.connection_states);
        connection_states.open -= 1;
        connection_states.remove(self.number);
        self.table.closed.notify_one();
    }
}

/// Why a connection must close.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leave {
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
    activity: Mutex<Activity>,
    leave: OnceLock<Leave>,
    told: Notify,
}

struct Activity {
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
    busy_since: Option<Instant>,
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
    fn new(client_addr: ClientAddr, now: Instant) -> Self {
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
            leave: OnceLock::new(),
            told: Notify::new(),
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
    pub fn asks(self: &Arc<Self>) -> InFlight {
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
    pub async fn leave(&self) -> (Leave, bool) {
        loop {
            self.told.notified().await;
            if let Some(leave) = self.leave.get() {
                return (*leave, lock(&self.activity).busy_since.is_some());
            }
        }
    }
}

impl Activity {
    /// The time since which the connection has been idle, if it is idle.
    fn resting_since(&self) -> Option<Instant> {
        (self.busy_since.is_none() && self.behind.is_none()).then_some(self.resting_since)
    }

    /// Whether the connection can go on only once its caller sends or reads something.
    fn waits_for_caller(&self) -> bool {
        self.bodies_awaited > 0 || self.behind.is_some() || self.offers()
    }

    /// Whether there is a piece of an answer for which the caller grants no window.
    fn offers(&self) -> bool {
        self.streams.as_ref().is_some_and(|streams| streams.behind.is_some())
    }

    fn overdue(&mut self, limits: ConnectionLimits, now: Instant) -> Option<Leave> {
        let of_streams = self.streams.as_mut().and_then(|streams| streams.behind.as_mut());
        for behind in self.behind.as_mut().into_iter().chain(of_streams) {
            if behind.is_too_slow(limits.pace, now) {
                return Some(Leave::TooSlow);
            }
        }
        if self.streams.as_ref().is_some_and(|streams| streams.has_stuck(limits.pace, now)) {
            return Some(Leave::TooSlow);
        }
        self.resting_since()?;
        let (since, limit) = match (self.head_since, self.has_asked) {
            (_, false) => (self.resting_since, limits.head),
            (Some(since), true) => (since, limits.head),
            (None, true) => (self.resting_since, limits.idle),
        };
        (now >= since + limit).then_some(Leave::TooLate)
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

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
