//! The id of an event.

use std::fmt;
use std::str::FromStr;

/// A position in the stream of events: what was published before it. Two positions of one record are
/// compared part by part, since batches and items are numbered independently.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// The last batch of which everything was published, and how many parts of the next one were.
    pub batch: (u64, u32),
    /// The number of the last item: an alert, a run, a product or a feed.
    pub item: u64,
}

impl Position {
    /// Whether everything that was published before this position was also published before another.
    pub fn is_within(&self, other: &Self) -> bool {
        self.batch <= other.batch && self.item <= other.item
    }
}

/// The id of an event: a position, and the start of the server that sent it.
///
/// ```
/// use mesonet_service::live::{EventId, Position};
/// let id = EventId { start: 255, position: Position { batch: (1041, 3), item: 17 } };
/// assert_eq!(id.to_string(), "00000000000000ff-1041-3-17");
/// assert_eq!("00000000000000ff-1041-3-17".parse(), Ok(id));
/// assert!("17".parse::<EventId>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventId {
    /// The random number of the start.
    pub start: u64,
    pub position: Position,
}

/// A text that is the id of no event.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is not the id of an event of this stream")]
pub struct InvalidEventId(String);

/// No id is longer.
const MAX_LENGTH: usize = 16 + 1 + 20 + 1 + 10 + 1 + 20;

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { start, position: Position { batch: (batch, part), item } } = self;
        write!(f, "{start:016x}-{batch}-{part}-{item}")
    }
}

impl FromStr for EventId {
    type Err = InvalidEventId;
    fn from_str(text: &str) -> Result<Self, InvalidEventId> {
        let parse = || {
            let mut parts = text.split('-');
            let start = u64::from_str_radix(parts.next()?, 16).ok()?;
            let batch = parts.next()?.parse().ok()?;
            let part = parts.next()?.parse().ok()?;
            let position = Position { batch: (batch, part), item: parts.next()?.parse().ok()? };
            Some(Self { start, position })
        };
        // Only the text that was sent: no signs, no leading zeros.
        let id = parse().filter(|id: &Self| id.to_string() == text);
        id.ok_or_else(|| InvalidEventId(text.chars().take(MAX_LENGTH).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_sent_is_an_id() {
        let largest = EventId {
            start: u64::MAX,
            position: Position { batch: (u64::MAX, u32::MAX), item: u64::MAX },
        };
        assert_eq!(largest.to_string().len(), MAX_LENGTH);
        assert_eq!(largest.to_string().parse(), Ok(largest));
        for wrong in [
            "",
            "-",
            "1",
            "---",
            "00000000000000ff-1-2",
            "00000000000000ff-1-2-3-4",
            "00000000000000ff-1-2-+3",
            "00000000000000ff-01-2-3",
            "00000000000000FF-1-2-3",
            "ff-1-2-3",
            "00000000000000ff-1-4294967296-3",
            "00000000000000ff-18446744073709551616-2-3",
            "00000000000000ff-1-2-3 ",
            "é",
        ] {
            let error = wrong.parse::<EventId>().unwrap_err();
            let expected = format!("\"{wrong}\" is not the id of an event of this stream");
            assert_eq!(error.to_string(), expected);
        }
        let long = "9".repeat(100_000).parse::<EventId>().unwrap_err();
        assert!(long.to_string().len() < 200);
    }
}
