//! Long bodies, written and compressed piece by piece while the caller reads them.

use std::io;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use futures_util::{FutureExt, stream};
use tokio::sync::mpsc;

use crate::http::encoding::{Compressor, Effort, Encoding};
use crate::http::error::ApiError;
use crate::http::work::{Cost, Load, Workers, held};
use crate::limits::{ClientAddr, Share};

/// Length of a piece. An answer up to that length is sent with its length, and a longer one in
/// pieces.
pub const PIECE_BYTES: usize = 256 * 1024;

/// Maximum number of pieces that wait for the network.
const PIECES_AHEAD: usize = 2;

/// Memory of an answer that is being sent, without what is still to be written: the waiting pieces,
/// one being made and one being sent.
pub const STREAM_BYTES: usize = (PIECES_AHEAD + 2) * PIECE_BYTES;

/// A body that is written piece by piece.
pub trait BodyWriter: Send + 'static {
    /// Memory of what is still to be written.
    fn held_bytes(&self) -> usize;

    /// Continues writing until the text is at least `until_bytes` long or the body ends. Returns
    /// whether the body ended.
    ///
    /// # Errors
    /// A fault of the server.
    fn write(&mut self, text: &mut Vec<u8>, until_bytes: usize) -> Result<bool, ApiError>;
}

/// A body that is written and compressed piece by piece.
pub struct Pieces<W> {
    writer: W,
    compressor: Compressor,
    /// Room for the next piece. The first is mostly short, and the only one.
    room_bytes: usize,
}

impl<W: BodyWriter> Pieces<W> {
    /// Creates the pieces of a writer's body.
    ///
    /// # Errors
    /// There is no memory for the compressor.
    pub fn new(writer: W, encoding: Encoding) -> Result<Self, ApiError> {
        let compressor = Compressor::new(encoding, Effort::Fastest).map_err(ApiError::internal)?;
        Ok(Self { writer, compressor, room_bytes: 16 << 10 })
    }

    fn held_bytes(&self) -> usize {
        self.writer.held_bytes() + self.compressor.held_bytes()
    }

    /// Returns the next piece and the rest.
    fn next(mut self) -> Result<(Bytes, Option<Self>), ApiError> {
        let mut text = Vec::with_capacity(self.room_bytes);
        self.room_bytes = PIECE_BYTES + PIECE_BYTES / 16;
        let last = self.writer.write(&mut text, PIECE_BYTES)?;
        self.compressor.push(text).map_err(ApiError::internal)?;
        Ok(if last {
            (self.compressor.finish().map_err(ApiError::internal)?.into(), None)
        } else {
            (self.compressor.take().into(), Some(self))
        })
    }
}

/// Makes the body of an answer, and returns it with another result of `begin`. The first piece is
/// made in the same turn as `begin`. Nearly always, it is the whole answer.
///
/// # Errors
/// `begin` refuses, or the server is at fault.
pub async fn body<W: BodyWriter, T: Send + 'static>(
    workers: Arc<Workers>,
    client_addr: ClientAddr,
    cost: Cost,
    begin: impl FnOnce() -> Result<(T, Pieces<W>), ApiError> + Send + 'static,
) -> Result<(T, Body), ApiError> {
    let mut memory = workers.memory(client_addr, cost.load, cost.bytes).await;
    let begun = workers.work(client_addr, cost.load, move || {
        let (found, pieces) = begin()?;
        Ok::<_, ApiError>((found, pieces.next()?))
    });
    let (found, (first, rest)) = begun.await??;
    let body = match rest {
        None => Body::from(held(first, memory)),
        Some(rest) => {
            memory.resize(rest.held_bytes() + STREAM_BYTES);
            let work = Work { workers, client_addr, load: cost.load, _memory: memory };
            stream_body(work, first, rest)
        }
    };
    Ok((found, body))
}

/// The caller that a long answer is made for.
struct Work {
    workers: Arc<Workers>,
    client_addr: ClientAddr,
    load: Load,
    /// Held until the answer is sent.
    _memory: Share,
}

/// The body of a long answer. Only making the pieces takes a core. While the network is slower than
/// the cores, the answer waits without holding a core. If the caller goes away, the work ends. The
/// connection of a caller who does not read is closed.
fn stream_body<W: BodyWriter>(work: Work, first: Bytes, rest: Pieces<W>) -> Body {
    let (sender, receiver) = mpsc::channel(PIECES_AHEAD);
    let send = async move {
        let (mut piece, mut rest) = (first, Some(rest));
        while sender.send((piece, rest.is_none())).await.is_ok() {
            let Some(pieces) = rest else { break };
            let Work { workers, client_addr, load, .. } = &work;
            let made = workers.work(*client_addr, *load, move || pieces.next()).await;
            match made.and_then(|made| made) {
                Ok(next) => (piece, rest) = next,
                Err(error) => {
                    tracing::error!("an answer was cut off: {error:?}");
                    break;
                }
            }
        }
    };
    // The runtime's code for a task is compiled once for all writers.
    tokio::spawn(send.boxed());
    Body::from_stream(stream::unfold(Some(receiver), async |receiver| {
        let mut receiver: mpsc::Receiver<(Bytes, bool)> = receiver?;
        Some(match receiver.recv().await {
            Some((piece, last)) => (Ok(piece), (!last).then_some(receiver)),
            // The status has been sent, so breaking the connection is the only way left to say that
            // the answer is incomplete.
            None => (Err(io::Error::other("the answer was cut off")), None),
        })
    }))
}
