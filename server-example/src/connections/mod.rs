//! Connections: who may connect, for how long, and how fast they must be.
//!
//! No caller can hold a connection without using it, be it by silence, by a head that does not end
//! or by an answer that it does not read. No caller can hold so many connections that others get
//! none.
//!
//! | What | Where |
//! | --- | --- |
//! | The numbers | [`ConnectionLimits`] |
//! | The open connections, and which one is closed when there is no room | `table.rs` |
//! | What a connection is doing | `connection_state.rs` |
//! | One connection, over HTTP/1 or HTTP/2 | `connection.rs`, `watched.rs` |
//! | Floods of HTTP/2 frames | `frames.rs` |
//! | One request of a connection | `answer.rs`, `host.rs` |
//! | TLS: the certificate and its replacement | [`Certificate`], `validity.rs` |
//!
//! TLS is between `watched.rs` and `connection.rs`: `watched.rs` watches the socket. The time of a
//! first head counts from the accept, so it includes the handshake.

mod answer;
mod connection;
mod connection_state;
mod frames;
mod host;
mod limits;
mod table;
mod tls;
mod validity;
mod watched;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use socket2::SockRef;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, timeout};
use tokio_rustls::TlsAcceptor;

use crate::limits::{ClientAddr, Peer};
use answer::AcceptedConnection;
pub use answer::Service;
use connection::{Ending, serve_http1, serve_http2};
pub use limits::{ConnectionLimits, raise_file_limit};
use table::ConnectionGuard;
pub use table::Table;
pub use tls::{Certificate, TlsError};
use watched::WatchedStream;

/// How often the server looks for connections that take too long.
const LOOK: Duration = Duration::from_millis(500);

/// How long the server waits if it can open no more connections, and how often it logs that.
const OUT_OF_FILES: Duration = Duration::from_millis(50);
const SAY_AGAIN: Duration = Duration::from_secs(60);

/// How much unsent data of an answer the system may hold. With much more, a slow reader would seem
/// not to read at all until the buffer is empty.
const UNSENT_BYTES: u32 = 128 * 1024;

/// The answer to a new connection when there is no room.
const NO_ROOM: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\n\
    content-type: application/json\r\nx-content-type-options: nosniff\r\nretry-after: 5\r\n\
    content-length: 48\r\n\r\n\"too many connections are open; try again later\"";

/// Everything that one listening socket serves.
#[derive(Clone)]
pub struct Connections {
    /// The service.
    pub app: Service,
    /// The table of connections.
    pub table: Arc<Table>,
    /// Maximum number of requests at a time on an HTTP/2 connection.
    pub max_streams: u32,
    /// TLS; without it, connections are not encrypted.
    pub tls: Option<TlsAcceptor>,
}

/// Serves connections until told to stop. Then requests in flight have some time to finish.
///
/// Returns whether everything was finished.
pub async fn serve(
    listener: TcpListener,
    served: Connections,
    mut stop_requested: BoxFuture<'static, ()>,
    shutdown_grace: Duration,
) -> bool {
    let table = Arc::clone(&served.table);
    let (stop, stopped) = watch::channel(false);
    // Each connection has a sender, so the receiver knows when the last one is gone.
    let (alive, mut all_gone) = mpsc::channel::<()>(1);
    let mut look = interval(LOOK);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut said: Option<Instant> = None;
    loop {
        tokio::select! {
            () = &mut stop_requested => break,
            now = look.tick() => table.sweep(now),
            accepted = accept(&listener, &table) => match accepted {
                Ok((stream, peer)) => match table.admit(ClientAddr::of(peer.ip())) {
                    Some(guard) => {
                        let (served, stopped, alive) = (served.clone(), stopped.clone(), alive.clone());
                        tokio::spawn(async move {
                            served.serve(stream, Peer(peer.ip()), guard, stopped).await;
                            drop(alive);
                        });
                    }
                    None => served.refuse(&stream),
                },
                Err(error) if is_of_the_caller(&error) => {}
                Err(error) => {
                    if said.is_none_or(|said| said.elapsed() > SAY_AGAIN) {
                        tracing::error!("cannot accept connections: {error}");
                        said = Some(Instant::now());
                    }
                    table.make_room();
                    sleep(OUT_OF_FILES).await;
                }
            },
        }
    }
    drop((listener, served, alive, stopped));
    stop.send_replace(true);
    let all_gone = async {
        let mut look = interval(LOOK);
        loop {
            tokio::select! {
                _ = all_gone.recv() => break,
                // The server does not wait for slow callers.
                now = look.tick() => table.sweep(now),
            }
        }
    };
    timeout(shutdown_grace, all_gone).await.is_ok()
}

impl Connections {
    async fn serve(
        self,
        mut stream: TcpStream,
        peer: Peer,
        guard: ConnectionGuard,
        stopped: watch::Receiver<bool>,
    ) {
        // Without these options the connection is only slower.
        let _ = stream.set_nodelay(true);
        #[cfg(target_os = "linux")]
        let _ = SockRef::from(&stream).set_tcp_notsent_lowat(UNSENT_BYTES);
        if self.serve_stream(&mut stream, peer, &guard, stopped).await == Ending::CutOff {
            // The system discards its buffer too, so the caller knows that the answer is
            // incomplete.
            let _ = stream.set_zero_linger();
        }
        // Close the file before another connection may take its place.
        drop(stream);
        drop(guard);
    }

    async fn serve_stream(
        self,
        stream: &mut TcpStream,
        peer: Peer,
        guard: &ConnectionGuard,
        mut stopped: watch::Receiver<bool>,
    ) -> Ending {
        let connection_state = Arc::clone(&guard.connection_state);
        let watched = WatchedStream::new(stream, Arc::clone(&connection_state));
        let accepted = AcceptedConnection { peer, connection_state, has_tls: self.tls.is_some() };
        let Some(tls) = self.tls else {
            return serve_http1(watched, accepted, self.app, stopped).await;
        };
        let stream = tokio::select! {
            // A failed handshake concerns only the caller.
            made = tls.accept(watched) => match made {
                Ok(stream) => stream,
                Err(_) => return Ending::Itself,
            },
            _ = accepted.connection_state.close_requested() => return Ending::CutOff,
            _ = stopped.wait_for(|stop| *stop) => return Ending::CutOff,
        };
        if stream.get_ref().1.alpn_protocol() == Some(tls::HTTP2) {
            serve_http2(stream, accepted, self.app, stopped, self.max_streams).await
        } else {
            serve_http1(stream, accepted, self.app, stopped).await
        }
    }

    /// Tells a new connection that there is no room, without waiting. With TLS nothing can be sent
    /// before the handshake.
    fn refuse(&self, stream: &TcpStream) {
        if self.tls.is_some() {
            return;
        }
        // If the write fails, the caller finds out when the connection closes.
        let _ = stream.try_write(NO_ROOM);
        // Unread input would make the system discard the answer.
        let _ = stream.try_read(&mut [0; 4096]);
    }
}

/// Accepts the next connection once a file is free for it.
async fn accept(listener: &TcpListener, table: &Table) -> io::Result<(TcpStream, SocketAddr)> {
    // Connections that are slow to close do not keep others waiting.
    let _ = timeout(OUT_OF_FILES, table.closed_enough()).await;
    listener.accept().await
}

/// Whether the connection was gone before it was accepted.
fn is_of_the_caller(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}
