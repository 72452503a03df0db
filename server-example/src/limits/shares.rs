//! A limited resource that callers share.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use tokio::sync::oneshot;

use crate::limits::ClientAddr;
use mesonet_service::sync::lock;

/// An amount of a resource: cores or bytes. Each client address may hold as much as is then left
/// for the others. So one client address alone gets up to a half, and two get a third each and
/// leave a third. A new one always finds some, however much the others want. This is the dynamic
/// threshold of Choudhury and Hahne, by which the ports of a switch share its buffer.
///
/// A client address that gets nothing now waits its turn. Only those that hold less overtake it.
#[derive(Clone)]
pub struct Shares(Arc<Mutex<Inner>>);

struct Inner {
    total: usize,
    used: usize,
    held: HashMap<ClientAddr, usize>,
    waiting: VecDeque<Waiting>,
}

struct Waiting {
    client_addr: ClientAddr,
    amount: usize,
    grant: oneshot::Sender<Share>,
}

impl Shares {
    /// Creates an amount of which nothing is held.
    pub fn new(total: usize) -> Self {
        let (held, waiting) = (HashMap::new(), VecDeque::new());
        Self(Arc::new(Mutex::new(Inner { total, used: 0, held, waiting })))
    }

    /// Waits until a client address may have an amount, limited to the total.
    pub async fn take(&self, client_addr: ClientAddr, amount: usize) -> Share {
        let granted = {
            let mut inner = lock(&self.0);
            let amount = amount.min(inner.total);
            if inner.may_take(client_addr, amount) {
                return self.share(&mut inner, client_addr, amount);
            }
            let (grant, granted) = oneshot::channel();
            inner.waiting.retain(|waiting| !waiting.grant.is_closed());
            inner.waiting.push_back(Waiting { client_addr, amount, grant });
            granted
        };
        // The other end is in a queue that `self` keeps alive, so the sender cannot be lost.
        granted.await.unwrap_or(Share { shares: self.clone(), client_addr, amount: 0 })
    }

    /// How much is held.
    pub fn used(&self) -> usize {
        lock(&self.0).used
    }

    fn share(&self, inner: &mut Inner, client_addr: ClientAddr, amount: usize) -> Share {
        inner.used += amount;
        *inner.held.entry(client_addr).or_default() += amount;
        Share { shares: self.clone(), client_addr, amount }
    }

    /// Changes what a client address holds through one share, and serves those that wait.
    fn resize(&self, client_addr: ClientAddr, from: usize, to: usize) {
        let mut inner = lock(&self.0);
        inner.resize(client_addr, from, to);
        let mut at = 0;
        while let Some(&Waiting { client_addr, amount, .. }) = inner.waiting.get(at) {
            if !inner.may_take(client_addr, amount) {
                at += 1;
                continue;
            }
            let Some(Waiting { grant, .. }) = inner.waiting.remove(at) else { break };
            let share = self.share(&mut inner, client_addr, amount);
            if let Err(mut unwanted) = grant.send(share) {
                // The share must not be dropped here: dropping waits for the lock that is held
                // here.
                unwanted.amount = 0;
                inner.resize(client_addr, amount, 0);
            }
        }
    }
}

impl Inner {
    fn may_take(&self, client_addr: ClientAddr, amount: usize) -> bool {
        let held = self.held.get(&client_addr).copied().unwrap_or_default();
        held + amount <= self.total.saturating_sub(self.used)
    }

    fn resize(&mut self, client_addr: ClientAddr, from: usize, to: usize) {
        self.used = self.used + to - from;
        let held = self.held.entry(client_addr).or_default();
        *held = *held + to - from;
        if *held == 0 {
            self.held.remove(&client_addr);
        }
    }
}

/// What a request of a client address holds, given back on drop.
pub struct Share {
    shares: Shares,
    client_addr: ClientAddr,
    amount: usize,
}

impl Share {
    /// Changes the amount to what is really needed. That may be more than before, and even more
    /// than there is.
    pub fn resize(&mut self, amount: usize) {
        self.shares.resize(self.client_addr, self.amount, amount);
        self.amount = amount;
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        if self.amount > 0 {
            self.shares.resize(self.client_addr, self.amount, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::pin::pin;
    use std::task::Poll;

    use super::*;

    fn client_addr(number: u8) -> ClientAddr {
        ClientAddr::of([192, 0, 2, number].into())
    }

    /// Returns a share if it is available at once.
    async fn now(shares: &Shares, of: u8, amount: usize) -> Option<Share> {
        let mut taken = pin!(shares.take(client_addr(of), amount));
        poll_fn(|context| match taken.as_mut().poll(context) {
            Poll::Ready(share) => Poll::Ready(Some(share)),
            Poll::Pending => Poll::Ready(None),
        })
        .await
    }

    #[tokio::test]
    async fn each_party_may_hold_as_much_as_is_left() {
        let shares = Shares::new(12);
        let mut held = Vec::new();
        for (of, gets) in [(1, 6), (2, 3), (3, 2), (4, 1), (5, 0)] {
            for _ in 0..gets {
                held.push(now(&shares, of, 1).await.unwrap());
            }
            assert!(now(&shares, of, 1).await.is_none(), "{of}");
        }
        assert_eq!(shares.used(), 12);
        drop(held);
        assert_eq!(shares.used(), 0);
        assert!(lock(&shares.0).held.is_empty());
        assert!(now(&shares, 1, 100).await.is_some(), "more than there is means all");
    }

    #[tokio::test]
    async fn waiting_callers_get_what_is_given_back_and_those_who_left_do_not() {
        let shares = Shares::new(4);
        let first = now(&shares, 1, 3).await.unwrap();
        let wait = |of, amount| {
            let shares = shares.clone();
            tokio::spawn(async move { shares.take(client_addr(of), amount).await })
        };
        let (gone, large, small) = (wait(2, 2), wait(3, 4), wait(4, 2));
        tokio::task::yield_now().await;
        gone.abort();
        assert!(gone.await.is_err());
        drop(first);
        let large = large.await.unwrap();
        assert_eq!(shares.used(), 4);
        assert!(!small.is_finished());
        drop(large);
        let small = small.await.unwrap();
        assert_eq!(shares.used(), 2);
        drop(small);
        assert_eq!(shares.used(), 0);
    }

    #[tokio::test]
    async fn a_share_that_turns_out_smaller_leaves_room_and_a_larger_one_counts_in_full() {
        let shares = Shares::new(10);
        let mut share = now(&shares, 1, 8).await.unwrap();
        assert!(now(&shares, 2, 4).await.is_none());
        share.resize(2);
        assert!(now(&shares, 2, 4).await.is_some());
        share.resize(50);
        assert_eq!(shares.used(), 50);
        assert!(now(&shares, 2, 1).await.is_none());
        drop(share);
        assert_eq!(shares.used(), 0);
    }
}
