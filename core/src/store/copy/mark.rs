//! The progress of a copy, as a note in the copy.

use std::fmt;

use super::CopyError;
use crate::observation::StationId;

/// The name of the note that says whether a store is a copy, and whether it is finished.
pub const NOTE: &str = "copy";

const UNFINISHED: &str = "unfinished";
const VERIFIED: &str = "verified";

/// Returns the name of the original of an unfinished copy, from its [`NOTE`]; `None` if the copy is
/// finished. A store that is an unfinished copy must not be served.
///
/// ```
/// use mesonet::store::copy::unfinished;
/// assert_eq!(unfinished("verified\nembedded:/srv/mesonet\n1200 readings"), None);
/// assert_eq!(
///     unfinished("unfinished\nembedded:/srv/mesonet\n9a3f 0 - - - 0"),
///     Some("embedded:/srv/mesonet")
/// );
/// ```
pub fn unfinished(note: &str) -> Option<&str> {
    let mut lines = note.lines();
    lines.next().filter(|&first| first == UNFINISHED)?;
    Some(lines.next().unwrap_or_default())
}

/// How far a copy has come: everything before a window is copied, and within the window the
/// readings of the stations up to a given one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CopyPosition {
    /// The first and last instant of the window; `None` at the beginning.
    pub window: Option<(i64, i64)>,
    /// The last station whose readings in the window are copied.
    pub station: Option<StationId>,
    /// How many readings and weather reports have been copied so far.
    pub done: u64,
}

/// The content of a note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Unfinished(Unfinished),
    Verified { of: String, summary: String },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unfinished {
    /// The name of the original.
    pub of: String,
    /// A number that identifies the state of the original.
    pub state: u64,
    /// Whether the original has changed since the copy was begun.
    pub has_changed: bool,
    pub at: CopyPosition,
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unfinished(Unfinished { of, state, has_changed, at }) => {
                let CopyPosition { window, station, done } = at;
                writeln!(f, "{UNFINISHED}\n{of}")?;
                write!(f, "{state:x} {}", u8::from(*has_changed))?;
                match window {
                    Some((start_ms, end_ms)) => write!(f, " {start_ms} {end_ms}")?,
                    None => write!(f, " - -")?,
                }
                match station {
                    Some(station) => write!(f, " {station} {done}"),
                    None => write!(f, " - {done}"),
                }
            }
            Self::Verified { of, summary } => write!(f, "{VERIFIED}\n{of}\n{summary}"),
        }
    }
}

impl Mark {
    pub(super) fn parse(text: &str) -> Result<Self, CopyError> {
        Self::read(text).ok_or_else(|| CopyError::Note { text: text.to_owned() })
    }

    fn read(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let (kind, of, rest) = (lines.next()?, lines.next()?.to_owned(), lines.next()?);
        if kind == VERIFIED {
            return Some(Self::Verified { of, summary: rest.to_owned() });
        }
        let mut words = rest.split(' ');
        let state = u64::from_str_radix(words.next()?, 16).ok()?;
        let has_changed = words.next()? == "1";
        let window = match (words.next()?, words.next()?) {
            ("-", "-") => None,
            (start, end) => Some((start.parse().ok()?, end.parse().ok()?)),
        };
        let station = match words.next()? {
            "-" => None,
            id => Some(id.parse().ok()?),
        };
        let at = CopyPosition { window, station, done: words.next()?.parse().ok()? };
        let is_whole = kind == UNFINISHED && words.next().is_none();
        is_whole.then_some(Self::Unfinished(Unfinished { of, state, has_changed, at }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_read_as_it_was_written() {
        let of = "embedded:/srv/mesonet".to_owned();
        let station = Some(StationId::new("TEST", "A"));
        for at in [
            CopyPosition::default(),
            CopyPosition { window: Some((i64::MIN, -1)), station: None, done: 7 },
            CopyPosition { window: Some((0, i64::MAX)), station, done: u64::MAX },
        ] {
            let (of, state, has_changed) = (of.clone(), u64::MAX - 3, at.done == 7);
            let mark = Mark::Unfinished(Unfinished { of, state, has_changed, at });
            assert_eq!(Mark::parse(&mark.to_string()), Ok(mark.clone()));
            assert_eq!(unfinished(&mark.to_string()), Some("embedded:/srv/mesonet"));
        }
        let mark = Mark::Verified { of, summary: "3 readings".to_owned() };
        assert_eq!(Mark::parse(&mark.to_string()), Ok(mark.clone()));
        assert_eq!(unfinished(&mark.to_string()), None);
    }

    #[test]
    fn a_note_of_something_else_is_refused_and_not_taken_for_finished() {
        for text in [
            "",
            "copied",
            "unfinished",
            "unfinished\na",
            "unfinished\na\nb",
            "unfinished\na\n1 0 - - - 0 9",
        ] {
            assert_eq!(Mark::parse(text), Err(CopyError::Note { text: text.to_owned() }), "{text}");
        }
        assert_eq!(unfinished("unfinished"), Some(""));
    }
}
