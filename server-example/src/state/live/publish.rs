//! From the record to the ring: batches as they come, and alerts, model runs and raster products as
//! they change.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use mesonet::alert;
use mesonet::store::{ChangeLog, ChangedBatch};
use mesonet_service::live::{Item, NumberedItem, Position, Topic};
use sha2::{Digest, Sha256};

use super::event::{BatchPart, Content, KnownAlerts};
use crate::state::alerts::AlertInState;
use crate::state::{State, StateError};
use mesonet_service::sync::lock;

/// How much of the record is read at once.
const READ_BYTES: usize = 4 << 20;

/// The number of batches from before the start that a client which comes back can get without another look
/// at the record.
const BEFORE_START: u64 = 200;

const SEALED: &str = "the record was sealed before its last batches were published";
const DAMAGED: &str = "a batch of the record is damaged";
const WENT_BACK: &str = "the record went back to an earlier state, or is another one";

/// The position after a part of a batch. The last part ends the batch.
pub fn after_part(batch: u64, part: u32, last: Option<u32>) -> (u64, u32) {
    if last == Some(part) { (batch, 0) } else { (batch - 1, part + 1) }
}

impl State {
    /// Publishes the batches that came since the last time. One caller at a time.
    ///
    /// # Errors
    /// The record cannot be read.
    pub fn publish_batches(&self) -> Result<(), StateError> {
        let Some(log) = self.services.change_log() else { return Ok(()) };
        self.begin_again_if_other(log)?;
        loop {
            let after = self.live.now().batch.0;
            let changes = log.changes_after(after, READ_BYTES)?;
            if changes.known_after > after {
                self.jump(changes.known_after, SEALED);
                continue;
            }
            if changes.batches.is_empty() {
                if changes.last > after {
                    self.jump(changes.last, DAMAGED);
                }
                return Ok(());
            }
            for batch in changes.batches {
                if batch.after > self.live.now().batch.0 {
                    self.jump(batch.after, DAMAGED);
                }
                self.publish_batch(batch);
            }
        }
    }

    /// Begins the stream anew if the record of another server has gone back, or is another one.
    fn begin_again_if_other(&self, log: &dyn ChangeLog) -> Result<(), StateError> {
        let Some(follower) = self.services.follower() else { return Ok(()) };
        let name = follower.record_name();
        let mut known = lock(&self.live.record);
        let after = self.live.now().batch.0;
        let last = log.changes_after(u64::MAX, 0)?.last;
        if *known != name || last < after {
            self.live.log.begin(last, &name)?;
            *known = name;
            self.jump(last, WENT_BACK);
        }
        Ok(())
    }

    /// Puts the last batches from before the start into the ring, for those who come back.
    ///
    /// # Errors
    /// The record cannot be read.
    pub(crate) fn remember_batches(&self) -> Result<(), StateError> {
        let Some(log) = self.services.change_log() else { return Ok(()) };
        let now = self.live.now();
        let restart = |batch: u64| {
            self.live.change(|ring| ring.restart(Position { batch: (batch, 0), ..now }));
        };
        let mut after = now.batch.0.saturating_sub(BEFORE_START);
        restart(after);
        while after < now.batch.0 {
            let changes = log.changes_after(after, READ_BYTES)?;
            after = after.max(changes.known_after);
            if after > self.live.now().batch.0 {
                restart(after);
                continue;
            }
            if changes.batches.is_empty() {
                break;
            }
            for batch in changes.batches.into_iter().filter(|batch| batch.number <= now.batch.0) {
                if batch.after > after {
                    restart(batch.after);
                }
                after = batch.number;
                self.publish_batch(batch);
            }
        }
        if self.live.now() != now {
            restart(now.batch.0);
        }
        Ok(())
    }

    fn publish_batch(&self, batch: ChangedBatch) {
        let batch = Arc::new(batch);
        let parts = BatchPart::all(&batch);
        let last = parts.last().map(|(part, _)| *part);
        self.live.change(|ring| {
            for (part, content) in parts {
                let batch = after_part(batch.number, part, last);
                ring.push(Position { batch, ..ring.now }, Content::Part(content));
            }
            ring.pass(Position { batch: (batch.number, 0), ..ring.now });
        });
    }

    /// Goes on after a batch, and tells everybody that something is missing.
    fn jump(&self, batch: u64, reason: &'static str) {
        tracing::warn!("callers of /live begin anew: {reason}");
        self.live.change(|ring| {
            ring.push(Position { batch: (batch, 0), ..ring.now }, Content::Resync(reason));
        });
    }

    /// Publishes the alerts, runs, products and feeds that have changed since the last time. One caller at a
    /// time.
    ///
    /// # Errors
    /// They cannot be read, or the log cannot be written.
    pub fn publish_items(&self) -> Result<(), StateError> {
        let steps =
            [Self::changed_alerts, Self::changed_runs, Self::changed_products, Self::changed_feeds];
        // What has a number is published, though another step fails: it does not get one again.
        let mut done = Ok(());
        for step in steps {
            match step(self) {
                Ok(changed) => self.publish_changed(changed),
                Err(error) => done = done.and(Err(error)),
            }
        }
        done
    }

    fn publish_changed(&self, changed: Vec<NumberedItem>) {
        let contents = self.contents(changed);
        if !contents.is_empty() {
            self.live.change(|ring| {
                for (number, content) in contents {
                    ring.push(Position { item: number, ..ring.now }, content);
                }
            });
        }
    }

    /// Numbers the changes of alerts. Returns those that have changed.
    fn changed_alerts(&self) -> Result<Vec<NumberedItem>, StateError> {
        if self.services.alerts.failure().is_some() {
            return Ok(Vec::new());
        }
        let view = self.alert_view()?;
        let mut known = lock(&self.live.alerts);
        if known.view.as_ref().is_some_and(|known| Arc::ptr_eq(known, &view)) {
            return Ok(Vec::new());
        }
        let (mut by_id, mut items) = (HashMap::new(), Vec::new());
        for AlertInState { message, state, geometry, zones } in view.all() {
            let text = match known.by_id.get(&message.id) {
                Some((before, before_state, text))
                    if Arc::ptr_eq(before, &message) && *before_state == state =>
                {
                    text.clone()
                }
                _ => digest(&message, &state),
            };
            drop((geometry, zones));
            items.push(Item { name: message.id.clone(), state: text.clone() });
            by_id.insert(message.id.clone(), (message, state, text));
        }
        let changed = self.live.log.update(Topic::Alerts, &items)?;
        *known = KnownAlerts { view: Some(view), by_id };
        Ok(changed)
    }

    /// The items after a number as they are now, each with its number, and the last number of all.
    pub(super) fn items_after(&self, number: u64) -> (Vec<(u64, Content)>, u64) {
        let (items, last) = self.live.log.items_after(number);
        (self.contents(items), last)
    }

    /// The events of items. Those that are gone meanwhile are left out.
    pub(super) fn contents(&self, items: Vec<NumberedItem>) -> Vec<(u64, Content)> {
        if items.is_empty() {
            return Vec::new();
        }
        let is_alert = |item: &&NumberedItem| item.topic == Topic::Alerts;
        let wanted: HashSet<&str> = items.iter().filter(is_alert).map(|item| &*item.name).collect();
        let mut alerts: HashMap<String, AlertInState> = HashMap::new();
        if !wanted.is_empty()
            && let Ok(view) = self.alert_view()
        {
            let meant = view.all().filter(|alert| wanted.contains(&*alert.message.id));
            alerts.extend(meant.map(|alert| (alert.message.id.clone(), alert)));
        }
        let contents = items.into_iter().filter_map(|item| {
            let content = match item.topic {
                Topic::Alerts => Content::Alert(Arc::new(alerts.remove(&item.name)?)),
                Topic::Runs => self.run_content(&item.name)?,
                Topic::Products => self.product_content(&item.name)?,
                Topic::Feeds => self.feed_content(&item.name)?,
            };
            Some((item.number, content))
        });
        contents.collect()
    }
}

/// A text that changes with an alert and its state.
pub(super) fn digest(message: &alert::Message, state: &alert::AlertState) -> String {
    let mut hasher = Sha256::new();
    hasher.update(serde_json::to_vec(message).unwrap_or_default());
    hasher.update(format!("{state:?}"));
    mesonet_service::hex::hex(&hasher.finalize()[..12])
}
