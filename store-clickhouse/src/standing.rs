//! What is known about a node: whether it answers, and whether it lacked anything.
//!
//! A machine that is cut off takes a question and never answers. So no question waits long for a
//! node that answers nothing at all: while the question waits, the node is pinged on another
//! connection. While a node is in doubt, one caller pings it for all, before anyone asks it
//! anything else.

use std::collections::HashMap;
use std::future::Future;
use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use clickhouse::Client;
use clickhouse::error::Error;
use tokio::time::timeout;

/// The query that any node answers, however busy it is.
pub(crate) const PING_QUERY: &str = "SELECT 1";

/// How long a node of a cluster may take to answer at all, before others are asked.
pub(crate) const CONNECT: Duration = Duration::from_secs(2);

/// How long a single node may take to answer at all when it is busy.
const ANSWER: Duration = Duration::from_secs(5);

/// How long a question waits before the node is pinged.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long these facts hold: that a node has answered, that it was pinged in vain, or that it
/// lacked nothing up to a batch. A machine that has lost what was in its memory takes longer to
/// start.
const FRESH: Duration = Duration::from_secs(1);

/// How long others are preferred to a node that did not answer, or that lacked something.
const AVOIDED: Duration = Duration::from_secs(5);

/// What is known of a node.
#[derive(Default)]
pub(crate) struct NodeStanding {
    known: Mutex<NodeFacts>,
    /// When the node was last pinged in vain. The caller that pings it holds this lock.
    in_vain: Mutex<Option<Instant>>,
}

#[derive(Default)]
struct NodeFacts {
    identity: Option<Identity>,
    /// Insert settings that the release of the node knows, and older releases do not.
    newer_settings: Option<Vec<&'static str>>,
    answered: Option<Instant>,
    avoided: Option<Instant>,
    /// Up to which batch it lacked nothing of a table, and when.
    whole: HashMap<&'static str, (u64, Instant)>,
}

/// What a node says about itself.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    pub shard: String,
    pub replica: String,
}

impl NodeStanding {
    fn known(&self) -> MutexGuard<'_, NodeFacts> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the outcome of a question says about a node.
    pub(crate) fn note<T>(&self, answer: &Result<T, Error>) {
        match answer {
            Ok(_) => self.known().answered = Some(Instant::now()),
            Err(Error::Network(_) | Error::TimedOut) => self.failed(),
            // A refusal says nothing about the node.
            Err(_) => {}
        }
    }

    pub(crate) fn failed(&self) {
        let mut known = self.known();
        known.avoided = Some(Instant::now());
        known.answered = None;
        known.whole.clear();
        // The node may come back with another release.
        known.newer_settings = None;
    }

    pub(crate) fn lags(&self) {
        self.known().avoided = Some(Instant::now());
    }

    /// Whether others are asked first.
    pub(crate) fn is_avoided(&self) -> bool {
        is_within(self.known().avoided, AVOIDED)
    }

    /// Whether it has answered just now.
    pub(crate) fn is_fresh(&self) -> bool {
        is_within(self.known().answered, FRESH)
    }

    /// Whether it has failed, and has not answered since.
    fn is_in_doubt(&self) -> bool {
        let known = self.known();
        known.answered.is_none() && known.avoided.is_some()
    }

    /// Whether it recently lacked nothing of a table up to a batch.
    pub(crate) fn is_whole(&self, table: &str, up_to: u64) -> bool {
        let known = self.known();
        known.whole.get(table).is_some_and(|&(was, at)| was >= up_to && is_within(Some(at), FRESH))
    }

    pub(crate) fn was_whole(&self, table: &'static str, up_to: u64) {
        self.known().whole.insert(table, (up_to, Instant::now()));
    }

    pub(crate) fn identity(&self) -> Option<Identity> {
        self.known().identity.clone()
    }

    pub(crate) fn identify(&self, identity: Identity) {
        self.known().identity = Some(identity);
    }

    pub(crate) fn newer_settings(&self) -> Option<Vec<&'static str>> {
        self.known().newer_settings.clone()
    }

    pub(crate) fn knows(&self, newer_settings: Vec<&'static str>) {
        self.known().newer_settings = Some(newer_settings);
    }

    /// Pings a node that is in doubt. One caller pings it, and callers that come in the meantime
    /// share the outcome. So they do not wait in turn for a silent node.
    ///
    /// # Errors
    /// The errors of the ping: the node must not be asked.
    pub(crate) fn pinged(&self, ping: impl FnOnce() -> Result<(), Error>) -> Result<(), Error> {
        if !self.is_in_doubt() {
            return Ok(());
        }
        let mut in_vain = self.in_vain.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.is_in_doubt() {
            return Ok(());
        }
        if is_within(*in_vain, FRESH) {
            return Err(Error::TimedOut);
        }
        let pinged = ping();
        *in_vain = matches!(pinged, Err(Error::TimedOut)).then(Instant::now);
        self.note(&pinged);
        pinged
    }
}

/// Whether a node answers anything, on a connection that is not busy.
pub(crate) async fn ping(client: Client) -> Result<(), Error> {
    let ping = client.query_raw(PING_QUERY).fetch_one::<u8>();
    match timeout(ANSWER, ping).await {
        Err(_) => Err(Error::TimedOut),
        Ok(Err(error @ Error::Network(_))) => Err(error),
        // A node that refuses has heard the question.
        Ok(_) => Ok(()),
    }
}

/// Waits for an answer as long as the node answers at all. A refused connection does not count: a
/// node that is about to stop takes no new connections and ends its work.
pub(crate) async fn watched<T>(
    client: Client,
    asked: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    let mut asked = pin!(asked);
    loop {
        if let Ok(answer) = timeout(PATIENCE, &mut asked).await {
            return answer;
        }
        tokio::select! {
            answer = &mut asked => return answer,
            pinged = ping(client.clone()) => if matches!(pinged, Err(Error::TimedOut)) {
                return Err(Error::TimedOut);
            },
        }
    }
}

fn is_within(at: Option<Instant>, limit: Duration) -> bool {
    at.is_some_and(|at| at.elapsed() < limit)
}

#[cfg(test)]
mod tests {
    use std::future::pending;
    use std::net::TcpListener;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_question_to_a_silent_node_ends() {
        // This node takes connections and says nothing.
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = Client::default().with_url(format!("http://{}", silent.local_addr().unwrap()));
        let limit = PATIENCE + ANSWER + Duration::from_millis(50);
        let answer = timeout(limit, watched(client, pending::<Result<(), Error>>())).await;
        assert!(matches!(answer, Ok(Err(Error::TimedOut))), "{answer:?}");
    }

    #[test]
    fn a_node_in_doubt_is_greeted_once_for_all() {
        let standing = NodeStanding::default();
        assert!(standing.pinged(|| panic!("of a new node nothing is known")).is_ok());
        standing.failed();
        assert!(standing.pinged(|| Err(Error::TimedOut)).is_err());
        let shared = standing.pinged(|| panic!("it was pinged in vain just now"));
        assert!(matches!(shared, Err(Error::TimedOut)));
        *standing.in_vain.lock().unwrap() = Instant::now().checked_sub(FRESH);
        assert!(standing.pinged(|| Ok(())).is_ok());
        assert!(standing.pinged(|| panic!("it has answered")).is_ok());
    }
}
