//! Alerts: messages that come, that are replaced, and that are given up.

use std::path::Path;

use mesonet::{AlertMessage, AlertPart, AlertStore, EmbeddedOptions, EmbeddedStore};

use crate::Work;

pub struct Alerts {
    alerts: AlertStore,
    /// Whose folder it is.
    _store: EmbeddedStore,
}

const STEPS: usize = 8;

fn message(id: usize, sent_ms: i64) -> AlertMessage {
    let part = AlertPart { expires_ms: Some(sent_ms + 10), ..AlertPart::default() };
    let (id, sender) = (format!("message {id}"), "x".repeat(3_000));
    AlertMessage { id, sender, sent_ms, parts: vec![part], ..AlertMessage::default() }
}

fn step(alerts: &AlertStore, number: usize) {
    let sent_ms = number as i64 * 10;
    if number == 5 {
        alerts.expire(15).unwrap();
    } else {
        // One that is new, and one that takes the place of another.
        let messages = vec![message(number, sent_ms), message(number / 2, sent_ms)];
        alerts.append(messages).unwrap();
    }
}

impl Work for Alerts {
    const NAME: &'static str = "alerts";
    const STEPS: usize = STEPS;
    type Seen = Vec<AlertMessage>;

    fn open(dir: &Path) -> Self {
        let store = EmbeddedStore::open(dir, EmbeddedOptions::default()).unwrap();
        let (alerts, faults) = AlertStore::open(dir).unwrap();
        assert_eq!(faults, []);
        Self { alerts, _store: store }
    }

    fn step(&mut self, number: usize) {
        step(&self.alerts, number);
    }

    fn expected(steps: usize) -> Self::Seen {
        let alerts = AlertStore::default();
        (0..steps).for_each(|number| step(&alerts, number));
        seen(&alerts)
    }

    fn seen(dir: &Path) -> Self::Seen {
        let seen = seen(&Self::open(dir).alerts);
        assert_eq!(EmbeddedStore::verify(dir, false).unwrap().faults, []);
        seen
    }
}

fn seen(alerts: &AlertStore) -> Vec<AlertMessage> {
    alerts.record().messages.iter().map(|message| AlertMessage::clone(message)).collect()
}
