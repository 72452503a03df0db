//! How long a station takes at a steady rate while slow clients are attached.
//!
//! `cargo run --release -p mesonet-server --example slow_clients -- [RATE [SECONDS [SLOW [ADDR]]]]`
//! attaches clients that send the head of a request byte by byte to a running server, and come back
//! when it sends them away; then asks for stations of the sample and prints the percentiles of the
//! time from when a request was due until its answer was there. Before that it does the same with a
//! handler of axum that only gives out an answer of the same size, for comparison. The server's rate
//! limit must be lifted, and it must be a server in a process of its own:
//! `mesonet-server --rate-requests 0`.

mod steady;

use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use mesonet::StationId;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpSocket};

/// Airports of the sample.
const STATIONS: [&str; 8] = ["KBUF", "KJFK", "KORD", "CYYZ", "CYVR", "KDEN", "KSEA", "KMIA"];

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let ([rate, seconds, slow], address) = steady::arguments([2000, 20, 1000])?;
    let address: SocketAddr = address.parse()?;
    let ids = STATIONS.map(|station| StationId::new("METAR", station));
    let path = move |number: u64| format!("/api/v1/stations/{}", ids[number as usize % ids.len()]);

    let first = steady::ask(&address.to_string(), 100, 1, path).await?;
    let body = "x".repeat(first.bytes / 100);
    let app = Router::new().route("/api/v1/stations/{id}", get(move || async move { body }));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let bare = listener.local_addr()?;
    tokio::spawn(async move { axum::serve(listener, app).await });

    let bare = attached(bare, slow, rate, seconds, path).await?;
    println!("bare handler: {bare}");
    let served = attached(address, slow, rate, seconds, path).await?;
    println!("server:       {served}");
    println!(
        "ratio: median {:.2}, p99 {:.2}",
        served.ms(0.5) / bare.ms(0.5),
        served.ms(0.99) / bare.ms(0.99)
    );
    Ok(())
}

/// Asks while slow clients are attached.
async fn attached(
    address: SocketAddr,
    slow: u64,
    rate: u64,
    seconds: u64,
    path: impl Fn(u64) -> String + Send + Sync + 'static,
) -> Result<steady::Took, Box<dyn Error>> {
    let open = Arc::new(AtomicUsize::new(0));
    let clients: Vec<_> =
        (0..slow).map(|number| tokio::spawn(dawdle(address, number, Arc::clone(&open)))).collect();
    tokio::time::sleep(Duration::from_secs(3)).await;
    let before = open.load(Ordering::Relaxed);
    let took = steady::ask(&address.to_string(), rate, seconds, path).await;
    println!("{before} slow clients attached before, {} after", open.load(Ordering::Relaxed));
    clients.iter().for_each(tokio::task::JoinHandle::abort);
    took
}

/// Connects from one of many addresses, sends a byte of a head every two seconds, and starts again
/// when it is sent away.
async fn dawdle(address: SocketAddr, number: u64, open: Arc<AtomicUsize>) {
    let from = Ipv4Addr::new(127, 0, 1, (number % 250) as u8 + 1);
    loop {
        let connected = async {
            let socket = TcpSocket::new_v4()?;
            socket.bind(SocketAddr::from((from, 0)))?;
            socket.connect(address).await
        };
        if let Ok(mut stream) = connected.await {
            open.fetch_add(1, Ordering::Relaxed);
            for byte in "GET /api/v1/stations HTTP/1.1\r\nHost: x\r\nX-Slow: ".bytes() {
                if stream.write_all(&[byte]).await.is_err() {
                    break;
                }
                tokio::time::sleep(Duration::from_secs(2)).await;
            }
            open.fetch_sub(1, Ordering::Relaxed);
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}
