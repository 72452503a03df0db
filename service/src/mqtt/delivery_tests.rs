//! Against brokers that misbehave. Real ones are in `tests/http/mqtt_broker.rs`.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::Mutex;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::*;
use crate::live::{EventId, Position};
use crate::mqtt::MqttConfig;

/// What a broker does with the message of a number, from 0 on in each connection.
type Answer = fn(connection: usize, number: usize) -> Reply;

enum Reply {
    /// Acknowledges it, with a reason.
    Ack(u8),
    /// Says nothing.
    Nothing,
    /// Closes the connection.
    Close,
    /// Sends other bytes.
    Bytes(&'static [u8]),
}

/// A broker that records the payloads that it gets, by connection.
struct Broker {
    address: String,
    got: Arc<Mutex<Vec<(usize, String)>>>,
}

/// Reads a packet: its first byte and the rest.
async fn packet(stream: &mut TcpStream) -> Option<(u8, Vec<u8>)> {
    let first = stream.read_u8().await.ok()?;
    let (mut length, mut shift) = (0, 0);
    loop {
        let byte = stream.read_u8().await.ok()?;
        length |= usize::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            break;
        }
    }
    let mut rest = vec![0; length];
    stream.read_exact(&mut rest).await.ok()?;
    Some((first, rest))
}

impl Broker {
    async fn new(connack: &'static [u8], answer: Answer) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("mqtt://{}", listener.local_addr().unwrap());
        let got = Arc::new(Mutex::new(Vec::new()));
        let recorded = Arc::clone(&got);
        tokio::spawn(async move {
            for connection in 0.. {
                let Ok((mut stream, _)) = listener.accept().await else { return };
                let recorded = Arc::clone(&recorded);
                tokio::spawn(async move {
                    let mut number = 0;
                    while let Some((first, rest)) = packet(&mut stream).await {
                        let reply = match first >> 4 {
                            1 => connack.to_vec(),
                            3 => {
                                let topic = usize::from(u16::from_be_bytes([rest[0], rest[1]]));
                                let id = &rest[2 + topic..4 + topic];
                                let payload = 5 + topic + usize::from(rest[4 + topic]);
                                let text = String::from_utf8_lossy(&rest[payload..]).into_owned();
                                recorded.lock().unwrap().push((connection, text));
                                number += 1;
                                match answer(connection, number - 1) {
                                    Reply::Ack(0) => vec![0x40, 2, id[0], id[1]],
                                    Reply::Ack(code) => vec![0x40, 3, id[0], id[1], code],
                                    Reply::Nothing => continue,
                                    Reply::Close => return,
                                    Reply::Bytes(bytes) => bytes.to_vec(),
                                }
                            }
                            _ => continue,
                        };
                        if stream.write_all(&reply).await.is_err() {
                            return;
                        }
                    }
                });
            }
        });
        Self { address, got }
    }

    /// The messages of a stream that it got, in order, without those of the status.
    fn got(&self) -> Vec<(usize, String)> {
        let got = self.got.lock().unwrap().clone();
        got.into_iter().filter(|(_, text)| text.starts_with('m')).collect()
    }
}

fn position(batch: u64) -> EventId {
    EventId { start: 1, position: Position { batch: (batch, 0), item: 0 } }
}

/// Delivers messages of so many events, two each, until `is_done` or ten seconds are over. Returns the
/// broker of the settings.
async fn deliver(
    broker: &Broker,
    events: u64,
    timeout_s: u32,
    mut is_done: impl FnMut(&MqttBroker) -> bool,
) -> MqttBroker {
    let folder = tempfile::tempdir().unwrap();
    let config = MqttConfig { timeout_s, ..MqttConfig::new("wx", &broker.address) };
    let own = MqttBroker::open(&config, Some(folder.path())).unwrap();
    let begin = || {
        let (steps, receiver) = mpsc::channel(4);
        let after: EventId = own.position().map_or(position(0), |text| text.parse().unwrap());
        tokio::spawn(async move {
            for event in after.position.batch.0 + 1..=events {
                for part in ["a", "b"] {
                    let message = MqttMessage {
                        id: format!("{event}{part}"),
                        topic: "t".to_owned(),
                        payload: format!("m{event}{part}").into_bytes(),
                        is_retained: false,
                        expiry_s: None,
                    };
                    if steps.send(Step::Message(message)).await.is_err() {
                        return;
                    }
                }
                if steps.send(Step::Position(position(event))).await.is_err() {
                    return;
                }
            }
            steps.closed().await;
        });
        receiver
    };
    let (stop, stopped) = watch::channel(false);
    let delivered = own.deliver(begin, || true, stopped);
    let ended = async {
        let end = Instant::now() + Duration::from_secs(10);
        while !is_done(&own) && Instant::now() < end {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        stop.send_replace(true);
    };
    tokio::join!(delivered, ended);
    // What was noted is in the file.
    let again = MqttBroker::open(&config, Some(folder.path())).unwrap();
    assert_eq!(again.position(), own.position());
    own
}

fn is_at(event: u64) -> impl FnMut(&MqttBroker) -> bool {
    move |own| own.position() == Some(position(event).to_string())
}

const ACCEPTED: &[u8] = &[0x20, 3, 0, 0, 0];

#[tokio::test]
async fn what_a_broker_closes_upon_is_sent_again_in_order() {
    // Each connection takes three messages: that of the status and two more.
    let broker =
        Broker::new(ACCEPTED, |_, number| if number < 3 { Reply::Ack(0) } else { Reply::Close })
            .await;
    let own = deliver(&broker, 3, 5, is_at(3)).await;
    assert_eq!(own.position(), Some(position(3).to_string()));
    // Every connection goes on where the acknowledgements ended, and none leaves out any.
    let mut by_connection: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for (connection, text) in broker.got() {
        by_connection.entry(connection).or_default().push(text);
    }
    let all = ["m1a", "m1b", "m2a", "m2b", "m3a", "m3b"];
    for texts in by_connection.values() {
        let from = all.iter().position(|text| text == &texts[0]).unwrap();
        assert_eq!(texts[..], all[from..from + texts.len()], "{by_connection:?}");
    }
    assert!(by_connection.len() >= 3, "{by_connection:?}");
}

#[tokio::test]
async fn a_broker_that_acknowledges_nothing_gets_a_limited_number_and_is_given_up() {
    let broker = Broker::new(ACCEPTED, |_, _| Reply::Nothing).await;
    let own = deliver(&broker, 1_000, 1, |own| own.status().failures > 0).await;
    let status = own.status();
    let error = status.last_failure.unwrap().error;
    assert_eq!(error, "the broker has not acknowledged a message for 1 s");
    assert_eq!((status.published, own.position()), (0, None));
    // One is that of the status.
    let first = broker.got().into_iter().filter(|(connection, _)| *connection == 0).count();
    assert_eq!(first, 63);
}

#[tokio::test]
async fn a_broker_says_how_many_messages_may_wait() {
    // Receive Maximum 2.
    const CONNACK: &[u8] = &[0x20, 6, 0, 0, 3, 0x21, 0, 2];
    let broker =
        Broker::new(CONNACK, |_, number| if number == 0 { Reply::Ack(0) } else { Reply::Nothing })
            .await;
    deliver(&broker, 1_000, 1, |own| own.status().failures > 0).await;
    let first: Vec<_> = broker.got().into_iter().filter(|(of, _)| *of == 0).collect();
    assert_eq!(first, [(0, "m1a".to_owned()), (0, "m1b".to_owned())]);
}

#[tokio::test]
async fn an_event_is_done_once_all_of_it_is_acknowledged() {
    // Of each connection, the first message of the second event is not.
    let broker =
        Broker::new(ACCEPTED, |_, number| if number == 3 { Reply::Nothing } else { Reply::Ack(0) })
            .await;
    let own = deliver(&broker, 2, 1, |own| own.status().failures > 0).await;
    assert_eq!(own.position(), Some(position(1).to_string()));
}

#[tokio::test]
async fn what_a_broker_can_never_take_is_left_out_and_what_it_forbids_is_not() {
    // 0x90: the topic name is invalid.
    let broker =
        Broker::new(ACCEPTED, |_, number| Reply::Ack(if number == 1 { 0x90 } else { 0 })).await;
    let own = deliver(&broker, 2, 5, is_at(2)).await;
    let status = own.status();
    assert_eq!((status.left_out, status.last_left_out[0].topic.as_str()), (1, "t"));
    assert_eq!(own.position(), Some(position(2).to_string()));
    // 0x87: not authorized.
    let broker =
        Broker::new(ACCEPTED, |_, number| Reply::Ack(if number == 1 { 0x87 } else { 0 })).await;
    let own = deliver(&broker, 2, 5, |own| own.status().failures > 0).await;
    let status = own.status();
    let error = status.last_failure.unwrap().error;
    assert_eq!(error, "the broker does not let this server publish to \"t\"");
    assert_eq!((status.left_out, own.position()), (0, None));
}

#[tokio::test]
async fn a_refusal_is_named() {
    for (connack, text) in [
        (
            &[0x20, 3, 0, 0x86, 0][..],
            "the broker refuses a client without a user (BadUserNameOrPassword)",
        ),
        (
            &[0x20, 3, 0, 0x85, 0],
            "the broker refuses the client id \"mesonet-wx\" (ClientIdentifierNotValid)",
        ),
        (&[0x20, 3, 0, 0x88, 0], "the broker refuses the connection (ServerUnavailable)"),
        // Maximum QoS 0.
        (&[0x20, 5, 0, 0, 2, 0x24, 0], "the broker does not acknowledge messages (QoS 1)"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "the broker has not answered for 2 s"),
    ] {
        let connack: &'static [u8] = connack;
        let broker = Broker::new(connack, |_, _| Reply::Ack(0)).await;
        let own = deliver(&broker, 1, 2, |own| own.status().failures > 0).await;
        assert_eq!(own.status().last_failure.unwrap().error, text);
    }
}

#[tokio::test]
async fn what_a_broker_sends_in_between_is_no_acknowledgement() {
    // An acknowledgement of a message that was not sent; one of QoS 2; a message; an end with a reason.
    const OTHER: &[u8] = &[0x40, 2, 0xff, 0xfe];
    const TAKEN_OVER: &[u8] = &[0xe0, 1, 0x8e];
    let broker = Broker::new(ACCEPTED, |_, number| match number {
        0 => Reply::Ack(0),
        1 => Reply::Bytes(OTHER),
        _ => Reply::Nothing,
    })
    .await;
    let own = deliver(&broker, 1, 1, |own| own.status().failures > 0).await;
    assert_eq!(own.position(), None);
    let broker = Broker::new(ACCEPTED, |_, number| match number {
        0 => Reply::Ack(0),
        _ => Reply::Bytes(TAKEN_OVER),
    })
    .await;
    let own = deliver(&broker, 1, 5, |own| own.status().failures > 0).await;
    let error = own.status().last_failure.unwrap().error;
    assert!(
        error.starts_with("another client has connected with the client id \"mesonet-wx\""),
        "{error}"
    );
}

#[tokio::test]
async fn a_broker_that_is_not_there_is_tried_again_and_a_stop_ends_the_pause() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("mqtt://{}", listener.local_addr().unwrap());
    drop(listener);
    let broker = Broker { address, got: Arc::default() };
    let began = Instant::now();
    let own = deliver(&broker, 1, 5, |own| own.status().failures > 1).await;
    assert!(began.elapsed() < Duration::from_secs(10));
    let status = own.status();
    assert!(
        status.last_failure.unwrap().error.contains("Connection refused") && !status.is_connected
    );
    // A test says so too.
    let test = own.test().await;
    assert!(!test.is_published && test.error.unwrap().contains("Connection refused"));
}
