//! One connection to a broker.

use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use mqtt_protocol_core::mqtt;
use mqtt_protocol_core::mqtt::common::Cursor;
use mqtt_protocol_core::mqtt::connection::{ConnectionOptions, Event, TimerKind};
use mqtt_protocol_core::mqtt::packet::v5_0::{Connack, Connect, Disconnect, Puback, Publish};
use mqtt_protocol_core::mqtt::packet::{
    ContentType, GenericPacketTrait, MessageExpiryInterval, Packet, PayloadFormat,
    PayloadFormatIndicator, Properties, Property, Qos, UserProperty,
};
use mqtt_protocol_core::mqtt::result_code::{
    ConnectReasonCode, DisconnectReasonCode, MqttError, PubackReasonCode,
};
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};

use super::settings::Endpoint;
use super::{MqttBroker, MqttConfig, MqttMessage, tls};
use crate::live::EventId;
use crate::password::read_password;

/// Messages that are sent and not yet acknowledged, at most.
const MAX_IN_FLIGHT: usize = 64;

/// No broker has to send a longer packet to somebody who subscribes to nothing.
const MAX_RECEIVED_BYTES: u32 = 1 << 16;

/// How much is gathered before it is written.
const WRITTEN_BYTES: usize = 64 << 10;

/// How often the broker hears from the server.
const KEEP_ALIVE_S: u16 = 30;

const RETAINS_NOTHING: &str = "the broker retains no messages";

/// How long the end of a connection may take.
const CLOSING: Duration = Duration::from_secs(2);

const TIMERS: [TimerKind; 3] =
    [TimerKind::PingreqSend, TimerKind::PingreqRecv, TimerKind::PingrespRecv];

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// A message that was sent.
struct InFlight {
    /// Its packet; `None` once it is acknowledged.
    packet: Option<u16>,
    topic: String,
    is_refused: bool,
    sent_at: Instant,
    /// The position in the stream after it, if an event ends with it.
    position: Option<EventId>,
}

/// A connection.
pub(super) struct Connection<'a> {
    broker: &'a MqttBroker,
    protocol: mqtt::Connection<mqtt::role::Client>,
    stream: Box<dyn Stream>,
    received: Box<[u8]>,
    /// What is to be written.
    out: Vec<u8>,
    in_flight: VecDeque<InFlight>,
    /// Messages in flight, at most.
    room: usize,
    retains: bool,
    /// When the protocol wants to be called.
    timers: [(TimerKind, Option<Instant>); 3],
    patience: Duration,
}

impl<'a> Connection<'a> {
    /// Connects. The client identifier ends with a suffix; only without one, others see by the topic of
    /// the status whether the server is online.
    ///
    /// # Errors
    /// Why there is no connection.
    pub(super) async fn open(broker: &'a MqttBroker, suffix: &str) -> Result<Self, String> {
        let retains = broker.config().retain;
        match Self::open_with(broker, suffix, retains).await {
            // Such a broker refuses a last will that it should retain.
            Err(error) if retains && error == RETAINS_NOTHING => {
                tracing::warn!("mqtt {}: {RETAINS_NOTHING}", broker.config().name);
                Self::open_with(broker, suffix, false).await
            }
            opened => opened,
        }
    }

    async fn open_with(
        broker: &'a MqttBroker,
        suffix: &str,
        retains: bool,
    ) -> Result<Self, String> {
        let config = broker.config();
        let patience = Duration::from_secs(u64::from(config.timeout_s));
        let opened = timeout(patience, async {
            let stream = stream(config).await?;
            let options = ConnectionOptions::new().maximum_packet_size_recv(MAX_RECEIVED_BYTES);
            let mut protocol = mqtt::Connection::with_options(mqtt::Version::V5_0, options);
            protocol.set_pingresp_recv_timeout(u64::from(config.timeout_s) * 1000);
            let mut connection = Self {
                broker,
                protocol,
                stream,
                received: vec![0; 4 << 10].into(),
                out: Vec::new(),
                in_flight: VecDeque::new(),
                room: 0,
                retains,
                timers: TIMERS.map(|kind| (kind, None)),
                patience,
            };
            let packet = connect(broker, suffix, retains)?;
            let events = connection.protocol.checked_send(packet);
            connection.handle(events)?;
            connection.flush().await?;
            while connection.room == 0 {
                let length = connection.read().await?;
                connection.take_in(length)?;
            }
            Ok(connection)
        });
        let silent = |_| Err(format!("the broker has not answered for {} s", config.timeout_s));
        opened.await.unwrap_or_else(silent)
    }

    /// Whether one more message may be in flight.
    pub(super) fn has_room(&self) -> bool {
        self.in_flight.len() < self.room
    }

    /// Whether the broker has acknowledged everything.
    pub(super) fn is_idle(&self) -> bool {
        self.in_flight.is_empty()
    }

    /// Whether so much waits to be written that it should be.
    pub(super) fn is_full(&self) -> bool {
        self.out.len() >= WRITTEN_BYTES || !self.has_room()
    }

    /// Sends a message with the next [`flush`](Self::flush). What the broker cannot take is left out.
    ///
    /// # Errors
    /// The connection is of no more use.
    pub(super) fn publish(&mut self, message: MqttMessage) -> Result<(), String> {
        // Nothing in place of a message that is retained.
        if message.payload.is_empty() && !self.retains {
            return Ok(());
        }
        let id = self.protocol.acquire_packet_id().map_err(|error| error.to_string())?;
        let topic = message.topic.clone();
        let events = match packet(message, id, self.retains) {
            Ok(packet) => self.protocol.checked_send(packet),
            Err(error) => vec![Event::NotifyError(error)],
        };
        if let Some(error) = events.iter().find_map(|event| match event {
            Event::NotifyError(error) => Some(*error),
            _ => None,
        }) {
            // The protocol has released the packet of some errors, and that of others not.
            let _ = self.protocol.release_packet_id(id);
            self.broker.leave_out(&topic, &reason(error));
            return Ok(());
        }
        let sent_at = Instant::now();
        let (packet, position, is_refused) = (Some(id), None, false);
        self.in_flight.push_back(InFlight { packet, topic, is_refused, sent_at, position });
        self.handle(events)
    }

    /// Notes that an event ends after the messages so far.
    pub(super) fn end_event(&mut self, position: EventId) {
        match self.in_flight.back_mut() {
            Some(last) => last.position = Some(position),
            None => self.broker.pass(position),
        }
    }

    /// Writes what was sent.
    ///
    /// # Errors
    /// The connection is broken, or the broker does not read.
    pub(super) async fn flush(&mut self) -> Result<(), String> {
        if self.out.is_empty() {
            return Ok(());
        }
        let written = timeout(self.patience, async {
            self.stream.write_all(&self.out).await?;
            self.stream.flush().await
        });
        match written.await {
            Ok(written) => written.map_err(|error| broken(&error))?,
            Err(_) => return Err("the broker does not read what is sent".to_owned()),
        }
        self.out.clear();
        Ok(())
    }

    /// Waits until something comes; returns its length. It may be dropped while it waits.
    ///
    /// # Errors
    /// The connection is broken.
    pub(super) async fn read(&mut self) -> Result<usize, String> {
        match self.stream.read(&mut self.received).await {
            // Some brokers do not say that another client has taken the place.
            Ok(0) => Err(format!(
                "the broker has closed the connection and does not say why; one cause would be another \
                 client with the client id \"{}\": each server needs one of its own (client_id)",
                self.broker.config().client_id()
            )),
            Ok(length) => Ok(length),
            Err(error) => Err(broken(&error)),
        }
    }

    /// Takes in what has come.
    ///
    /// # Errors
    /// The broker ends the connection, or refuses a message that it may take later.
    pub(super) fn take_in(&mut self, length: usize) -> Result<(), String> {
        let received = self.received[..length].to_vec();
        let mut cursor = Cursor::new(&received[..]);
        while (cursor.position() as usize) < length {
            let events = self.protocol.recv(&mut cursor);
            self.handle(events)?;
        }
        Ok(())
    }

    /// When [`tick`](Self::tick) must be called.
    pub(super) fn deadline(&self) -> Instant {
        let of_protocol = self.timers.iter().filter_map(|(_, at)| *at);
        let of_message = self.in_flight.front().map(|first| first.sent_at + self.patience);
        let far = Instant::now() + self.patience;
        of_protocol.chain(of_message).min().unwrap_or(far)
    }

    /// Does what is due: asks whether the broker is there, or gives it up.
    ///
    /// # Errors
    /// The broker is silent.
    pub(super) fn tick(&mut self) -> Result<(), String> {
        let now = Instant::now();
        let seconds = self.patience.as_secs();
        if self.in_flight.front().is_some_and(|first| first.sent_at + self.patience <= now) {
            return Err(format!("the broker has not acknowledged a message for {seconds} s"));
        }
        for at in 0..self.timers.len() {
            let (kind, due) = self.timers[at];
            if due.is_some_and(|due| due <= now) {
                if kind == TimerKind::PingrespRecv {
                    return Err(format!("the broker has not answered for {seconds} s"));
                }
                self.timers[at].1 = None;
                let events = self.protocol.notify_timer_fired(kind);
                self.handle(events)?;
            }
        }
        Ok(())
    }

    /// Says goodbye, so that the broker does not announce that the server is offline by itself.
    pub(super) async fn close(mut self) {
        if let Ok(packet) = Disconnect::builder().build() {
            let events = self.protocol.checked_send(packet);
            let _ = self.handle(events);
            let _ = self.flush().await;
            let _ = timeout(self.patience.min(CLOSING), self.stream.shutdown()).await;
        }
    }

    fn handle(&mut self, events: Vec<Event>) -> Result<(), String> {
        for event in events {
            match event {
                Event::RequestSendPacket { packet, .. } => {
                    self.out.extend_from_slice(&packet.to_continuous_buffer());
                }
                Event::NotifyPacketReceived(Packet::V5_0Connack(packet)) => {
                    self.connected(&packet)?;
                }
                Event::NotifyPacketReceived(Packet::V5_0Puback(packet)) => {
                    self.acknowledged(&packet)?;
                }
                Event::NotifyPacketReceived(Packet::V5_0Disconnect(packet)) => {
                    return Err(self.disconnected(&packet));
                }
                Event::NotifyError(error) => {
                    return Err(format!("the broker breaks the protocol: {error}"));
                }
                Event::RequestTimerReset { kind, duration_ms } => {
                    self.set(kind, Some(Instant::now() + Duration::from_millis(duration_ms)));
                }
                Event::RequestTimerCancel(kind) => self.set(kind, None),
                // A message needs no packet id any more; the event that closes the connection has the reason.
                Event::NotifyPacketIdReleased(_)
                | Event::RequestClose
                | Event::NotifyPacketReceived(_) => {}
            }
        }
        Ok(())
    }

    fn set(&mut self, kind: TimerKind, at: Option<Instant>) {
        for timer in self.timers.iter_mut().filter(|timer| timer.0 == kind) {
            timer.1 = at;
        }
    }

    fn connected(&mut self, packet: &Connack) -> Result<(), String> {
        let code = packet.reason_code();
        if code == ConnectReasonCode::RetainNotSupported {
            return Err(RETAINS_NOTHING.to_owned());
        }
        if code != ConnectReasonCode::Success {
            return Err(refusal(code, self.broker.config()));
        }
        let mut room = MAX_IN_FLIGHT;
        for property in packet.props() {
            match property {
                Property::ReceiveMaximum(most) => room = room.min(usize::from(most.val())),
                Property::MaximumQos(most) if most.val() == 0 => {
                    return Err("the broker does not acknowledge messages (QoS 1)".to_owned());
                }
                Property::RetainAvailable(is) if is.val() == 0 && self.retains => {
                    tracing::warn!("mqtt {}: {RETAINS_NOTHING}", self.broker.config().name);
                    self.retains = false;
                }
                _ => {}
            }
        }
        self.room = room.max(1);
        Ok(())
    }

    fn acknowledged(&mut self, packet: &Puback) -> Result<(), String> {
        let id = packet.packet_id();
        let Some(of) = self.in_flight.iter_mut().find(|of| of.packet == Some(id)) else {
            return Ok(());
        };
        match packet.reason_code() {
            Some(
                code
                @ (PubackReasonCode::TopicNameInvalid | PubackReasonCode::PayloadFormatInvalid),
            ) => {
                self.broker.leave_out(&of.topic, &format!("the broker refuses it ({code})"));
                of.is_refused = true;
            }
            Some(PubackReasonCode::NotAuthorized) => {
                return Err(format!(
                    "the broker does not let this server publish to {:?}",
                    of.topic
                ));
            }
            Some(code) if code.is_failure() => {
                return Err(format!("the broker does not take a message now ({code})"));
            }
            _ => {}
        }
        of.packet = None;
        let (mut count, mut position) = (0, None);
        // In order: a position is passed once all before it is acknowledged.
        while self.in_flight.front().is_some_and(|first| first.packet.is_none())
            && let Some(first) = self.in_flight.pop_front()
        {
            count += u64::from(!first.is_refused);
            position = first.position.or(position);
        }
        if count > 0 {
            self.broker.acknowledged(count);
        }
        if let Some(position) = position {
            self.broker.pass(position);
        }
        Ok(())
    }

    fn disconnected(&self, packet: &Disconnect) -> String {
        match packet.reason_code() {
            Some(DisconnectReasonCode::SessionTakenOver) => format!(
                "another client has connected with the client id \"{}\"; each server needs one of its \
                 own (client_id)",
                self.broker.config().client_id()
            ),
            Some(code) => format!("the broker ends the connection ({code})"),
            None => "the broker ends the connection".to_owned(),
        }
    }
}

/// A message as a packet.
fn packet(message: MqttMessage, id: u16, retains: bool) -> Result<Publish, MqttError> {
    let mut properties = Properties::new();
    if !message.payload.is_empty() {
        let utf8 = PayloadFormatIndicator::new(PayloadFormat::String)?;
        properties.push(Property::PayloadFormatIndicator(utf8));
        properties.push(Property::ContentType(ContentType::new("application/json")?));
    }
    if let Some(expiry_s) = message.expiry_s {
        properties.push(Property::MessageExpiryInterval(MessageExpiryInterval::new(expiry_s)?));
    }
    properties.push(Property::UserProperty(UserProperty::new("id", message.id)?));
    Publish::builder()
        .topic_name(message.topic)?
        .qos(Qos::AtLeastOnce)
        .retain(message.is_retained && retains)
        .packet_id(id)
        .payload(message.payload)
        .props(properties)
        .build()
}

/// The packet that opens a connection, with what the broker tells once it breaks.
fn connect(broker: &MqttBroker, suffix: &str, retains: bool) -> Result<Connect, String> {
    let config = broker.config();
    let build = |password: Option<String>| {
        let mut packet = Connect::builder()
            .client_id(config.client_id() + suffix)?
            .clean_start(true)
            .keep_alive(KEEP_ALIVE_S);
        if suffix.is_empty() {
            let status = broker.status_message(false);
            packet =
                packet.will_message(status.topic, status.payload, Qos::AtLeastOnce, retains)?;
        }
        if let Some(user) = &config.user {
            packet = packet.user_name(user.as_str())?;
        }
        if let Some(password) = password {
            packet = packet.password(password.into_bytes())?;
        }
        packet.build()
    };
    let password = config.password_file.as_deref().map(read_password).transpose();
    let password = password.map_err(|error| error.to_string())?;
    build(password).map_err(|error: MqttError| format!("the request to connect: {error}"))
}

async fn stream(config: &MqttConfig) -> Result<Box<dyn Stream>, String> {
    let Endpoint { host, port, is_encrypted } =
        config.endpoint().map_err(|error| error.to_string())?;
    let stream = TcpStream::connect((host.as_str(), port)).await;
    let stream = stream.map_err(|error| format!("{host}:{port}: {error}"))?;
    // Acknowledgements are waited for.
    stream.set_nodelay(true).map_err(|error| broken(&error))?;
    if !is_encrypted {
        return Ok(Box::new(stream));
    }
    let name = ServerName::try_from(host.clone()).map_err(|error| format!("{host}: {error}"))?;
    let files = config.clone();
    let connector = tokio::task::spawn_blocking(move || tls::connector(&files)).await;
    let connector = connector.map_err(|error| error.to_string())??;
    let stream = connector.connect(name, stream).await;
    Ok(Box::new(stream.map_err(|error| format!("{host}:{port}: TLS: {error}"))?))
}

fn broken(error: &io::Error) -> String {
    format!("the connection is broken: {error}")
}

/// Why a message cannot be sent.
fn reason(error: MqttError) -> String {
    match error {
        MqttError::PacketTooLarge => "it is longer than the broker allows".to_owned(),
        error => format!("it cannot be sent: {error}"),
    }
}

/// Why a broker refuses a connection.
fn refusal(code: ConnectReasonCode, config: &MqttConfig) -> String {
    match code {
        ConnectReasonCode::BadUserNameOrPassword | ConnectReasonCode::NotAuthorized => {
            let user = config.user.as_deref();
            let who = user.map_or("a client without a user".to_owned(), |user| {
                format!("the user \"{user}\" or its password")
            });
            format!("the broker refuses {who} ({code})")
        }
        ConnectReasonCode::ClientIdentifierNotValid => {
            format!("the broker refuses the client id \"{}\" ({code})", config.client_id())
        }
        code => format!("the broker refuses the connection ({code})"),
    }
}
