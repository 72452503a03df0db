//! A sliding window: the exact times of the last requests of each client address.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::sync::Mutex;
use std::time::Duration;

use tokio::time::Instant;

use crate::limits::ClientAddr;
use mesonet_service::sync::lock;

/// Maximum number of client addresses that are counted one by one. Further ones share counts.
const MAX_CLIENTS: usize = 32_768;

/// Number of counts that the further ones share.
const SHARED: u64 = 1_024;

/// How often silent client addresses are forgotten.
const SWEEP: Duration = Duration::from_secs(5);

/// How many requests a client address may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// Maximum number of requests in any span of this length; 0 lifts the limit.
    pub requests: usize,
    /// The length.
    pub span: Duration,
    /// Maximum number of requests that wait at a time.
    pub waiting: usize,
    /// Longest wait.
    pub longest_wait: Duration,
}

/// When a request may go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// At once.
    Now,
    /// At this time, which is reserved for the request.
    At(Instant),
    /// Not at all.
    Refused,
}

/// The counts of all client addresses.
pub struct Window {
    counts: Mutex<RequestCounts>,
    /// The hasher is random, so strangers cannot choose which client addresses share a count.
    hasher: RandomState,
}

struct RequestCounts {
    allowance: Allowance,
    /// The times of the last requests of each client address, oldest first. Times of waiting
    /// requests are in the future.
    times: HashMap<CountedAddr, VecDeque<Instant>>,
    swept: Option<Instant>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum CountedAddr {
    One(ClientAddr),
    Shared(u64),
}

impl Window {
    /// No request has been counted.
    pub fn new(allowance: Allowance) -> Self {
        let counts = Mutex::new(RequestCounts { allowance, times: HashMap::new(), swept: None });
        Self { counts, hasher: RandomState::new() }
    }

    /// Allows another number from now on. The counts stay.
    pub fn set(&self, allowance: Allowance) {
        lock(&self.counts).allowance = allowance;
    }

    /// Counts a request that came at a time. A refused one does not count.
    pub fn take(&self, client_addr: ClientAddr, now: Instant) -> Turn {
        let mut counts = lock(&self.counts);
        let Allowance { requests, span, waiting, longest_wait } = counts.allowance;
        if requests == 0 {
            return Turn::Now;
        }
        let mut counted = CountedAddr::One(client_addr);
        if !counts.has_room(client_addr, now) {
            counted = CountedAddr::Shared(self.hasher.hash_one(client_addr) % SHARED);
        }
        let times = counts.times.entry(counted).or_default();
        while times.front().is_some_and(|&first| now.duration_since(first) >= span) {
            times.pop_front();
        }
        if times.len() < requests {
            insert(times, now);
            return Turn::Now;
        }
        // The turn comes when the request `requests` places before this one leaves the span.
        let turn = times[times.len() - requests] + span;
        let waiting_now = times.iter().rev().take_while(|&&time| time > now).count();
        if waiting_now >= waiting || turn.duration_since(now) > longest_wait {
            return Turn::Refused;
        }
        insert(times, turn);
        Turn::At(turn)
    }
}

/// Inserts a turn. Turns from before a change of the allowance may come later.
fn insert(times: &mut VecDeque<Instant>, turn: Instant) {
    match times.back() {
        Some(&last) if last > turn => {
            let place = times.partition_point(|&time| time <= turn);
            times.insert(place, turn);
        }
        _ => times.push_back(turn),
    }
}

impl RequestCounts {
    /// Whether a client address is counted by itself.
    fn has_room(&mut self, client_addr: ClientAddr, now: Instant) -> bool {
        self.sweep(now, self.allowance.span);
        self.times.len() < MAX_CLIENTS || self.times.contains_key(&CountedAddr::One(client_addr))
    }

    /// Forgets the client addresses that have sent nothing within the span.
    fn sweep(&mut self, now: Instant, span: Duration) {
        if self.swept.is_some_and(|swept| now.duration_since(swept) < SWEEP) {
            return;
        }
        self.swept = Some(now);
        let is_silent = |last: &Instant| now.duration_since(*last) >= span;
        self.times.retain(|_, times| !times.back().is_none_or(is_silent));
        if self.times.len() * 4 < self.times.capacity() {
            self.times.shrink_to_fit();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALLOWANCE: Allowance = Allowance {
        requests: 150,
        span: Duration::from_secs(10),
        waiting: 50,
        longest_wait: Duration::from_secs(10),
    };

    fn client_addr(number: u32) -> ClientAddr {
        ClientAddr::of(std::net::Ipv4Addr::from_bits(number).into())
    }

    fn at(start: Instant, ms: u64) -> Instant {
        start + Duration::from_millis(ms)
    }

    #[test]
    fn a_burst_gets_exactly_its_allowance_and_the_next_waits_for_the_first_to_leave() {
        let (window, start) = (Window::new(ALLOWANCE), Instant::now());
        for _ in 0..150 {
            assert_eq!(window.take(client_addr(1), start), Turn::Now);
        }
        // Fifty more wait, and no others.
        for _ in 0..50 {
            assert_eq!(window.take(client_addr(1), start), Turn::At(at(start, 10_000)));
        }
        assert_eq!(window.take(client_addr(1), start), Turn::Refused);
        assert_eq!(window.take(client_addr(1), at(start, 9_999)), Turn::Refused);
        assert_eq!(window.take(client_addr(2), at(start, 100)), Turn::Now);
        // Those fifty have used part of the next span.
        for _ in 0..100 {
            assert_eq!(window.take(client_addr(1), at(start, 10_000)), Turn::Now);
        }
        assert_eq!(window.take(client_addr(1), at(start, 10_001)), Turn::At(at(start, 20_000)));
    }

    #[test]
    fn who_waits_too_long_is_refused() {
        let short = Allowance { longest_wait: Duration::from_secs(2), ..ALLOWANCE };
        let (window, start) = (Window::new(short), Instant::now());
        for _ in 0..150 {
            assert_eq!(window.take(client_addr(1), start), Turn::Now);
        }
        assert_eq!(window.take(client_addr(1), at(start, 7_999)), Turn::Refused);
        assert_eq!(window.take(client_addr(1), at(start, 8_000)), Turn::At(at(start, 10_000)));
    }

    #[test]
    fn no_span_ever_holds_more_than_the_allowance() {
        let (window, start) = (Window::new(ALLOWANCE), Instant::now());
        let mut admitted: Vec<Instant> = (0..60_000)
            .step_by(7)
            .filter_map(|ms| match window.take(client_addr(1), at(start, ms)) {
                Turn::Now => Some(at(start, ms)),
                Turn::At(turn) => Some(turn),
                Turn::Refused => None,
            })
            .collect();
        admitted.sort();
        for pair in admitted.windows(151) {
            assert!(pair[150].duration_since(pair[0]) >= ALLOWANCE.span);
        }
        // A caller that keeps sending gets the whole allowance: 150 in each of six spans.
        assert!(admitted.len() >= 900, "{}", admitted.len());
    }

    #[test]
    fn turns_are_in_order_also_if_less_is_allowed_again() {
        let waits = |requests| Allowance { requests, longest_wait: ALLOWANCE.span, ..ALLOWANCE };
        let (window, start) = (Window::new(waits(2)), Instant::now());
        let take = |ms| window.take(client_addr(1), at(start, ms));
        assert_eq!(
            [take(0), take(0), take(1)],
            [Turn::Now, Turn::Now, Turn::At(at(start, 10_000))]
        );
        window.set(waits(4));
        assert_eq!(take(2), Turn::Now);
        window.set(waits(1));
        // After the turn that was given for 10,000, not after the request of 2.
        assert_eq!(take(10_001), Turn::At(at(start, 20_000)));
    }

    #[test]
    fn the_table_is_bounded_and_forgets_who_is_silent() {
        let (window, start) = (Window::new(ALLOWANCE), Instant::now());
        for number in 0..40_000 {
            window.take(client_addr(number), start);
        }
        let held = || window.counts.lock().unwrap().times.len();
        assert!(held() <= MAX_CLIENTS + SHARED as usize);
        window.take(client_addr(0), at(start, 20_000));
        assert_eq!(held(), 1);
    }

    #[test]
    fn without_an_allowance_nothing_is_counted() {
        let window = Window::new(Allowance { requests: 0, ..ALLOWANCE });
        let now = Instant::now();
        assert!((0..1_000).all(|_| window.take(client_addr(1), now) == Turn::Now));
    }
}
