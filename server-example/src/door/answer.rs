//! One request of a connection, and its answer.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use axum::Router;
use axum::body::{Body, Bytes, HttpBody};
use axum::http::{HeaderValue, Response, header};
use axum::response::IntoResponse;
use hyper::body::{Frame, Incoming, SizeHint};
use tower::ServiceExt;

use super::host;
use super::party::Peer;
use super::table::{Asking, PIECE_BYTES, Seat};
use crate::{NO_SNIFFING, NOSNIFF};

/// Makes browsers come back over TLS only, for a year (RFC 6797).
const STRICT_TRANSPORT: HeaderValue = HeaderValue::from_static("max-age=31536000");

/// Whom a connection serves, and how.
#[derive(Clone)]
pub struct Guest {
    pub peer: Peer,
    pub seat: Arc<Seat>,
    pub has_tls: bool,
}

/// Answers a request. It is under way until its answer has been taken.
pub async fn answer(
    app: Router,
    Guest { peer, seat, has_tls }: Guest,
    mut request: hyper::Request<Incoming>,
) -> Result<Response<Answered>, Infallible> {
    let asking = seat.asks();
    let mut response = match host::check(&request) {
        Ok(()) => {
            request.extensions_mut().insert(seat.party);
            request.extensions_mut().insert(peer);
            let awaited = |body| Body::new(Awaited { body, seat, awaits: false });
            app.oneshot(request.map(awaited)).await?
        }
        Err(refused) => {
            let mut response = refused.into_response();
            let headers = response.headers_mut();
            headers.insert(NOSNIFF, NO_SNIFFING);
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
            response
        }
    };
    if has_tls {
        response.headers_mut().insert(header::STRICT_TRANSPORT_SECURITY, STRICT_TRANSPORT);
    }
    if asking.is_in_pieces() {
        // HTTP/2 has no such header (RFC 9113, 8.2.2): it ends connections by frames.
        response.headers_mut().remove(header::CONNECTION);
    }
    Ok(response.map(|body| Answered { body, rest: Bytes::new(), offered_bytes: 0, asking }))
}

/// The body of a request. It tells its seat when the server waits for it.
struct Awaited {
    body: Incoming,
    seat: Arc<Seat>,
    awaits: bool,
}

impl Awaited {
    fn awaits(&mut self, awaits: bool) {
        if self.awaits != awaits {
            self.awaits = awaits;
            self.seat.awaits_body(awaits);
        }
    }
}

impl HttpBody for Awaited {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        self.awaits(frame.is_pending());
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Awaited {
    fn drop(&mut self) {
        self.awaits(false);
    }
}

/// The body of an answer. The request is under way until it is dropped.
///
/// Over HTTP/1 the socket tells whether the caller reads. Over HTTP/2 a caller may read and grant
/// no window for this answer; so it leaves in pieces, each made once there is a window for it, and
/// the seat is told of them.
pub struct Answered {
    body: Body,
    /// What is left of the last frame.
    rest: Bytes,
    /// Length of the piece that was handed over last.
    offered_bytes: usize,
    asking: Asking,
}

impl HttpBody for Answered {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if !self.asking.is_in_pieces() {
            return Pin::new(&mut self.body).poll_frame(context);
        }
        if self.offered_bytes > 0 {
            self.asking.is_taken(self.offered_bytes);
            self.offered_bytes = 0;
        }
        if self.rest.is_empty() {
            let next = Pin::new(&mut self.body).poll_frame(context);
            if !matches!(next, Poll::Ready(Some(Ok(_)))) {
                self.asking.has_no_piece();
            }
            match ready!(next) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => self.rest = data,
                    Err(frame) => return Poll::Ready(Some(Ok(frame))),
                },
                end_or_error => return Poll::Ready(end_or_error),
            }
        }
        let bytes = self.rest.len().min(PIECE_BYTES);
        let piece = self.rest.split_to(bytes);
        self.offered_bytes = bytes;
        self.asking.offers();
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    /// Over HTTP/2 the end is told once the last piece has been taken, or that piece would not be
    /// waited for.
    fn is_end_stream(&self) -> bool {
        self.offered_bytes == 0 && self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (mut hint, rest) = (self.body.size_hint(), self.rest.len() as u64);
        if let Some(upper) = hint.upper() {
            hint.set_upper(upper + rest);
        }
        hint.set_lower(hint.lower() + rest);
        hint
    }
}
