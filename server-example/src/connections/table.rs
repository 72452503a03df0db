//! Which connections are open, what each is activity, and which is closed when there is no room.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tokio::sync::Notify;
use tokio::time::Instant;

use super::limits::Limits;
use crate::http::body::Pace;
use crate::limits::ClientAddr;

/// How many times as many connections as the newcomer's client_addr (with the newcomer) another client_addr
/// must have to lose one with a request under way. Ordinary callers keep their requests.
const MANY_TIMES: usize = 4;

/// Length of the pieces in which an answer is sent over HTTP/2. The next one is made only when the
/// caller grants a window for it, so that no answer lies in memory outside its bounds.
pub const PIECE_BYTES: usize = 16 * 1024;

/// How many connections may be closing while new ones are accepted.
const STILL_CLOSING: usize = 32;

/// All connections.
///
/// A full table makes room for a newcomer by closing the longest idle connection of the client_addr that
/// has most, so a client_addr that opens many and asks for little loses them to active callers. If none
/// is idle, one with a request under way is closed, but only for a client_addr that has [far
/// fewer](MANY_TIMES): first one whose caller keeps the server waiting.
pub struct Table {
    limits: Limits,
    connection_states: Mutex<Seats>,
    closed: Notify,
}

#[derive(Default)]
struct Seats {
    next: u64,
    /// Open connections: those of the table, and those that were sent away and are still closing.
    open: usize,
    taken: HashMap<u64, Arc<ConnectionState>>,
    of_client: HashMap<ClientAddr, usize>,
    counts: Counts,
}

/// What has happened since the start.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Connections that got a place.
    pub accepted: u64,
    /// Connections that got none.
    refused: u64,
    for_another: u64,
    of_many: u64,
    too_late: u64,
    too_slow: u64,
}

impl Counts {
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
    pub fn new(limits: Limits) -> Arc<Self> {
        Arc::new(Self { limits, connection_states: Mutex::default(), closed: Notify::new() })
    }

    /// Waits while many connections that were sent away are still open: each has a file, and a
    /// newcomer would take one that is kept for other uses.
    pub async fn closed_enough(&self) {
        while lock(&self.connection_states).open >= self.limits.connections + STILL_CLOSING {
            self.closed.notified().await;
        }
    }

    /// Returns a place for a connection of a client_addr; `None` if all others are busy and nobody has
    /// many times more.
    pub fn admit(self: &Arc<Self>, client_addr: ClientAddr) -> Option<Place> {
        let place = self.find_place(client_addr);
        let counts = &mut lock(&self.connection_states).counts;
        *(if place.is_some() { &mut counts.accepted } else { &mut counts.refused }) += 1;
        place
    }

    fn find_place(self: &Arc<Self>, client_addr: ClientAddr) -> Option<Place> {
        let mut connection_states = lock(&self.connection_states);
        let has = connection_states.has(client_addr);
        if has >= self.limits.of_client {
            connection_states.give_up(|_, of| of == client_addr)?;
        } else if connection_states.taken.len() >= self.limits.connections {
            // Never from a client_addr that has fewer.
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
        Some(Place { table: Arc::clone(self), number, connection_state })
    }

    /// Closes an idle connection because the process can open no more files.
    pub fn make_room(&self) {
        lock(&self.connection_states).give_up(|_, _| true);
    }

    /// Sends away connections that take too long.
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

    /// What has happened since the start.
    pub fn counts(&self) -> Counts {
        lock(&self.connection_states).counts
    }

    /// How many connections have a place.
    pub fn len(&self) -> usize {
        lock(&self.connection_states).taken.len()
    }
}

impl Seats {
    /// How many connections a client_addr has.
    fn has(&self, client_addr: ClientAddr) -> usize {
        self.of_client.get(&client_addr).copied().unwrap_or_default()
    }

    /// Closes the longest idle connection of the client_addr that has most, among those that may lose
    /// one.
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

    /// Closes a connection with a request under way, of a client_addr that has at least so many: first
    /// one whose caller keeps the server waiting, then one of the client_addr that has most, then the one
    /// under way for longest.
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
pub struct Place {
    table: Arc<Table>,
    number: u64,
    pub connection_state: Arc<ConnectionState>,
}

impl Drop for Place {
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
    /// Another one needs its place, and it has nothing under way.
    ForAnother,
    /// Another one needs its place, and its client_addr has many.
    OfMany,
    /// Its head did not arrive, or it has been idle for too long.
    TooLate,
    /// It reads its answer too slowly.
    TooSlow,
}

/// What a connection is activity.
pub struct ConnectionState {
    pub client_addr: ClientAddr,
    activity: Mutex<Activity>,
    leave: OnceLock<Leave>,
    told: Notify,
}

struct Activity {
    /// Since when no request has been under way: the accept or the end of the last answer.
    resting_since: Instant,
    /// Since when the bytes of a head have been arriving.
    head_since: Option<Instant>,
    /// Whether a whole head has ever arrived.
    has_asked: bool,
    /// How many requests are under way; more than one only over HTTP/2.
    under_way: usize,
    /// Since when there has been one.
    busy_since: Option<Instant>,
    /// For how many of them the server waits for the body.
    bodies_awaited: usize,
    /// There are bytes that the caller does not read.
    behind: Option<Behind>,
    /// The frames of HTTP/2; `None` over HTTP/1.
    streams: Option<Streams>,
}

/// What the caller of an HTTP/2 connection does not take because it grants no window for it: the
/// socket itself does not tell.
#[derive(Default)]
struct Streams {
    next: u64,
    /// Since when a piece of each answer has been on offer.
    offered: HashMap<u64, Instant>,
    /// Since when there has been one, and how much was taken since.
    behind: Option<Behind>,
}

/// Since when bytes have waited for a caller, and how many were read since.
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

    /// It speaks HTTP/2: its heads are not told from its other frames, so that each has the time
    /// of an idle connection.
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

    /// A whole head arrived. The request is under way until the returned guard is dropped.
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

    /// Waits until the connection must close; returns why, and whether a request is under way.
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
    /// Since when it has been idle, if it is.
    fn resting_since(&self) -> Option<Instant> {
        (self.busy_since.is_none() && self.behind.is_none()).then_some(self.resting_since)
    }

    /// Whether it can go on only once its caller sends or reads something.
    fn waits_for_caller(&self) -> bool {
        self.bodies_awaited > 0 || self.behind.is_some() || self.offers()
    }

    /// Whether there is a piece of an answer for which the caller grants no window.
    fn offers(&self) -> bool {
        self.streams.as_ref().is_some_and(|streams| streams.behind.is_some())
    }

    fn overdue(&mut self, limits: Limits, now: Instant) -> Option<Leave> {
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
    /// Whether a piece has been on offer for longer than all of them take at the pace: one stream
    /// that is read does not excuse others that are not.
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

/// A request that is under way.
pub struct InFlight {
    connection_state: Arc<ConnectionState>,
    /// Of its stream; `None` over HTTP/1.
    number: Option<u64>,
}

impl InFlight {
    /// Whether the answer is sent in [pieces](PIECE_BYTES), of which the connection_state is told.
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

    /// There is no piece to take until the server has made one.
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
