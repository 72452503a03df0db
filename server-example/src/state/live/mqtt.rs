//! Events as messages for a broker that speaks MQTT.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use mesonet::alert::Status;
use mesonet::observation::{Qualifier, Quality, QualityCode, SeriesId};
use mesonet::query::{AnswerReading, Readings};
use mesonet::store::Selection;
use mesonet::{ClosedWindow, Iso8601, Station, StationId, Variable};
use mesonet_service::hex::hex;
use mesonet_service::live::EventId;
use mesonet_service::mqtt::{
    MqttBroker, MqttMessage, NotificationConfig, NotifiedReport, Step, notification,
};
use serde::Serialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::sync::mpsc::{self, error::SendError};
use tokio::time::Instant;

use super::event::{AlertEvent, Content};
use super::filter::{Events, ListenerFilter};
use super::subscriber::Subscriber;
use crate::auth::access::Granted;
use crate::state::State;

/// Messages that wait for the connection, at most.
const WAITING: usize = 16;

/// How many readings are encoded at once.
const AT_ONCE: usize = 512;

/// How often a broker is told the position though there is nothing for it.
const PASS_EVERY: Duration = Duration::from_secs(10);

/// How long a broker keeps an alert after its end if it does not hear of that.
const AFTER_END_MS: i64 = 3_600_000;

/// How often a filter is read again that names what is not on record.
const READ_AGAIN: Duration = Duration::from_secs(10);

/// What a broker gets.
struct Publication {
    broker: Arc<MqttBroker>,
    /// Which events.
    filter: ListenerFilter,
    /// What notifications of reports say, if it gets any.
    notifications: Option<NotificationConfig>,
}

/// A reading as it is published: as `/live` gives it, with what the topic says and the unit.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ReadingMessage<'a> {
    station_id: StationId,
    network: &'a str,
    native_id: &'a str,
    timestamp: Iso8601,
    r#type: &'a str,
    type_id: SeriesId,
    interval_type: &'a str,
    interval_minutes: i32,
    unit: &'a str,
    value: f64,
    quality: Quality,
    #[serde(skip_serializing_if = "Option::is_none")]
    qualifier: Option<Qualifier>,
}

/// The reading that a record has as the latest of a variable at a station.
struct Latest {
    ts_ms: i64,
    series: SeriesId,
    value: f64,
    quality: QualityCode,
}

/// The readings of an event that are not published yet.
struct Unpublished {
    batch: u64,
    events: Events,
    readings: Readings,
    /// The next station, and the next reading.
    station: usize,
    cell: usize,
}

impl State {
    /// Begins to produce what a broker gets, after what it has got, until the stream or the receiver
    /// ends. The filter may name stations that are not on record yet.
    pub(crate) fn publish_to(
        self: &Arc<Self>,
        broker: &Arc<MqttBroker>,
        filter: impl Fn(&Self) -> Result<ListenerFilter, String> + Send + Sync + 'static,
    ) -> mpsc::Receiver<Step> {
        let (steps, receiver) = mpsc::channel(WAITING);
        let (state, broker) = (Arc::clone(self), Arc::clone(broker));
        tokio::spawn(async move {
            // The receiver is gone, or the stream has ended.
            let _ = produce(&state, broker, Arc::new(filter), &steps).await;
        });
        receiver
    }

    /// The messages of an event other than readings, with the number of its item.
    fn messages_of(
        &self,
        publication: &Publication,
        content: &Content,
        item: u64,
    ) -> Vec<MqttMessage> {
        let filter = &publication.filter;
        match content {
            Content::Alert(alert) => {
                let is_met = filter.topics.has(Events::Alerts)
                    && filter.alerts.is_met(&alert.message, &alert.state, alert.zones.zones());
                if is_met { self.of_alert(publication, alert, item) } else { Vec::new() }
            }
            Content::Item { events, model, data } => {
                let may_have = |model: &String| filter.models.binary_search(model).is_ok();
                let is_met = filter.topics.has(*events) && model.as_ref().is_none_or(may_have);
                let message = is_met.then(|| self.of_item(publication, *events, data, item));
                message.flatten().into_iter().collect()
            }
            Content::Resync(reason) => vec![resync(publication, reason)],
            Content::Part(_) => Vec::new(),
        }
    }

    fn of_alert(
        &self,
        publication: &Publication,
        alert: &AlertEvent,
        item: u64,
    ) -> Vec<MqttMessage> {
        let AlertEvent { message, state, .. } = alert;
        let feature = alert.feature(publication.filter.language);
        let Ok(payload) = serde_json::to_vec(&feature) else { return Vec::new() };
        let topic = publication.broker.topics().of(&["alerts", &message.id]);
        let is_retained = state.status == Status::Active;
        let over_ms = message.parts.iter().map(|part| message.over_ms(part)).max();
        let left_ms = over_ms.unwrap_or_default().saturating_sub(self.clock.now_ms());
        let expiry_s = (left_ms.max(0).saturating_add(AFTER_END_MS) / 1000).try_into().ok();
        let own = MqttMessage {
            id: id_of(&format!("i{item}"), &topic, &payload),
            topic: topic.clone(),
            payload,
            is_retained,
            expiry_s: expiry_s.filter(|_| is_retained),
        };
        if is_retained {
            return vec![own];
        }
        // Whoever subscribes later does not get the alert any more.
        let id = format!("{}-end", own.id);
        let none =
            MqttMessage { id, topic, payload: Vec::new(), is_retained: true, expiry_s: None };
        vec![own, none]
    }

    fn of_item(
        &self,
        publication: &Publication,
        events: Events,
        data: &[u8],
        item: u64,
    ) -> Option<MqttMessage> {
        let value: Value = serde_json::from_slice(data).ok()?;
        let text = |member: &str| value[member].as_str();
        let (levels, is_latest) = if events == Events::Runs {
            let model = text("model")?;
            (vec!["models", model], self.newest_run(model).as_deref() == text("run"))
        } else {
            let (kind, span) = (text("type")?, text("duration"));
            let newest = self.newest_product(kind, span).map(|at_ms| Iso8601(at_ms).to_string());
            let levels = ["products", kind].into_iter().chain(span).collect();
            (levels, newest.as_deref() == text("timestamp"))
        };
        let topic = publication.broker.topics().of(&levels);
        Some(MqttMessage {
            id: id_of(&format!("i{item}"), &topic, data),
            topic,
            payload: data.to_vec(),
            is_retained: is_latest,
            expiry_s: None,
        })
    }

    fn newest_run(&self, model: &str) -> Option<String> {
        let catalogue = self.services.models.catalogue();
        let runs = self.services.models.runs(Granted::to_server(catalogue.get(model)?)).ok()?;
        Some(runs.iter().map(|run| run.definition().run).max()?.to_string())
    }

    fn newest_product(&self, kind: &str, span: Option<&str>) -> Option<i64> {
        let span = match span {
            Some(span) => Some(span.parse().ok()?),
            None => None,
        };
        let catalogue = self.services.products.catalogue();
        let times = self.services.products.times(catalogue.get(kind)?, span).ok()?;
        times.into_iter().max()
    }

    /// The latest readings on record of some variables at some stations, from a time on: the
    /// preferred series if several have the same time.
    fn latest(
        &self,
        stations: &[StationId],
        variables: &[Variable],
        from_ms: i64,
    ) -> HashMap<(StationId, Variable), Latest> {
        let mut latest: HashMap<(StationId, Variable), (_, Latest)> = HashMap::new();
        let Ok(window) = ClosedWindow::new(from_ms, i64::MAX) else { return HashMap::new() };
        let selection = Selection { stations, variables, window };
        let scanned = self.services.store.scan_latest(&selection, &mut |at, slices| {
            for slice in slices {
                let series = slice.series;
                let ts_ms = slice.ts_ms[0];
                // A greater preference is a worse one.
                let rank = (ts_ms, std::cmp::Reverse(series.preference));
                let key = (stations[at], series.key.variable);
                if latest.get(&key).is_none_or(|(best, _)| *best < rank) {
                    let (value, quality) = (slice.value[0], slice.quality[0]);
                    latest.insert(key, (rank, Latest { ts_ms, series: series.id, value, quality }));
                }
            }
        });
        if let Err(error) = scanned {
            // Then nothing is retained: the broker keeps what it has.
            tracing::error!("the latest readings for mqtt: {error}");
            return HashMap::new();
        }
        latest.into_iter().map(|(key, (_, latest))| (key, latest)).collect()
    }
}

/// Produces steps until the receiver is gone, or the stream has ended.
async fn produce(
    state: &Arc<State>,
    broker: Arc<MqttBroker>,
    filter: Arc<impl Fn(&State) -> Result<ListenerFilter, String> + Send + Sync + 'static>,
    steps: &mpsc::Sender<Step>,
) -> Result<(), SendError<Step>> {
    let position = broker.position();
    let (mut subscriber, resumed) = Subscriber::new(state, position.as_deref());
    let id = |subscriber: &Subscriber| state.live.log.id(subscriber.at());
    broker.begin(id(&subscriber));
    let mut told = None;
    let filter = loop {
        let read = Arc::clone(&filter);
        match state.look_up(move |state| read(state)).await {
            Ok(Ok(filter)) => break filter,
            Ok(Err(error)) => {
                if told.as_ref() != Some(&error) {
                    let name = &broker.config().name;
                    tracing::error!("mqtt {name}: nothing is sent yet: filter: {error}");
                    told = Some(error);
                }
            }
            Err(_) => return Ok(()),
        }
        let again = subscriber.rest(Instant::now() + READ_AGAIN);
        tokio::select! {
            () = again => {}
            () = steps.closed() => return Ok(()),
        }
        if state.live.is_closed() {
            return Ok(());
        }
    };
    let notifications = broker.notifications(&state.config().api_prefix);
    let publication = &Arc::new(Publication { broker, filter, notifications });
    let broker = &publication.broker;
    if let Some(reason) = broker.lost().or(resumed.err()) {
        steps.send(Step::Message(resync(publication, &reason))).await?;
        steps.send(Step::Position(id(&subscriber))).await?;
    }
    let mut passed: Option<EventId> = None;
    loop {
        let event = tokio::select! {
            event = subscriber.next(Instant::now() + PASS_EVERY) => event,
            () = steps.closed() => return Ok(()),
        };
        let Some(event) = event else {
            if state.live.is_closed() {
                return Ok(());
            }
            let at = id(&subscriber);
            if passed.replace(at) != Some(at) {
                steps.send(Step::Position(at)).await?;
            }
            continue;
        };
        send_event(state, publication, event.content().clone(), subscriber.at().item, steps)
            .await?;
        let at = id(&subscriber);
        passed = Some(at);
        steps.send(Step::Position(at)).await?;
    }
}

async fn send_event(
    state: &Arc<State>,
    publication: &Arc<Publication>,
    content: Content,
    item: u64,
    steps: &mpsc::Sender<Step>,
) -> Result<(), SendError<Step>> {
    let of = Arc::clone(publication);
    let begun = state.look_up(move |state| match &content {
        Content::Part(part) => {
            let directory = state.services.store.directory().unwrap_or_else(|error| {
                tracing::error!("the places of stations: {error}");
                Arc::default()
            });
            let found = part.selected(&of.filter, state.clock.now_ms(), &directory);
            (
                Vec::new(),
                found.map(|(events, readings)| Unpublished::new(part.batch(), events, readings)),
            )
        }
        other => (state.messages_of(&of, other, item), None),
    });
    let Ok((messages, mut unpublished)) = begun.await else { return Ok(()) };
    for message in messages {
        steps.send(Step::Message(message)).await?;
    }
    // A batch may have many readings: they are not all messages at once.
    while let Some(mut some) = unpublished.take() {
        let of = Arc::clone(publication);
        let encoded = state.look_up(move |state| {
            let messages = some.next(state, &of);
            (messages, some)
        });
        let Ok((messages, some)) = encoded.await else { return Ok(()) };
        for message in messages {
            steps.send(Step::Message(message)).await?;
        }
        unpublished = Some(some).filter(|some| !some.is_done());
    }
    Ok(())
}

impl Unpublished {
    const fn new(batch: u64, events: Events, readings: Readings) -> Self {
        Self { batch, events, readings, station: 0, cell: 0 }
    }

    fn is_done(&self) -> bool {
        self.cell >= self.readings.cells.len()
    }

    /// The messages of the next readings.
    fn next(&mut self, state: &State, publication: &Publication) -> Vec<MqttMessage> {
        let end = self.readings.cells.len().min(self.cell + AT_ONCE);
        let mut parts: Vec<(StationId, std::ops::Range<usize>)> = Vec::new();
        let mut from = self.cell;
        while from < end {
            let (id, to) = self.readings.stations[self.station];
            parts.push((id, from..to.min(end)));
            from = to.min(end);
            self.station += usize::from(to <= end);
        }
        let cells = &self.readings.cells[self.cell..end];
        self.cell = end;
        let variable =
            |cell: &AnswerReading| self.readings.series[cell.series as usize].key.variable;
        let mut variables: Vec<Variable> = cells.iter().map(variable).collect();
        variables.sort_unstable_by_key(|variable| *variable as u8);
        variables.dedup();
        let stations: Vec<StationId> = parts.iter().map(|(id, _)| *id).collect();
        let from_ms = cells.iter().map(|cell| cell.ts_ms).min().unwrap_or_default();
        let latest = state.latest(&stations, &variables, from_ms);
        let Ok(directory) = state.services.store.directory() else { return Vec::new() };
        let mut messages = Vec::new();
        for (id, range) in parts {
            let Some(record) = directory.get(id) else { continue };
            for same_time in self.readings.cells[range].chunk_by(|a, b| a.ts_ms == b.ts_ms) {
                let mut texts = Vec::new();
                for cell in same_time {
                    let is_latest = latest.get(&(id, variable(cell)));
                    let is_latest = is_latest.is_some_and(|latest| self.is(cell, latest));
                    let message = self.message(publication, &record.station, cell, is_latest);
                    texts.extend(String::from_utf8(message.payload.clone()));
                    messages.push(message);
                }
                if self.events == Events::Readings
                    && let Some(config) = &publication.notifications
                {
                    let names = same_time.iter().map(|cell| variable(cell).name());
                    let mut names: Vec<&str> = names.collect();
                    names.dedup();
                    let content = format!("[{}]", texts.join(","));
                    messages.push(self.notification(
                        state,
                        config,
                        &record.station,
                        same_time[0].ts_ms,
                        &names,
                        &content,
                    ));
                }
            }
        }
        messages
    }

    /// Whether a reading is the one that the record has as the latest, and not one from before that
    /// was corrected since.
    fn is(&self, cell: &AnswerReading, latest: &Latest) -> bool {
        let is_same = cell.ts_ms == latest.ts_ms
            && self.readings.series[cell.series as usize].id == latest.series
            && cell.value.to_bits() == latest.value.to_bits();
        is_same
            && (self.events == Events::Readings
                || QualityCode::from(cell.quality) == latest.quality)
    }

    fn message(
        &self,
        publication: &Publication,
        station: &Station,
        cell: &AnswerReading,
        is_retained: bool,
    ) -> MqttMessage {
        let series = &self.readings.series[cell.series as usize];
        let (network, native_id) = (&*station.network, &*station.native_id);
        let name = series.key.variable.name();
        let reading = ReadingMessage {
            station_id: station.id,
            network,
            native_id,
            timestamp: Iso8601(cell.ts_ms),
            r#type: name,
            type_id: series.id,
            interval_type: series.key.interval_type.name(),
            interval_minutes: series.key.interval_minutes,
            unit: &series.key.reported_unit,
            value: cell.value,
            quality: cell.quality,
            qualifier: cell.qualifier,
        };
        let payload = serde_json::to_vec(&reading).unwrap_or_default();
        let topic = publication.broker.topics().of(&[self.events.name(), network, native_id, name]);
        let id = id_of(&self.batch.to_string(), &topic, &payload);
        MqttMessage { id, topic, payload, is_retained, expiry_s: None }
    }

    fn notification(
        &self,
        state: &State,
        config: &NotificationConfig,
        station: &Station,
        at_ms: i64,
        names: &[&str],
        content: &str,
    ) -> MqttMessage {
        let (lat, lon) = (station.coordinates.lat(), station.coordinates.lon());
        let network: String = form_urlencoded::byte_serialize(station.network.as_bytes()).collect();
        let (start, end) = (Iso8601(at_ms), Iso8601(at_ms + 1000));
        let path = format!(
            "/stations/readings?lat={lat}&lon={lon}&radiusKm=1&network={network}&names={}&start={start}\
             &end={end}",
            names.join(",")
        );
        let payload = notification(
            config,
            &NotifiedReport {
                station,
                at_ms,
                published_ms: state.clock.now_ms(),
                batch: self.batch,
                path: &path,
                content,
            },
        );
        // Not from the payload, which has the time at which it was made.
        let id = id_of(&self.batch.to_string(), &config.topic, content.as_bytes());
        let topic = config.topic.clone();
        MqttMessage { id, topic, payload, is_retained: false, expiry_s: None }
    }
}

fn resync(publication: &Publication, reason: &str) -> MqttMessage {
    let broker = &publication.broker;
    let name = &broker.config().name;
    tracing::error!("mqtt {name}: messages are missing: {reason}");
    let payload = json!({ "reason": reason }).to_string().into_bytes();
    let topic = broker.topics().of(&["resync"]);
    let id = format!("resync-{:016x}", getrandom::u64().unwrap_or_default());
    MqttMessage { id, topic, payload, is_retained: false, expiry_s: None }
}

/// An id that is the same each time that a message is sent, also by another start of the server, and
/// that no other message has, also after the record went back to an earlier state.
fn id_of(number: &str, topic: &str, payload: &[u8]) -> String {
    let mut hasher = Sha256::new();
    hasher.update(topic);
    hasher.update([0]);
    hasher.update(payload);
    format!("{number}-{}", hex(&hasher.finalize()[..8]))
}
