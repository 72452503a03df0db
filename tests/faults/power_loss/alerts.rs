//! Alerts: messages that arrive, are replaced, and expire.

use std::path::Path;

use mesonet::store::{AlertStore, EmbeddedOptions};
use mesonet::{EmbeddedStore, alert};

use crate::Work;

pub struct Alerts {
    alerts: AlertStore,
    /// The owner of the folder.
    _store: EmbeddedStore,
}

const STEPS: usize = 8;

fn message(id: usize, sent_ms: i64) -> alert::Message {
    let part = alert::Part { expires_ms: Some(sent_ms + 10), ..alert::Part::default() };
    let (id, sender) = (format!("message {id}"), "x".repeat(3_000));
    alert::Message { id, sender, sent_ms, parts: vec![part], ..alert::Message::default() }
}

fn step(alerts: &AlertStore, number: usize) {
    let sent_ms = number as i64 * 10;
    if number == 5 {
        alerts.expire(15).unwrap();
    } else {
        // A new alert, and one that replaces another.
        let messages = vec![message(number, sent_ms), message(number / 2, sent_ms)];
        alerts.append(messages).unwrap();
    }
}

impl Work for Alerts {
    const NAME: &'static str = "alerts";
    const STEPS: usize = STEPS;
    type Seen = Vec<alert::Message>;

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

fn seen(alerts: &AlertStore) -> Vec<alert::Message> {
    alerts.record().messages.iter().map(|message| alert::Message::clone(message)).collect()
}
