//! The events of the last moments, in the order in which they were published.

use std::collections::VecDeque;
use std::sync::Arc;

use mesonet_service::live::Position;

use super::event::Content;

/// An event in the ring.
#[derive(Debug)]
pub struct Entry {
    /// Its number since the start.
    pub number: u64,
    /// The position after it.
    pub position: Position,
    pub content: Content,
}

/// The events that still fit in an amount of memory.
#[derive(Debug)]
pub struct Ring {
    entries: VecDeque<Arc<Entry>>,
    /// The number of the first entry.
    pub first: u64,
    /// The position before the first entry.
    pub before: Position,
    /// The position after the last entry, and after what made no event.
    pub now: Position,
    bytes: usize,
    most_bytes: usize,
}

/// What a listener finds at its place.
pub enum RingRead {
    /// The next events.
    Entries(Vec<Arc<Entry>>),
    /// Nothing yet; the position is that after all events.
    Nothing(Position),
    /// Its place is no longer in the ring.
    Gone,
}

/// The most events that are taken at once.
const TAKEN: usize = 16;

impl Ring {
    /// A ring without events.
    pub const fn new(now: Position, most_bytes: usize) -> Self {
        Self { entries: VecDeque::new(), first: 0, before: now, now, bytes: 0, most_bytes }
    }

    /// The number of the next event that comes.
    pub fn end(&self) -> u64 {
        self.first + self.entries.len() as u64
    }

    /// Adds an event after which the stream is at a position.
    pub fn push(&mut self, position: Position, content: Content) {
        self.bytes += content.bytes();
        self.now = position;
        let number = self.end();
        self.entries.push_back(Arc::new(Entry { number, position, content }));
        // The last one stays, however large it is: those who read fast get it.
        while self.bytes > self.most_bytes
            && self.entries.len() > 1
            && let Some(entry) = self.entries.pop_front()
        {
            self.bytes -= entry.content.bytes();
            self.before = entry.position;
            self.first += 1;
        }
    }

    /// Goes on to a position without an event.
    pub fn pass(&mut self, position: Position) {
        self.now = position;
        if self.entries.is_empty() {
            self.before = position;
        }
    }

    /// Forgets all events, and goes on at a position.
    pub fn restart(&mut self, position: Position) {
        self.first = self.end();
        self.entries.clear();
        (self.before, self.now, self.bytes) = (position, position, 0);
    }

    /// The events from a number on.
    pub fn starting_at(&self, number: u64) -> RingRead {
        let Some(at) = number.checked_sub(self.first) else { return RingRead::Gone };
        let at = usize::try_from(at).unwrap_or(usize::MAX);
        if at >= self.entries.len() {
            return RingRead::Nothing(self.now);
        }
        RingRead::Entries(self.entries.range(at..).take(TAKEN).map(Arc::clone).collect())
    }
}
