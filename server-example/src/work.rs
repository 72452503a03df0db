//! What answers cost: turns on the cores, and memory until they are taken.

use axum::body::{Body, Bytes, HttpBody};
use axum::response::Response;

use crate::door::Party;
use crate::error::ApiError;
use crate::shares::{Share, Shares};

/// How long work keeps a core busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// A few milliseconds.
    Light,
    /// More.
    Heavy,
}

/// What an answer may cost, estimated before it is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// How long it keeps a core busy.
    pub load: Load,
    /// How much memory it takes.
    pub bytes: usize,
}

impl Cost {
    /// A small answer.
    pub const LIGHT: Self = Self { load: Load::Light, bytes: 1 << 20 };

    /// An answer that takes up to so much memory.
    pub const fn heavy(bytes: usize) -> Self {
        Self { load: Load::Heavy, bytes }
    }
}

/// The cores and the memory, shared by those who ask.
///
/// Light work has turns of its own, so that a small answer does not wait behind large ones; the
/// system divides the cores among both.
pub struct Turns {
    light: Shares,
    heavy: Shares,
    memory: Shares,
}

impl Turns {
    /// Turns on so many cores, and so much memory.
    pub fn new(cores: usize, memory_bytes: usize) -> Self {
        Self {
            light: Shares::new(cores * 2),
            // One party alone keeps a core busy for each but half a core.
            heavy: Shares::new(cores + 1),
            memory: Shares::new(memory_bytes),
        }
    }

    /// Waits for a turn on a core.
    pub async fn on_core(&self, party: Party, load: Load) -> Share {
        match load {
            Load::Light => &self.light,
            Load::Heavy => &self.heavy,
        }
        .take(party, 1)
        .await
    }

    /// Waits for leave to hold so many bytes in memory.
    pub async fn memory(&self, party: Party, bytes: usize) -> Share {
        self.memory.take(party, bytes).await
    }

    /// Bytes that are held.
    #[cfg(test)]
    pub fn memory_used(&self) -> usize {
        self.memory.used()
    }
}

/// Bytes that are held in memory until the caller has taken them.
pub fn held(bytes: Bytes, mut share: Share) -> Bytes {
    struct Held {
        bytes: Bytes,
        _share: Share,
    }
    impl AsRef<[u8]> for Held {
        fn as_ref(&self) -> &[u8] {
            &self.bytes
        }
    }
    share.resize(bytes.len());
    Bytes::from_owner(Held { bytes, _share: share })
}

/// The same for the body of an answer, where it is whole.
///
/// # Errors
/// The body is of a kind that breaks off.
pub async fn held_answer(response: Response, share: Share) -> Result<Response, ApiError> {
    let (head, body) = response.into_parts();
    if body.size_hint().exact().is_none() {
        return Ok(Response::from_parts(head, body));
    }
    let bytes = axum::body::to_bytes(body, usize::MAX).await.map_err(ApiError::internal)?;
    Ok(Response::from_parts(head, Body::from(held(bytes, share))))
}
