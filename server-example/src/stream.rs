//! Long bodies, written and compressed piece by piece while the caller takes them.

use std::io;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use futures_util::stream;
use tokio::sync::mpsc;

use crate::door::Party;
use crate::encoding::{Compressor, Effort, Encoding};
use crate::error::ApiError;
use crate::shares::Share;
use crate::state::State;
use crate::work::{Cost, Load, held};

/// Text that is written at once. An answer of up to that length is sent with its length, a longer
/// one in pieces.
pub const PIECE_BYTES: usize = 256 * 1024;

/// Pieces that wait for the network.
const PIECES_AHEAD: usize = 2;

/// Memory of an answer that is being sent, beside what is still to be written: the pieces that
/// wait, one that is being made and one that is being sent.
pub const STREAM_BYTES: usize = (PIECES_AHEAD + 2) * PIECE_BYTES;

/// A body that is written piece by piece.
pub trait Writer: Send + 'static {
    /// Memory of what is still to be written.
    fn held_bytes(&self) -> usize;

    /// Writes on until the text is at least so many bytes long or the body is at its end, and
    /// tells whether it is.
    ///
    /// # Errors
    /// A fault of the server.
    fn write(
        &mut self,
        state: &State,
        text: &mut Vec<u8>,
        until_bytes: usize,
    ) -> Result<bool, ApiError>;
}

/// A body that is written and compressed piece by piece.
pub struct Pieces<W> {
    writer: W,
    compressor: Compressor,
}

impl<W: Writer> Pieces<W> {
    /// The pieces of what a writer writes.
    ///
    /// # Errors
    /// No memory for the compressor.
    pub fn new(writer: W, encoding: Encoding) -> Result<Self, ApiError> {
        let compressor = Compressor::new(encoding, Effort::Fastest).map_err(ApiError::internal)?;
        Ok(Self { writer, compressor })
    }

    fn held_bytes(&self) -> usize {
        self.writer.held_bytes() + self.compressor.held_bytes()
    }

    /// The next piece, and what comes after it.
    fn next(mut self, state: &State) -> Result<(Bytes, Option<Self>), ApiError> {
        let mut text = Vec::with_capacity(PIECE_BYTES + PIECE_BYTES / 16);
        let last = self.writer.write(state, &mut text, PIECE_BYTES)?;
        io::Write::write_all(&mut self.compressor, &text).map_err(ApiError::internal)?;
        Ok(if last {
            (self.compressor.finish().map_err(ApiError::internal)?.into(), None)
        } else {
            (self.compressor.take().into(), Some(self))
        })
    }
}

/// The body of an answer together with something that is found out on the way. The first piece is
/// made in the same go as what `begin` does; where it is the whole answer, as nearly always, that
/// is all.
///
/// # Errors
/// What `begin` refuses, or a fault of the server.
pub async fn body<W: Writer, T: Send + 'static>(
    state: Arc<State>,
    party: Party,
    cost: Cost,
    begin: impl FnOnce(&State) -> Result<(T, Pieces<W>), ApiError> + Send + 'static,
) -> Result<(T, Body), ApiError> {
    let mut memory = state.turns().memory(party, cost.bytes).await;
    let begun = state.work(party, cost.load, move |state| {
        let (found, pieces) = begin(state)?;
        Ok::<_, ApiError>((found, pieces.next(state)?))
    });
    let (found, (first, rest)) = begun.await??;
    let body = match rest {
        None => Body::from(held(first, memory)),
        Some(rest) => {
            memory.resize(rest.held_bytes() + STREAM_BYTES);
            let work = Work { state, party, load: cost.load, _memory: memory };
            stream_body(work, first, rest)
        }
    };
    Ok((found, body))
}

/// On whose account a long answer is made.
struct Work {
    state: Arc<State>,
    party: Party,
    load: Load,
    /// Held until the answer is sent.
    _memory: Share,
}

/// The body of a long answer. Only the pieces are made on a core's time: while the network is
/// slower than the cores, the answer waits without holding one. A caller who goes away
/// ends the work; of one who does not read, the door makes one who goes away.
fn stream_body<W: Writer>(work: Work, first: Bytes, rest: Pieces<W>) -> Body {
    let (sender, receiver) = mpsc::channel(PIECES_AHEAD);
    tokio::spawn(async move {
        let (mut piece, mut rest) = (first, Some(rest));
        while sender.send((piece, rest.is_none())).await.is_ok() {
            let Some(pieces) = rest else { break };
            let Work { state, party, load, .. } = &work;
            let made = state.work(*party, *load, move |state| pieces.next(state)).await;
            match made.and_then(|made| made) {
                Ok(next) => (piece, rest) = next,
                Err(error) => {
                    tracing::error!("an answer was broken off: {error:?}");
                    break;
                }
            }
        }
    });
    Body::from_stream(stream::unfold(Some(receiver), async |receiver| {
        let mut receiver: mpsc::Receiver<(Bytes, bool)> = receiver?;
        Some(match receiver.recv().await {
            Some((piece, last)) => (Ok(piece), (!last).then_some(receiver)),
            // The status is sent: breaking the connection is the only way left to say that the
            // answer is not whole.
            None => (Err(io::Error::other("the answer was broken off")), None),
        })
    }))
}
