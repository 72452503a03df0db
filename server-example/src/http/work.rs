//! The cost of answers: turns on the cores, and memory until the answers are read.

use std::panic::{AssertUnwindSafe, catch_unwind};

use axum::body::{Body, Bytes, HttpBody};
use axum::response::Response;
use tokio::sync::oneshot;

use crate::http::error::ApiError;
use crate::http::request_id::RequestId;
use crate::limits::{ClientAddr, Share, Shares};

/// How long work keeps a core busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// Less than a millisecond, without waiting for a database of another machine. The work is done
    /// where the request is served: handing it over would take as long again.
    Quick,
    /// A few milliseconds.
    Light,
    /// Longer.
    Heavy,
}

/// The estimated cost of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// How long the answer keeps a core busy.
    pub load: Load,
    /// How much memory the answer takes.
    pub bytes: usize,
}

impl Cost {
    /// A small answer.
    pub const LIGHT: Self = Self { load: Load::Light, bytes: 1 << 20 };

    /// An answer that takes up to this much memory.
    pub const fn heavy(bytes: usize) -> Self {
        Self { load: Load::Heavy, bytes }
    }
}

/// The threads that make answers: the turns on them and the memory, shared by callers.
///
/// Light work has its own turns and its own memory, so that a small answer does not wait behind
/// large ones, however many client addresses request those. The system divides the cores between
/// both.
pub struct Workers {
    light: Pool,
    heavy: Pool,
}

/// The turns and the bytes for work of one kind of load.
struct Pool {
    turns: Shares,
    bytes: Shares,
}

impl Pool {
    fn new(turns: usize, bytes: usize) -> Self {
        Self { turns: Shares::new(turns), bytes: Shares::new(bytes) }
    }
}

/// Light work has one part in this many of the memory.
const LIGHT_MEMORY: usize = 8;

impl Workers {
    /// Creates workers for a number of cores, and an amount of memory for answers.
    pub fn new(cores: usize, memory_bytes: usize) -> Self {
        let of_light = memory_bytes / LIGHT_MEMORY;
        Self {
            light: Pool::new(cores * 2, of_light),
            // One client address alone gets one turn more than half the number of cores.
            heavy: Pool::new(cores + 1, memory_bytes - of_light),
        }
    }

    fn of(&self, load: Load) -> &Pool {
        match load {
            Load::Quick | Load::Light => &self.light,
            Load::Heavy => &self.heavy,
        }
    }

    /// Waits for a turn on a core.
    pub async fn on_core(&self, client_addr: ClientAddr, load: Load) -> Share {
        self.of(load).turns.take(client_addr, 1).await
    }

    /// Waits for permission to hold a number of bytes in memory.
    pub async fn memory(&self, client_addr: ClientAddr, load: Load, bytes: usize) -> Share {
        self.of(load).bytes.take(client_addr, bytes).await
    }

    /// The number of bytes held.
    pub fn memory_used(&self) -> usize {
        self.light.bytes.used() + self.heavy.bytes.used()
    }

    /// Does work that keeps a core busy, off the threads that serve connections unless it is quick.
    /// At most as many pieces of work run at once as there are cores.
    ///
    /// # Errors
    /// The work panicked: an internal error.
    pub async fn work<T: Send + 'static>(
        &self,
        client_addr: ClientAddr,
        load: Load,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        if load == Load::Quick {
            let done = catch_unwind(AssertUnwindSafe(work));
            return done.map_err(|_| ApiError::Internal("quick work panicked".to_owned()));
        }
        let turn = self.on_core(client_addr, load).await;
        let request = RequestId::current();
        hand_over(move || {
            let done = match request {
                Some(request) => request.while_working(work),
                None => work(),
            };
            // The turn ends only here: the work goes on even if the caller has stopped waiting.
            drop(turn);
            done
        })
        .await
    }

    /// Makes an answer that stays in memory as a whole until the caller has read it.
    ///
    /// # Errors
    /// `make` refuses, or panics: an internal error.
    pub async fn answer(
        &self,
        client_addr: ClientAddr,
        cost: Cost,
        make: impl FnOnce() -> Result<Response, ApiError> + Send + 'static,
    ) -> Result<Response, ApiError> {
        let memory = self.memory(client_addr, cost.load, cost.bytes).await;
        held_answer(self.work(client_addr, cost.load, make).await??, memory).await
    }
}

/// Does work off the threads that serve connections.
///
/// # Errors
/// The work panicked: an internal error.
pub async fn hand_over<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ApiError> {
    let (sender, mut receiver) = oneshot::channel();
    // The runtime's code for a task is compiled once, not for each closure and result.
    let task: Box<dyn FnOnce() + Send> = Box::new(move || {
        // Nobody receives it if the caller has stopped waiting.
        let _ = sender.send(work());
    });
    tokio::task::spawn_blocking(task).await.map_err(ApiError::internal)?;
    receiver.try_recv().map_err(ApiError::internal)
}

/// Holds the share of bytes until the caller has read them.
pub fn held(bytes: Bytes, mut share: Share) -> Bytes {
    struct BytesWithShare {
        bytes: Bytes,
        _share: Share,
    }
    impl AsRef<[u8]> for BytesWithShare {
        fn as_ref(&self) -> &[u8] {
            &self.bytes
        }
    }
    share.resize(bytes.len());
    Bytes::from_owner(BytesWithShare { bytes, _share: share })
}

/// The same for the body of a complete answer.
///
/// # Errors
/// The body fails to complete.
async fn held_answer(response: Response, share: Share) -> Result<Response, ApiError> {
    let (head, body) = response.into_parts();
    if body.size_hint().exact().is_none() {
        return Ok(Response::from_parts(head, body));
    }
    let bytes = axum::body::to_bytes(body, usize::MAX).await.map_err(ApiError::internal)?;
    Ok(Response::from_parts(head, Body::from(held(bytes, share))))
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use super::*;

    #[tokio::test]
    async fn work_that_panics_is_an_internal_error_and_gives_its_turn_back() {
        let (workers, caller) =
            (Workers::new(1, 1 << 20), ClientAddr::of(IpAddr::V4(Ipv4Addr::LOCALHOST)));
        for load in [Load::Quick, Load::Light, Load::Heavy] {
            // More often than there are turns.
            for _ in 0..4 {
                let made = workers.work(caller, load, || -> u8 { panic!("on purpose") }).await;
                assert!(matches!(made, Err(ApiError::Internal(_))), "{load:?}: {made:?}");
            }
            assert_eq!(workers.work(caller, load, || 7).await.ok(), Some(7), "{load:?}");
        }
    }
}
