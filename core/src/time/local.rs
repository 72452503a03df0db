//! Local times: the offsets of a time zone from UTC as numbers, wherever they come from.

use std::sync::Arc;

use super::{InstantWriter, MINUTE_MS, two_digits};

/// The offsets of a time zone from UTC over time. The crate has no time zones: the caller
/// gives the changes.
///
/// ```
/// use mesonet::time::{LocalClock, parse_instant};
/// // Toronto in 2024: UTC−5, from 10 March 07:00 UTC to 3 November 06:00 UTC UTC−4.
/// let spring_ms = parse_instant("2024-03-10T07:00:00Z")?;
/// let autumn_ms = parse_instant("2024-11-03T06:00:00Z")?;
/// let clock = LocalClock::new("America/Toronto", -300, [(spring_ms, -240), (autumn_ms, -300)]);
/// assert_eq!(clock.name(), "America/Toronto");
/// assert_eq!(clock.text(spring_ms - 1_000), "2024-03-10T01:59:59-05:00");
/// assert_eq!(clock.text(spring_ms), "2024-03-10T03:00:00-04:00");
/// // The hour that comes twice has two offsets.
/// assert_eq!(clock.text(autumn_ms - 1_800_000), "2024-11-03T01:30:00-04:00");
/// assert_eq!(clock.text(autumn_ms + 1_800_000), "2024-11-03T01:30:00-05:00");
/// # Ok::<(), mesonet::time::TimeError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalClock {
    name: Arc<str>,
    first_minutes: i32,
    /// From which instant, and how many minutes ahead of UTC from then on; by time.
    changes: Vec<(i64, i32)>,
}

impl LocalClock {
    /// A clock with the name of its zone, its minutes ahead of UTC before the first change, and the
    /// changes: from which instant (milliseconds since 1970), and the minutes from then on.
    pub fn new(
        name: &str,
        first_minutes: i32,
        changes: impl IntoIterator<Item = (i64, i32)>,
    ) -> Self {
        let mut changes: Vec<(i64, i32)> = changes.into_iter().collect();
        changes.sort_unstable();
        Self { name: name.into(), first_minutes, changes }
    }

    /// The name of the zone.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many minutes the local time is ahead of UTC at an instant.
    pub fn offset_minutes(&self, ts_ms: i64) -> i32 {
        let after = self.changes.partition_point(|&(from_ms, _)| from_ms <= ts_ms);
        after.checked_sub(1).map_or(self.first_minutes, |at| self.changes[at].1)
    }

    /// The local time of an instant with its offset, as RFC 3339.
    pub fn text(&self, ts_ms: i64) -> String {
        let mut text = Vec::with_capacity(30);
        self.write(ts_ms, &mut InstantWriter::default(), &mut text);
        String::from_utf8(text).unwrap_or_default()
    }

    /// Appends the local time of an instant to a text. The writer is one for local times, so that
    /// what it keeps is of use.
    pub fn write(&self, ts_ms: i64, writer: &mut InstantWriter, text: &mut Vec<u8>) {
        let minutes = self.offset_minutes(ts_ms);
        writer.write(ts_ms.saturating_add(i64::from(minutes) * MINUTE_MS), text);
        // The Z of UTC.
        text.pop();
        text.push(if minutes < 0 { b'-' } else { b'+' });
        let ahead = i64::from(minutes.abs());
        text.extend_from_slice(&two_digits(ahead / 60));
        text.push(b':');
        text.extend_from_slice(&two_digits(ahead % 60));
    }
}
