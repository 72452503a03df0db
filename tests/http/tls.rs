//! TLS and HTTP/2 over real sockets, with clients of other projects.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use axum::http::{Request, Response, StatusCode, Version};
use h2::client::{self, SendRequest};
use h2::{Reason, RecvStream};
use http_body_util::{BodyExt, Empty};
use hyper::body::Bytes;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rcgen::{CertificateParams, KeyPair, date_time_ymd};
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ProtocolVersion, RootCertStore, SupportedProtocolVersion, version};
use tempfile::TempDir;
use tokio::net::TcpSocket;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::process::{PATIENCE, Server, output};

const SMALL: &str = "/api/v1/observations/units";

/// A grid of every minute of 12 hours at all stations: many megabytes.
const BIG: &str = "/api/v1/stations/readings?step=1";

/// A server with TLS, and the certificate that its clients trust.
struct Secured {
    folder: TempDir,
    root: CertificateDer<'static>,
    server: Server,
}

/// Writes a certificate of localhost, valid until a given year, and its key.
fn write_certificate(folder: &TempDir, until: i32) -> CertificateDer<'static> {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(["localhost".to_owned()]).unwrap();
    (params.not_before, params.not_after) = (date_time_ymd(2020, 1, 1), date_time_ymd(until, 1, 1));
    let certificate = params.self_signed(&key).unwrap();
    for (name, text) in [("key.pem", key.serialize_pem()), ("cert.pem", certificate.pem())] {
        // The files appear complete, as a program that renews a certificate should write them.
        let new = folder.path().join("new");
        std::fs::write(&new, text).unwrap();
        std::fs::rename(new, folder.path().join(name)).unwrap();
    }
    certificate.der().clone()
}

fn secured(args: &[&str]) -> Secured {
    let folder = TempDir::new().unwrap();
    let root = write_certificate(&folder, 2999);
    // A server without the sample starts at once.
    let live: &[&str] = if args.contains(&"--now") { &[] } else { &["--now", "live"] };
    let own = ["--tls-cert", "cert.pem", "--tls-key", "key.pem"];
    let server = Server::start(&folder, &[&own, live, args].concat());
    assert!(server.log().contains("listening on https://"), "{}", server.log());
    Secured { folder, root, server }
}

fn connector(
    root: &CertificateDer<'static>,
    versions: &[&'static SupportedProtocolVersion],
    alpn: &str,
) -> TlsConnector {
    let mut roots = RootCertStore::empty();
    roots.add(root.clone()).unwrap();
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(versions)
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![alpn.as_bytes().to_vec()];
    TlsConnector::from(Arc::new(config))
}

/// A connection from 127.0.0.x, over TLS 1.3.
async fn connect(secured: &Secured, from: u8, alpn: &str) -> TlsStream<tokio::net::TcpStream> {
    let connector = connector(&secured.root, &[&version::TLS13], alpn);
    handshake(secured.server.address(), from, connector).await.unwrap()
}

async fn handshake(
    server: SocketAddr,
    from: u8,
    connector: TlsConnector,
) -> std::io::Result<TlsStream<tokio::net::TcpStream>> {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(SocketAddr::from((Ipv4Addr::new(127, 0, 0, from), 0))).unwrap();
    let stream = socket.connect(server).await?;
    // As every client does: a window that is granted late would hold up each 16 KiB of an answer.
    stream.set_nodelay(true)?;
    connector.connect(ServerName::try_from("localhost").unwrap(), stream).await
}

fn request(path: &str) -> Request<()> {
    Request::get(format!("https://localhost{path}")).version(Version::HTTP_2).body(()).unwrap()
}

/// An HTTP/2 connection by `h2`, with the given window for its streams.
async fn streams(
    secured: &Secured,
    window_bytes: u32,
) -> (SendRequest<Bytes>, tokio::task::JoinHandle<Result<(), h2::Error>>) {
    let stream = connect(secured, 1, "h2").await;
    let (client, connection) = client::Builder::new()
        .initial_window_size(window_bytes)
        .max_header_list_size(1 << 20)
        .handshake(stream)
        .await
        .unwrap();
    (client.ready().await.unwrap(), tokio::spawn(connection))
}

async fn whole(response: Response<RecvStream>) -> Vec<u8> {
    let (mut body, mut got) = (response.into_body(), Vec::new());
    while let Some(piece) = body.data().await {
        let piece = piece.unwrap();
        body.flow_control().release_capacity(piece.len()).unwrap();
        got.extend_from_slice(&piece);
    }
    got
}

#[tokio::test]
async fn both_versions_of_tls_and_of_http_give_one_answer_and_send_browsers_back() {
    let secured = secured(&[]);
    let mut bodies = Vec::new();
    for (tls, alpn) in [
        (&version::TLS12, "http/1.1"),
        (&version::TLS13, "http/1.1"),
        (&version::TLS12, "h2"),
        (&version::TLS13, "h2"),
    ] {
        let connector = connector(&secured.root, &[tls], alpn);
        let stream = handshake(secured.server.address(), 1, connector).await.unwrap();
        let agreed = stream.get_ref().1;
        assert_eq!(agreed.alpn_protocol(), Some(alpn.as_bytes()));
        let expected = if tls.version == ProtocolVersion::TLSv1_2 {
            ProtocolVersion::TLSv1_2
        } else {
            ProtocolVersion::TLSv1_3
        };
        assert_eq!(agreed.protocol_version(), Some(expected));
        let stream = TokioIo::new(stream);
        let asked = Request::get(format!("https://localhost{SMALL}")).header("host", "localhost");
        let asked = asked.body(Empty::<Bytes>::new()).unwrap();
        let response = if alpn == "h2" {
            let made = hyper::client::conn::http2::handshake(TokioExecutor::new(), stream).await;
            let (mut client, connection) = made.unwrap();
            tokio::spawn(connection);
            client.send_request(asked).await.unwrap()
        } else {
            let (mut client, connection) =
                hyper::client::conn::http1::handshake(stream).await.unwrap();
            tokio::spawn(connection);
            client.send_request(asked).await.unwrap()
        };
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers()["strict-transport-security"], "max-age=31536000");
        bodies.push(response.into_body().collect().await.unwrap().to_bytes());
    }
    assert!(bodies[0].len() > 1_000 && bodies.iter().all(|body| *body == bodies[0]));
    assert_eq!(secured.server.stop().0, Some(0));
}

#[test]
fn in_the_clear_nobody_is_sent_to_tls_and_over_tls_nothing_is_said_in_the_clear() {
    let folder = TempDir::new().unwrap();
    let plain = Server::start(&folder, &["--now", "live"]);
    let (head, _) = plain.get(SMALL);
    assert!(head.starts_with("HTTP/1.1 200") && !head.contains("strict-transport"), "{head}");
    let secured = secured(&[]);
    let mut stream = TcpStream::connect(secured.server.address()).unwrap();
    write!(stream, "GET {SMALL} HTTP/1.1\r\nhost: a\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    // An alert of TLS at most.
    assert!(!answer.starts_with(b"HTTP") && answer.len() < 100, "{answer:?}");
}

#[test]
fn a_certificate_that_cannot_serve_keeps_the_server_from_starting() {
    let folder = TempDir::new().unwrap();
    let refusal = |args: &[&str]| {
        let own = ["--listen", "127.0.0.1:0", "--now", "live"];
        let (ok, _, error) = output(folder.path(), &[&own, args].concat());
        assert!(!ok);
        error
    };
    let both = ["--tls-cert", "cert.pem", "--tls-key", "key.pem"];
    assert_eq!(
        refusal(&both[..2]),
        "error: tls_cert is one without tls_key, or the other way; it must be both or neither\n"
    );
    assert!(refusal(&both).starts_with("error: the file cert.pem: "));
    write_certificate(&folder, 2021);
    assert_eq!(
        refusal(&both),
        "error: the certificate in cert.pem is valid from 2020-01-01T00:00:00Z to \
         2021-01-01T00:00:00Z, not now\n"
    );
    write_certificate(&folder, 2999);
    let other = KeyPair::generate().unwrap().serialize_pem();
    std::fs::write(folder.path().join("key.pem"), other).unwrap();
    assert_eq!(
        refusal(&both),
        "error: the key in key.pem is not that of the certificate in cert.pem\n"
    );
    assert!(!folder.path().join("mesonet-data").exists(), "nothing was made");
}

#[tokio::test]
async fn a_handshake_that_does_not_go_on_is_cut_and_the_place_is_free_again() {
    let secured = secured(&["--head-timeout-s", "1", "--max-connections", "8"]);
    let began = Instant::now();
    let mut slow: Vec<TcpStream> = Vec::new();
    for from in 0..8 {
        let mut stream = TcpStream::connect(secured.server.address()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        if from % 2 == 0 {
            // The start of a ClientHello.
            stream.write_all(&[22, 3, 1, 2, 0, 1, 0]).unwrap();
        }
        slow.push(stream);
    }
    for stream in &mut slow {
        let mut byte = [0];
        // An end or a reset.
        assert!(!matches!(stream.read(&mut byte), Ok(1..)));
    }
    assert!(began.elapsed() >= Duration::from_millis(900), "{:?}", began.elapsed());
    assert!(began.elapsed() < PATIENCE / 2);
    // A handshake without a request has the same time limit.
    let mut silent = connect(&secured, 1, "h2").await;
    let mut rest = Vec::new();
    let ended = tokio::io::AsyncReadExt::read_to_end(&mut silent, &mut rest);
    let _ = tokio::time::timeout(PATIENCE, ended).await.expect("it is cut");
    connect(&secured, 1, "h2").await;
}

#[tokio::test]
async fn requests_share_a_connection_up_to_the_number_of_streams() {
    let secured = secured(&["--max-streams", "3"]);
    let (mut client, connection) = streams(&secured, 1 << 20).await;
    // From the first answer on, the client knows the maximum number.
    let first = client.send_request(request(SMALL), true).unwrap().0.await.unwrap();
    whole(first).await;
    let mut answers = Vec::new();
    for _ in 0..10 {
        client = client.ready().await.unwrap();
        answers.push(client.send_request(request(SMALL), true).unwrap().0);
    }
    for answer in answers {
        let answer = answer.await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK);
        assert!(whole(answer).await.len() > 1_000);
    }
    assert_eq!(client.current_max_send_streams(), 3);
    drop(client);
    connection.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_head_that_is_too_long_is_a_431_and_the_connection_goes_on() {
    let secured = secured(&[]);
    let (mut client, _connection) = streams(&secured, 1 << 20).await;
    let mut long = request(SMALL);
    for number in 0..10 {
        let name = axum::http::HeaderName::try_from(format!("x-long-{number}")).unwrap();
        long.headers_mut().insert(name, "x".repeat(8_000).parse().unwrap());
    }
    let refused = client.send_request(long, true).unwrap().0.await;
    match refused {
        Ok(response) => assert_eq!(response.status(), 431),
        Err(error) => assert!(!error.is_go_away(), "{error}"),
    }
    let answer = client.send_request(request(SMALL), true).unwrap().0.await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
}

/// A frame of HTTP/2 (RFC 9113, 4.1).
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// The start of a connection: the preface and an empty SETTINGS frame.
fn preface() -> Vec<u8> {
    [b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(), frame(4, 0, 0, &[])].concat()
}

/// CVE-2023-44487.
#[tokio::test]
async fn requests_that_are_reset_as_they_come_end_the_connection() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let secured = secured(&[]);
    let mut stream = connect(&secured, 1, "h2").await;
    let mut bytes = preface();
    for number in 0..2_000 {
        let stream = 2 * number + 1;
        // GET, https, /, localhost; the end of the head and of the request.
        bytes.extend(frame(1, 5, stream, b"\x82\x87\x84\x41\x09localhost"));
        bytes.extend(frame(3, 0, stream, &8_u32.to_be_bytes()));
    }
    // The connection may end before everything is sent.
    let _ = stream.write_all(&bytes).await;
    let mut got = Vec::new();
    let read = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut got));
    let _ = read.await.expect("it ends");
    let mut frames = &got[..];
    let mut told = Vec::new();
    while let Some((head, rest)) = frames.split_first_chunk::<9>() {
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
        let (payload, rest) = rest.split_at(length.min(rest.len()));
        if head[3] == 7 {
            told.push(u32::from_be_bytes(payload[4..8].try_into().unwrap()));
        }
        frames = rest;
    }
    assert_eq!(told, [u32::from(Reason::ENHANCE_YOUR_CALM)]);
    // Other callers are served.
    let (mut other, _connection) = streams(&secured, 1 << 20).await;
    let answer = other.send_request(request(SMALL), true).unwrap().0.await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
}

/// Frames that request nothing, but cost the server an answer or some work each.
#[tokio::test]
async fn floods_of_frames_that_ask_for_nothing_end_the_connection() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let secured = secured(&["--now", "sample"]);
    let setting = [0, 3, 0, 0, 0, 100];
    for (name, flood) in [
        ("SETTINGS", frame(4, 0, 0, &setting)),
        ("SETTINGS, empty", frame(4, 0, 0, &[])),
        ("PING", frame(6, 0, 0, &[7; 8])),
        ("PRIORITY", frame(2, 0, 1, &[0, 0, 0, 0, 15])),
        ("WINDOW_UPDATE", frame(8, 0, 0, &1_u32.to_be_bytes())),
        ("an unknown kind", frame(0x42, 0, 0, &[])),
    ] {
        let mut stream = connect(&secured, 1, "h2").await;
        stream.write_all(&preface()).await.unwrap();
        let (mut reader, mut writer) = tokio::io::split(stream);
        let flood = async {
            let piece = flood.repeat(100);
            for _ in 0..1_000 {
                if writer.write_all(&piece).await.is_err() {
                    return;
                }
            }
        };
        let ended = async {
            let mut got = Vec::new();
            let _ = reader.read_to_end(&mut got).await;
        };
        // Sent bytes may wait in the buffers of the socket, so the end of the connection counts,
        // not the last write.
        let ends = async { tokio::join!(flood, ended) };
        tokio::time::timeout(PATIENCE, ends).await.expect(name);
    }
    // A caller who reads a long answer through a small window grants many windows.
    let (mut client, _connection) = streams(&secured, 1 << 14).await;
    for _ in 0..3 {
        let answer = client.send_request(request(BIG), true).unwrap().0.await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK);
        assert!(whole(answer).await.len() > 1 << 20);
    }
}

/// Raw frames: a head that does not end.
#[tokio::test]
async fn a_flood_of_continuations_ends_the_connection() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let secured = secured(&[]);
    let mut stream = connect(&secured, 1, "h2").await;
    let mut start = preface();
    // Method GET, without the end of the head.
    start.extend(frame(1, 1, 1, &[0x82]));
    stream.write_all(&start).await.unwrap();
    let (mut reader, mut writer) = tokio::io::split(stream);
    let flood = async {
        for _ in 0..100_000 {
            if writer.write_all(&frame(9, 0, 1, &[])).await.is_err() {
                return;
            }
        }
        panic!("it took every frame");
    };
    let told = async {
        let mut got = Vec::new();
        let _ = reader.read_to_end(&mut got).await;
        got
    };
    tokio::time::timeout(PATIENCE, async {
        tokio::select! { () = flood => {}, _ = told => {} }
    })
    .await
    .unwrap();
}

/// Over HTTP/2 a caller can read the socket without reading an answer.
#[tokio::test]
async fn who_grants_no_window_for_an_answer_is_cut_off_as_who_does_not_read() {
    let secured = secured(&["--now", "sample"]);
    let began = Instant::now();
    let (mut client, connection) = streams(&secured, 0).await;
    let answer = client.send_request(request(BIG), true).unwrap().0.await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    assert!(connection.await.unwrap().is_err());
    let took = began.elapsed();
    assert!(took > Duration::from_secs(15) && took < PATIENCE / 2, "{took:?}");
    drop(answer);
    // A caller who reads gets the whole answer.
    let (mut client, _connection) = streams(&secured, 1 << 20).await;
    let answer = client.send_request(request(BIG), true).unwrap().0.await.unwrap();
    assert!(whole(answer).await.len() > 1 << 20);
}

#[tokio::test]
async fn a_certificate_is_exchanged_while_a_connection_lives() {
    let secured = secured(&[]);
    let (mut client, _connection) = streams(&secured, 1 << 20).await;
    // With a broken certificate, the old one stays in use.
    let certificate: PathBuf = secured.folder.path().join("cert.pem");
    std::fs::write(&certificate, "broken").unwrap();
    secured.server.signal("HUP");
    sleep(Duration::from_secs(5));
    connect(&secured, 1, "h2").await;

    let new = write_certificate(&secured.folder, 2998);
    let began = Instant::now();
    loop {
        let connector = connector(&new, &[&version::TLS13], "h2");
        if handshake(secured.server.address(), 1, connector).await.is_ok() {
            break;
        }
        assert!(began.elapsed() < PATIENCE, "the new certificate is not served");
        sleep(Duration::from_millis(100));
    }
    // The earlier connection is still open.
    client = client.ready().await.unwrap();
    let answer = client.send_request(request(SMALL), true).unwrap().0.await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    drop(client);
    let (code, log) = secured.server.stop();
    assert_eq!(code, Some(0), "{log}");
    assert!(log.contains("the file cert.pem must hold a certificate (PEM)"), "{log}");
    assert!(log.contains("took a new certificate, valid until 2998-01-01"), "{log}");
}
