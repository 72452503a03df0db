//! From the log of events to webhooks.

use std::collections::HashSet;
use std::sync::Arc;

use mesonet::Iso8601;
use mesonet::alert::Status;
use mesonet_service::live::{EventId, Position, Reach, Topic};
use mesonet_service::webhooks::{Message, Webhook};
use serde::Serialize;

use super::event::Content;
use super::publish::digest;
use crate::state::alerts::{AlertInState, Language};
use crate::state::{State, StateError};

/// The body of a delivery, as Standard Webhooks recommends.
#[derive(Serialize)]
struct Body<D> {
    r#type: &'static str,
    timestamp: Iso8601,
    data: D,
}

impl State {
    /// Delivers the alerts that a webhook has not got, until one does not arrive: those in force that
    /// it is about, and the end of those that it has delivered. A webhook that begins, or whose
    /// position is of another record, gets all of these once more.
    ///
    /// # Errors
    /// The log of events, or the alerts, cannot be read.
    pub fn deliver(&self, webhook: &Webhook) -> Result<(), StateError> {
        let now = Position { item: self.live.log.last(), ..Position::default() };
        let known = match webhook.position() {
            Some(id) if self.live.log.reach(id, &now)? == Reach::Known => id.position.item,
            _ => 0,
        };
        let french = webhook.config().lang == Language::French.name();
        let language = if french { Language::French } else { Language::English };
        let (alerts, last) = self.alerts_after(known);
        for (number, alert) in alerts {
            let AlertInState { message, state, zones, .. } = &*alert;
            let is_meant = webhook.query().is_met(message, state, zones.zones())
                || webhook.has_in_force(&message.id);
            if self.live.is_closed() {
                return Ok(());
            }
            if is_meant && !webhook.deliver(&self.message(number, &alert, language)) {
                return Ok(());
            }
        }
        let on_record: HashSet<String> =
            self.alert_view()?.all().map(|alert| alert.message.id.clone()).collect();
        webhook.retain(|alert| on_record.contains(alert));
        webhook.pass(self.after_item(last));
        Ok(())
    }

    fn message(&self, number: u64, alert: &AlertInState, language: Language) -> Message {
        let body = Body {
            r#type: "alert",
            timestamp: Iso8601(self.clock.now_ms()),
            data: alert.feature(language),
        };
        Message {
            // The same for each attempt. Should the log be lost, its numbers begin anew: then the
            // content makes the difference.
            id: format!("{number}-{}", digest(&alert.message, &alert.state)),
            alert: alert.message.id.clone(),
            is_active: alert.state.status == Status::Active,
            position: self.after_item(number),
            body: serde_json::to_vec(&body).unwrap_or_default(),
        }
    }

    fn after_item(&self, item: u64) -> EventId {
        self.live.log.id(Position { item, ..Position::default() })
    }

    /// The alerts that have changed after a number, and the last number of all.
    fn alerts_after(&self, number: u64) -> (Vec<(u64, Arc<AlertInState>)>, u64) {
        let (mut items, last) = self.live.log.items_after(number);
        items.retain(|item| item.topic == Topic::Alerts);
        let contents = self.contents(items).into_iter();
        let alerts = contents.filter_map(|(number, content)| match content {
            Content::Alert(alert) => Some((number, alert)),
            _ => None,
        });
        (alerts.collect(), last)
    }
}
