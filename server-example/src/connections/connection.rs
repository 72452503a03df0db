//! One connection, from its first byte to its last.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use super::answer::{AcceptedConnection, Service, answer};
use super::connection_state::{CloseReason, ConnectionState};
use super::frames::CountedStream;

/// Length of the longest head: the longest query string and room for headers.
const MAX_HEAD_BYTES: usize = 64 * 1024;

/// How long an answer may take if its request arrived while the connection was being closed. The
/// table no longer watches such a connection.
const LAST_ANSWER: Duration = Duration::from_secs(10);

/// How long the caller of an idle HTTP/2 connection may take to learn that it ends.
const LAST_WORD: Duration = Duration::from_secs(1);

/// Limits of HTTP/2 that the table does not have. A body that the server does not read yet may fill
/// the window. With more resets than this, the connection ends (CVE-2023-44487). `h2` limits the
/// number of CONTINUATION frames by the length of a head.
const WINDOW_BYTES: u32 = 256 * 1024;
const MAX_RESETS_BY_CALLER: usize = 20;
const MAX_RESETS_BY_SERVER: usize = 256;

/// How often the server pings a caller, and how long the caller may take to answer.
const PING: Duration = Duration::from_secs(20);
const PONG: Duration = Duration::from_secs(10);

/// How a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Either side ended it, properly or not.
    Itself,
    /// The table closed it. Requests in flight are not finished.
    CutOff,
}

/// Serves HTTP/1 over a stream until it ends, or until the table closes it.
///
/// `hyper` could time the heads itself. But its clock starts with the wait for a head, so an idle
/// connection would have no more time than a slow one. So the table times both.
pub async fn serve_http1<S: AsyncRead + AsyncWrite + Unpin>(
    stream: S,
    accepted: AcceptedConnection,
    app: Service,
    stop: watch::Receiver<bool>,
) -> Ending {
    let connection_state = Arc::clone(&accepted.connection_state);
    let connection = http1::Builder::new()
        .max_buf_size(MAX_HEAD_BYTES)
        .header_read_timeout(None)
        .serve_connection(
            TokioIo::new(stream),
            service_fn(move |request| answer(app.clone(), accepted.clone(), request)),
        );
    let close = |connection: Pin<&mut http1::Connection<_, _>>| connection.graceful_shutdown();
    drive(connection, close, &connection_state, stop, Duration::ZERO).await
}

/// Serves HTTP/2 over a stream, with a maximum number of requests at a time.
pub async fn serve_http2<S: AsyncRead + AsyncWrite + Unpin>(
    stream: S,
    accepted: AcceptedConnection,
    app: Service,
    stop: watch::Receiver<bool>,
    max_streams: u32,
) -> Ending {
    let connection_state = Arc::clone(&accepted.connection_state);
    connection_state.speaks_http2();
    let connection = http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .max_concurrent_streams(max_streams)
        .max_header_list_size(MAX_HEAD_BYTES as u32)
        .initial_connection_window_size(WINDOW_BYTES)
        .initial_stream_window_size(WINDOW_BYTES)
        .max_send_buf_size(WINDOW_BYTES as usize)
        .max_pending_accept_reset_streams(MAX_RESETS_BY_CALLER)
        .max_local_error_reset_streams(MAX_RESETS_BY_SERVER)
        .keep_alive_interval(PING)
        .keep_alive_timeout(PONG)
        .serve_connection(
            TokioIo::new(CountedStream::new(stream)),
            service_fn(move |request| answer(app.clone(), accepted.clone(), request)),
        );
    let close = |connection: Pin<&mut http2::Connection<_, _, _>>| connection.graceful_shutdown();
    drive(connection, close, &connection_state, stop, LAST_WORD).await
}

/// Drives a connection. `close` tells it to take no more requests. A connection that is idle when it
/// must close has some time to tell its caller.
async fn drive<C: Future>(
    connection: C,
    close: impl Fn(Pin<&mut C>),
    connection_state: &ConnectionState,
    mut stop: watch::Receiver<bool>,
    last_word: Duration,
) -> Ending {
    let mut connection = pin!(connection);
    let (mut stopping, mut closing) = (false, None);
    let mut last_answer = pin!(sleep(LAST_ANSWER));
    loop {
        tokio::select! {
            // Errors of a connection concern only its caller.
            _ = &mut connection => return Ending::Itself,
            _ = stop.wait_for(|stop| *stop), if !stopping => {
                stopping = true;
                close(connection.as_mut());
            }
            (reason, is_busy) = connection_state.close_requested(), if closing.is_none() => {
                if matches!(reason, CloseReason::TooSlow | CloseReason::OfMany) {
                    return Ending::CutOff;
                }
                let grace = if is_busy { LAST_ANSWER } else { last_word };
                if grace.is_zero() {
                    return Ending::Itself;
                }
                // A request that has just arrived is answered first.
                closing = Some(if is_busy { Ending::CutOff } else { Ending::Itself });
                close(connection.as_mut());
                last_answer.as_mut().reset(Instant::now() + grace);
            }
            () = &mut last_answer, if closing.is_some() => {
                return closing.unwrap_or(Ending::CutOff);
            }
        }
    }
}
