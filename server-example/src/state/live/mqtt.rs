//! Events as messages for a broker that speaks MQTT.

use std::sync::Arc;
use std::time::Duration;

use mesonet::Iso8601;
use mesonet::alert::Status;
use mesonet::store::StoreError;
use mesonet_service::live::EventId;
use mesonet_service::mqtt::{MqttBroker, MqttMessage, Step};
use serde_json::{Value, json};
use tokio::sync::mpsc::{self, error::SendError};
use tokio::time::Instant;

use super::event::Content;
use super::filter::{Events, ListenerFilter};
use super::mqtt_readings::{Publication, Unpublished, id_of};
use super::subscriber::Subscriber;
use crate::auth::access::ModelPermission;
use crate::state::State;
use crate::state::alerts::AlertInState;

/// Messages that wait for the connection, at most.
const WAITING: usize = 16;

/// How often a broker is told the position though there is nothing for it.
const PASS_EVERY: Duration = Duration::from_secs(10);

/// How long the producer waits after the record could not be read.
const AFTER_FAILURE: Duration = Duration::from_secs(5);

/// How long a broker keeps an alert after its end if it does not hear of that.
const AFTER_END_MS: i64 = 3_600_000;

/// How often a filter is read again that names what is not on record.
const READ_AGAIN: Duration = Duration::from_secs(10);

impl State {
    /// Notes that a broker begins now, if it has not begun: it gets what comes from now on, even if it
    /// cannot be reached before the server starts again.
    pub(crate) fn begin_for(&self, broker: &MqttBroker) {
        broker.begin(self.live.log.id(self.live.now()));
    }

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
        if !content.is_selected(&publication.filter) {
            return Vec::new();
        }
        match content {
            Content::Alert(alert) => self.of_alert(publication, alert, item),
            Content::Item { events, data, .. } => {
                self.of_item(publication, *events, data, item).into_iter().collect()
            }
            Content::Resync(reason) => vec![resync(publication, reason)],
            Content::Part(_) => Vec::new(),
        }
    }

    fn of_alert(
        &self,
        publication: &Publication,
        alert: &AlertInState,
        item: u64,
    ) -> Vec<MqttMessage> {
        let AlertInState { message, state, .. } = alert;
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
        if is_retained || !publication.broker.config().retain {
            return vec![own];
        }
        // Later subscribers do not get the alert any more.
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
        let (levels, is_latest) = match events {
            Events::Runs => {
                let model = text("model")?;
                (vec!["models", model], self.newest_run(model).as_deref() == text("run"))
            }
            Events::Feeds => (vec!["feeds", text("network")?], true),
            _ => {
                let (kind, span) = (text("type")?, text("duration"));
                let newest = self.newest_product(kind, span);
                let newest = newest.map(|at_ms| Iso8601(at_ms).to_string());
                let levels = ["products", kind].into_iter().chain(span).collect();
                (levels, newest.as_deref() == text("timestamp"))
            }
        };
        let topic = publication.broker.topics().of(&levels);
        // What else a feed says may be another when it is sent again.
        let late = value["late"].to_string();
        let same = if events == Events::Feeds { late.as_bytes() } else { data };
        Some(MqttMessage {
            id: id_of(&format!("i{item}"), &topic, same),
            topic,
            payload: data.to_vec(),
            is_retained: is_latest,
            expiry_s: None,
        })
    }

    fn newest_run(&self, model: &str) -> Option<String> {
        let catalogue = self.services.models.catalogue();
        let runs =
            self.services.models.runs(ModelPermission::to_server(catalogue.get(model)?)).ok()?;
        Some(runs.iter().map(|run| run.definition().run).max()?.to_string())
    }

    fn newest_product(&self, kind: &str, span: Option<&str>) -> Option<i64> {
        let span = span.map(str::parse).transpose().ok()?;
        let catalogue = self.services.products.catalogue();
        let times = self.services.products.times(catalogue.get(kind)?, span).ok()?;
        times.into_iter().max()
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
    let (subscriber, resumed) = Subscriber::new(state, position.as_deref());
    let mut subscriber = subscriber.patient();
    let id = |subscriber: &Subscriber| state.live.log.id(subscriber.at);
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
            // It has ended early, which is in the log.
            Err(_) => {}
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
        send_event(state, publication, event.content().clone(), subscriber.at.item, steps).await?;
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
    let begun = done(state, steps, move |state| match &content {
        Content::Part(part) => {
            let directory = state.services.store.directory()?;
            let found = part.selected(&of.filter, state.clock.now_ms(), &directory);
            let found = found.map(|(events, of)| Unpublished::new(part.batch.number, events, of));
            Ok((Vec::new(), found))
        }
        other => Ok((state.messages_of(&of, other, item), None)),
    });
    let (messages, mut unpublished) = begun.await?;
    for message in messages {
        steps.send(Step::Message(message)).await?;
    }
    // A batch may have many readings: they are not all messages at once.
    while let Some(some) = unpublished {
        unpublished = some.rest();
        let of = Arc::clone(publication);
        let messages = done(state, steps, move |state| some.messages(state, &of)).await?;
        for message in messages {
            steps.send(Step::Message(message)).await?;
        }
    }
    Ok(())
}

/// Does work until it succeeds: an event that cannot be made into messages now must not be left out.
async fn done<T: Send + 'static>(
    state: &Arc<State>,
    steps: &mpsc::Sender<Step>,
    work: impl Fn(&State) -> Result<T, StoreError> + Send + Sync + 'static,
) -> Result<T, SendError<Step>> {
    let work = Arc::new(work);
    loop {
        let own = Arc::clone(&work);
        let error = match state.look_up(move |state| own(state)).await {
            Ok(Ok(done)) => return Ok(done),
            Ok(Err(error)) => error.to_string(),
            Err(_) => "it has ended early".to_owned(),
        };
        tracing::error!("the messages for mqtt cannot be made: {error}");
        tokio::select! {
            () = tokio::time::sleep(AFTER_FAILURE) => {}
            // Whatever is sent now fails, which ends the producer.
            () = steps.closed() => steps.send(Step::Position(state.live.log.id(state.live.now()))).await?,
        }
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
