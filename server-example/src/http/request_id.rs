//! The id of a request, which everything that is logged for the request carries.

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::http::HeaderName;

/// The id of a request, on answers of 5xx.
pub const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

tokio::task_local! {
    static CURRENT: RequestId;
}

/// The id of a request. No two requests of a process have the same, and requests of two processes
/// hardly ever do. It is written as 16 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RequestId(u64);

impl RequestId {
    /// The id of a new request.
    pub fn next() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        static START: OnceLock<u64> = OnceLock::new();
        let start = START.get_or_init(|| getrandom::u64().unwrap_or_default());
        Self(start.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed)))
    }

    /// The request that is being answered here. `None` for work that no request has asked for.
    pub fn current() -> Option<Self> {
        CURRENT.try_with(|&id| id).ok()
    }

    /// Lets a future know which request it answers.
    pub fn during<F: Future>(self, answer: F) -> impl Future<Output = F::Output> {
        CURRENT.scope(self, answer)
    }

    /// Lets work on another thread know which request it is for.
    pub fn while_working<T>(self, work: impl FnOnce() -> T) -> T {
        CURRENT.sync_scope(self, work)
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn an_id_is_of_one_request() {
        let ids: HashSet<String> = (0..1_000).map(|_| RequestId::next().to_string()).collect();
        assert_eq!(ids.len(), 1_000);
        assert!(ids.iter().all(|id| id.len() == 16));
    }

    #[tokio::test]
    async fn a_request_is_known_where_it_is_answered_and_nowhere_else() {
        let (one, other) = (RequestId::next(), RequestId::next());
        let answer = async {
            tokio::task::yield_now().await;
            RequestId::current()
        };
        let both =
            futures_util::join!(one.during(answer), other.during(async { RequestId::current() }));
        assert_eq!(both, (Some(one), Some(other)));
        assert_eq!(RequestId::current(), None);
        assert_eq!(one.while_working(RequestId::current), Some(one));
    }
}
