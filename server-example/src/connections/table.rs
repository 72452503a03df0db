//! The open connections, and which one is closed when there is no room.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use tokio::sync::Notify;
use tokio::time::Instant;

use super::connection_state::{CloseReason, ConnectionState};
use super::limits::ConnectionLimits;
use crate::limits::ClientAddr;
use mesonet_service::sync::lock;

/// A client address loses a connection with a request in flight only if it has this many times as
/// many connections as the client address of the new one, counting the new one. Ordinary callers
/// keep their requests.
const MANY_TIMES: usize = 4;

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

    /// Returns the guard of a connection of a client address; `None` if all other connections are
    /// busy and no client address has many times more.
    pub fn admit(self: &Arc<Self>, client_addr: ClientAddr) -> Option<ConnectionGuard> {
        let guard = self.find_room(client_addr);
        let counts = &mut lock(&self.connection_states).counts;
        *(if guard.is_some() { &mut counts.accepted } else { &mut counts.refused }) += 1;
        guard
    }

    fn find_room(self: &Arc<Self>, client_addr: ClientAddr) -> Option<ConnectionGuard> {
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
        let late: Vec<(u64, CloseReason)> = connection_states
            .taken
            .iter()
            .filter_map(|(&number, connection_state)| {
                Some((number, lock(&connection_state.activity).overdue(limits, now)?))
            })
            .collect();
        for (number, reason) in late {
            connection_states.close(number, reason);
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
        self.close(number, CloseReason::ForAnother);
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
        self.close(number, CloseReason::OfMany);
        Some(())
    }

    fn close(&mut self, number: u64, reason: CloseReason) {
        if let Some(connection_state) = self.remove(number) {
            let counts = &mut self.counts;
            *match reason {
                CloseReason::ForAnother => &mut counts.for_another,
                CloseReason::OfMany => &mut counts.of_many,
                CloseReason::TooLate => &mut counts.too_late,
                CloseReason::TooSlow => &mut counts.too_slow,
            } += 1;
            // Only the first reason counts.
            let _ = connection_state.close_reason.set(reason);
            connection_state.close_request.notify_one();
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

/// Keeps a connection in the table until it is dropped.
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

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
