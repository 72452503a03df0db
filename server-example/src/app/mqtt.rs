//! Sends events to brokers that speak MQTT: one task for each.

use std::sync::Arc;
use std::time::Duration;

use mesonet_service::mqtt::{MqttBroker, Step};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::error::ServeError;
use crate::routes::live_filter;
use crate::state::State;

/// How long the last messages may take once the server ends.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(4);

/// The tasks, which end with the stream of events.
pub struct Deliveries {
    stop: watch::Sender<bool>,
    tasks: JoinSet<()>,
}

/// Starts the tasks. A server that replays earlier data sends tests only, because subscribers
/// would take its readings for those of today.
///
/// # Errors
/// The filter of a broker is invalid.
pub fn deliver(state: &Arc<State>) -> Result<Deliveries, ServeError> {
    let (stop, stopped) = watch::channel(false);
    let mut tasks = JoinSet::new();
    for broker in &state.mqtt {
        let config = broker.config();
        live_filter::check(state, &config.filter)
            .map_err(|error| ServeError::Filter { name: config.name.clone(), error })?;
    }
    if !state.clock.is_live() {
        if !state.mqtt.is_empty() {
            tracing::warn!("the server replays earlier data: brokers get tests, and no events");
        }
        return Ok(Deliveries { stop, tasks });
    }
    for broker in &state.mqtt {
        state.begin_for(broker);
        let (state, broker, stopped) = (Arc::clone(state), Arc::clone(broker), stopped.clone());
        tasks.spawn(async move {
            let begin = || begin(&state, &broker);
            broker.deliver(begin, || state.live.is_closed(), stopped).await;
        });
    }
    Ok(Deliveries { stop, tasks })
}

fn begin(state: &Arc<State>, broker: &Arc<MqttBroker>) -> mpsc::Receiver<Step> {
    let text = broker.config().filter.clone();
    state.publish_to(broker, move |state| live_filter::of_text(state, &text))
}

impl Deliveries {
    /// Waits a moment for the last messages.
    pub async fn stop(mut self) {
        self.stop.send_replace(true);
        let _ =
            timeout(CLOSE_TIMEOUT, async { while self.tasks.join_next().await.is_some() {} }).await;
    }
}
