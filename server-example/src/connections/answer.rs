//! One request of a connection, and its answer.

use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::{HeaderValue, Response, header};
use axum::response::{self, IntoResponse};
use futures_util::future::BoxFuture;
use hyper::body::{Frame, Incoming, SizeHint};
use tokio::time::timeout;

use super::connection_state::{ConnectionState, InFlight, PIECE_BYTES};
use super::host;
use crate::http::{NO_SNIFFING, NOSNIFF};
use crate::limits::Peer;
use mesonet_service::sync::lock;

/// Makes browsers use only TLS for a year (RFC 6797).
const STRICT_TRANSPORT: HeaderValue = HeaderValue::from_static("max-age=31536000");

const CLOSE: HeaderValue = HeaderValue::from_static("close");

/// How much of an unwanted body is read, and how long that may take. Most refused bodies have been
/// sent before the answer is there.
const DRAINED_BYTES: u64 = 64 * 1024;
const DRAIN: Duration = Duration::from_secs(1);

/// What answers the requests.
pub type Service = Arc<dyn Fn(Request) -> BoxFuture<'static, response::Response> + Send + Sync>;

/// The caller of a connection, and how the connection is served.
#[derive(Clone)]
pub struct AcceptedConnection {
    pub peer: Peer,
    pub connection_state: Arc<ConnectionState>,
    pub has_tls: bool,
}

/// Answers a request. The request is in flight until the caller has taken the answer.
pub async fn answer(
    app: Service,
    AcceptedConnection { peer, connection_state, has_tls }: AcceptedConnection,
    mut request: hyper::Request<Incoming>,
) -> Result<Response<AnswerBody>, Infallible> {
    let in_flight = connection_state.begin_request();
    let mut rest = UnreadBody::of(&request);
    let mut response = match host::check(&request) {
        Ok(()) => {
            request.extensions_mut().insert(peer);
            let request = request.map(|incoming| {
                if incoming.is_end_stream() {
                    return Body::empty();
                }
                let body = Arc::new(Mutex::new(Some(incoming)));
                rest.body = Some(Arc::clone(&body));
                Body::new(RequestBody { body, connection_state, awaits: false })
            });
            let mut response = app(request).await;
            if !in_flight.is_in_pieces() && !rest.is_drained().await {
                // The caller would send its next request into a connection that closes.
                response.headers_mut().insert(header::CONNECTION, CLOSE);
            }
            response
        }
        Err(refused) => {
            let mut response = refused.into_response();
            let headers = response.headers_mut();
            headers.insert(NOSNIFF, NO_SNIFFING);
            headers.insert(header::CONNECTION, CLOSE);
            response
        }
    };
    if has_tls {
        response.headers_mut().insert(header::STRICT_TRANSPORT_SECURITY, STRICT_TRANSPORT);
    }
    if in_flight.is_in_pieces() {
        // HTTP/2 has no such header (RFC 9113, 8.2.2): it ends connections by frames.
        response.headers_mut().remove(header::CONNECTION);
    }
    Ok(response.map(|body| AnswerBody { body, rest: Bytes::new(), offered_bytes: 0, in_flight }))
}

/// The body of a request, shared by the server and the handler.
type Shared = Arc<Mutex<Option<Incoming>>>;

/// The part of the body of a request that may be unread when the answer is there.
struct UnreadBody {
    /// `None` for a request without a body.
    body: Option<Shared>,
    /// Whether the caller waits to be asked for the body.
    is_held_back: bool,
}

impl UnreadBody {
    fn of(request: &hyper::Request<Incoming>) -> Self {
        let is_held_back = request.headers().contains_key(header::EXPECT);
        Self { body: None, is_held_back }
    }

    /// Reads the rest of the body, if it is short and comes soon. Returns whether nothing is left.
    async fn is_drained(&self) -> bool {
        // The reader of the body has returned it here, or has read it to the end.
        let body = self.body.as_ref().and_then(|body| lock(body).take());
        let Some(mut body) = body else { return true };
        if body.is_end_stream() {
            return true;
        }
        if self.is_held_back || body.size_hint().lower() > DRAINED_BYTES {
            return false;
        }
        let drain = async {
            let mut drained = 0;
            while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await
            {
                let Ok(frame) = frame else { return false };
                drained += frame.data_ref().map_or(0, |data| data.len() as u64);
                if drained > DRAINED_BYTES {
                    return false;
                }
            }
            true
        };
        timeout(DRAIN, drain).await.unwrap_or(false)
    }
}

/// The body of a request. It tells the connection state when the server waits for it.
struct RequestBody {
    body: Shared,
    connection_state: Arc<ConnectionState>,
    awaits: bool,
}

impl RequestBody {
    fn awaits(&mut self, awaits: bool) {
        if self.awaits != awaits {
            self.awaits = awaits;
            self.connection_state.awaits_body(awaits);
        }
    }
}

impl HttpBody for RequestBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = match &mut *lock(&self.body) {
            Some(body) => Pin::new(body).poll_frame(context).map_err(axum::Error::new),
            // This is not the end of the body.
            None => Poll::Ready(Some(Err(axum::Error::new("its answer has been given")))),
        };
        self.awaits(frame.is_pending());
        frame
    }

    fn is_end_stream(&self) -> bool {
        lock(&self.body).as_ref().is_none_or(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        lock(&self.body).as_ref().map_or_else(SizeHint::default, HttpBody::size_hint)
    }
}

impl Drop for RequestBody {
    fn drop(&mut self) {
        self.awaits(false);
    }
}

/// The body of an answer. The request is in flight until the body is dropped.
///
/// Over HTTP/1 the socket tells whether the caller reads. Over HTTP/2 a caller may read but grant
/// no window for this answer. So the answer is sent in pieces. Each piece is made once there is a
/// window for it, and the connection state is told of each.
pub struct AnswerBody {
    body: Body,
    /// What is left of the last frame.
    rest: Bytes,
    /// Length of the last piece that was handed over.
    offered_bytes: usize,
    in_flight: InFlight,
}

impl HttpBody for AnswerBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if !self.in_flight.is_in_pieces() {
            return Pin::new(&mut self.body).poll_frame(context);
        }
        if self.offered_bytes > 0 {
            self.in_flight.is_taken(self.offered_bytes);
            self.offered_bytes = 0;
        }
        if self.rest.is_empty() {
            let next = Pin::new(&mut self.body).poll_frame(context);
            if !matches!(next, Poll::Ready(Some(Ok(_)))) {
                self.in_flight.has_no_piece();
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
        self.in_flight.offers();
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    /// Over HTTP/2 the end is reported only once the last piece has been taken. Otherwise the
    /// server would not wait for that piece.
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
