//! Receives a whole body.

use std::time::Duration;

use axum::body::Body;
use futures_util::StreamExt;
use tokio::time::{Instant, timeout_at};

/// How long a body may take, at any pace.
const WHOLE: Duration = Duration::from_secs(45);

/// The minimum throughput of a caller who sends or reads.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// In bytes per second, on average over [`SPAN`](Self::SPAN).
    pub bytes_per_s: u64,
}

impl Pace {
    /// The span of the average, so that a short pause does no harm.
    pub const SPAN: Duration = Duration::from_secs(20);

    /// The time at which a caller becomes too slow if it began at `began` and has transferred
    /// `bytes` since.
    pub fn deadline(self, began: Instant, bytes: u64) -> Instant {
        let earned = Duration::from_millis(bytes.saturating_mul(1_000) / self.bytes_per_s.max(1));
        began + earned.max(Self::SPAN)
    }
}

/// Why a body was refused.
#[derive(Debug, thiserror::Error)]
pub enum ReceiveError {
    /// The body is longer than the limit.
    #[error("the body must be at most {limit_bytes} bytes long")]
    TooLong {
        /// The limit.
        limit_bytes: usize,
    },
    /// The body arrives too slowly.
    #[error(
        "the body arrived too slowly: {got_bytes} bytes in {took_s} s; it must arrive at {} bytes \
         a second and be complete within {} s",
        .pace.bytes_per_s,
        WHOLE.as_secs()
    )]
    TooSlow {
        /// How much arrived.
        got_bytes: usize,
        /// How long that took.
        took_s: u64,
        /// The required pace.
        pace: Pace,
    },
    /// The caller went away or sent a malformed body.
    #[error("the body broke off: {0}")]
    BrokenOff(axum::Error),
}

/// Receives a body of limited length from a caller who keeps the pace.
///
/// # Errors
/// The body is too long, arrives too slowly, or breaks off.
pub async fn receive(body: Body, limit_bytes: usize, pace: Pace) -> Result<Vec<u8>, ReceiveError> {
    let began = Instant::now();
    let (mut pieces, mut got) = (body.into_data_stream(), Vec::new());
    loop {
        let deadline = pace.deadline(began, got.len() as u64).min(began + WHOLE);
        let next = timeout_at(deadline, pieces.next()).await;
        let piece = match next {
            Ok(None) => return Ok(got),
            Ok(Some(piece)) => piece.map_err(ReceiveError::BrokenOff)?,
            Err(_) => {
                let took_s = began.elapsed().as_secs();
                return Err(ReceiveError::TooSlow { got_bytes: got.len(), took_s, pace });
            }
        };
        if piece.len() > limit_bytes - got.len() {
            return Err(ReceiveError::TooLong { limit_bytes });
        }
        got.extend_from_slice(&piece);
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use axum::body::Bytes;
    use futures_util::stream;

    use super::*;

    const PACE: Pace = Pace { bytes_per_s: 100 };

    /// A body of `pieces` pieces of `bytes` bytes each, a second apart.
    fn slow(pieces: usize, bytes: usize) -> Body {
        Body::from_stream(stream::unfold(pieces, move |left| async move {
            let left = left.checked_sub(1)?;
            tokio::time::sleep(Duration::from_secs(1)).await;
            Some((Ok::<_, Infallible>(Bytes::from(vec![b'x'; bytes])), left))
        }))
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_keeps_pace_may_take_its_time() {
        let got = receive(slow(40, 150), 15_000, PACE).await.unwrap();
        assert_eq!(got.len(), 6_000);
        // Any body may take as long as the span.
        assert_eq!(receive(slow(15, 1), 100, PACE).await.unwrap().len(), 15);
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_comes_too_slowly_is_not_waited_for() {
        let error = receive(slow(100, 50), 10_000, PACE).await.unwrap_err().to_string();
        assert!(error.starts_with("the body arrived too slowly: "), "{error}");
        assert!(
            error.ends_with(
                " bytes in 20 s; it must arrive at 100 bytes a second and be complete within 45 s"
            ),
            "{error}"
        );
        let error = receive(slow(100, 150), 15_000, PACE).await.unwrap_err().to_string();
        assert!(error.contains(" bytes in 45 s; "), "{error}");
    }

    #[tokio::test]
    async fn a_body_has_a_longest_length() {
        assert_eq!(receive(Body::from("abc"), 3, PACE).await.unwrap(), b"abc");
        let error = receive(Body::from("abcd"), 3, PACE).await.unwrap_err();
        assert_eq!(error.to_string(), "the body must be at most 3 bytes long");
    }

    #[test]
    fn a_pace_grants_a_span_and_then_what_was_earned() {
        let (pace, began) = (Pace { bytes_per_s: 1_000 }, Instant::now());
        assert_eq!(pace.deadline(began, 0), began + Pace::SPAN);
        assert_eq!(pace.deadline(began, 20_000), began + Pace::SPAN);
        assert_eq!(pace.deadline(began, 60_000), began + Duration::from_secs(60));
    }
}
