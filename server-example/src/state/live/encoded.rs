//! The texts of events, each made once for all listeners who want the same.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, OnceLock};

use axum::body::Bytes;

use mesonet_service::sync::lock;

/// Memory for texts. The newest ones are kept.
const MOST_BYTES: usize = 16 << 20;

/// The number of the event, and that of the filter.
type Key = (u64, u64);
/// `None` if the filter selects nothing of the event.
type Text = Option<Bytes>;

/// The texts of the last events.
#[derive(Debug, Default)]
pub struct EncodedEvents {
    texts: Mutex<Texts>,
}

#[derive(Debug, Default)]
struct Texts {
    known: HashMap<Key, Arc<OnceLock<Text>>>,
    order: VecDeque<(Key, usize)>,
    bytes: usize,
}

impl EncodedEvents {
    /// Returns the text of an event for a filter. Others who want it wait while it is made.
    pub fn get(&self, key: Key, make: impl FnOnce() -> Text) -> Text {
        let cell = Arc::clone(lock(&self.texts).known.entry(key).or_default());
        let mut length = None;
        let text = cell.get_or_init(|| {
            let text = make();
            length = Some(text.as_ref().map_or(0, Bytes::len));
            text
        });
        if let Some(length) = length {
            lock(&self.texts).note(key, length);
        }
        text.clone()
    }
}

impl Texts {
    fn note(&mut self, key: Key, length: usize) {
        // What an entry takes beside its text.
        let bytes = length + 128;
        self.order.push_back((key, bytes));
        self.bytes += bytes;
        while self.bytes > MOST_BYTES
            && let Some((key, bytes)) = self.order.pop_front()
        {
            self.known.remove(&key);
            self.bytes -= bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_made_once_and_old_ones_go() {
        let encoded = EncodedEvents::default();
        let mut made = 0;
        let mut get = |event| {
            encoded.get((event, 0), || {
                made += 1;
                Some(Bytes::from(vec![0; 1 << 20]))
            })
        };
        for event in [0, 0, 1, 1, 0] {
            assert!(get(event).is_some());
        }
        for event in 2..40 {
            get(event);
        }
        assert!(get(39).is_some());
        assert_eq!(made, 40);
        let texts = lock(&encoded.texts);
        assert!(texts.bytes <= MOST_BYTES && texts.known.len() < 20);
    }
}
