//! One connection, from its first byte to its last.

use std::convert::Infallible;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes, HttpBody};
use axum::http::{HeaderValue, Response, header};
use axum::response::IntoResponse;
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio::time::{Instant, sleep};
use tower::ServiceExt;

use super::host;
use super::party::Peer;
use super::table::{Asking, Leave, Place, Seat};
use super::watched::Watched;
use crate::{NO_SNIFFING, NOSNIFF};

/// Longest head: the longest query string and room for headers.
const MAX_HEAD_BYTES: usize = 64 * 1024;

/// How long the answer to a request may take that arrived while its connection was being closed.
/// The table no longer watches it.
const LAST_ANSWER: Duration = Duration::from_secs(10);

/// How a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// By either side, in order or not.
    Itself,
    /// It was closed by the table; what was under way is not finished.
    CutOff,
}

/// Serves HTTP/1 over a stream until its end, or until the table closes it.
///
/// `hyper` could time the heads itself, but its clock starts with the wait for them, so an idle
/// connection would have no more time than a slow one; the table times both.
pub async fn serve_stream<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut S,
    peer: Peer,
    place: &Place,
    app: Router,
    mut stop: watch::Receiver<bool>,
) -> Ended {
    let seat = &place.seat;
    let asked_for = Arc::clone(seat);
    let service =
        service_fn(move |request| answer(app.clone(), peer, Arc::clone(&asked_for), request));
    let stream = TokioIo::new(Watched::new(stream, Arc::clone(seat)));
    let mut connection = pin!(
        http1::Builder::new()
            .max_buf_size(MAX_HEAD_BYTES)
            .header_read_timeout(None)
            .serve_connection(stream, service)
    );
    let (mut stopping, mut leaving) = (false, false);
    let mut last_answer = pin!(sleep(LAST_ANSWER));
    loop {
        tokio::select! {
            // Errors on the wire concern only the caller.
            _ = &mut connection => return Ended::Itself,
            _ = stop.wait_for(|stop| *stop), if !stopping => {
                stopping = true;
                connection.as_mut().graceful_shutdown();
            }
            (leave, is_busy) = seat.leave(), if !leaving => {
                if matches!(leave, Leave::TooSlow | Leave::OfMany) {
                    return Ended::CutOff;
                }
                if !is_busy {
                    return Ended::Itself;
                }
                // A request has just arrived: it is answered first.
                leaving = true;
                connection.as_mut().graceful_shutdown();
                last_answer.as_mut().reset(Instant::now() + LAST_ANSWER);
            }
            () = &mut last_answer, if leaving => return Ended::CutOff,
        }
    }
}

async fn answer(
    app: Router,
    peer: Peer,
    seat: Arc<Seat>,
    mut request: hyper::Request<Incoming>,
) -> Result<Response<Answered>, Infallible> {
    let asking = seat.asks();
    let response = match host::check(&request) {
        Ok(()) => {
            request.extensions_mut().insert(seat.party);
            request.extensions_mut().insert(peer);
            let awaited = |body| Body::new(Awaited { body, seat });
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
    Ok(response.map(|body| Answered { body, _asking: asking }))
}

/// The body of a request. It tells its seat when the server waits for it.
struct Awaited {
    body: Incoming,
    seat: Arc<Seat>,
}

impl HttpBody for Awaited {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        self.seat.awaits_body(frame.is_pending());
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
        self.seat.awaits_body(false);
    }
}

/// The body of an answer. The request is under way until it is dropped.
struct Answered {
    body: Body,
    _asking: Asking,
}

impl HttpBody for Answered {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
