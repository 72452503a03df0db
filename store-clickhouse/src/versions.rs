//! Which version of a reading counts, and whether a reading that comes in becomes the next version.

use mesonet::store::Receipt;

use crate::rows::{ReadingRow, WeatherRow};

/// Something on record with a revision. A later one may replace it.
pub(crate) trait Versioned: Clone {
    fn revision(&self) -> u8;
    fn version(&self) -> u16;
    fn set_version(&mut self, version: u16);
    /// Whether another one has the same content, whatever its verdict is now.
    fn came_as(&self, other: &Self) -> bool;
}

impl Versioned for ReadingRow {
    fn revision(&self) -> u8 {
        self.revision
    }

    fn version(&self) -> u16 {
        self.version
    }

    fn set_version(&mut self, version: u16) {
        self.version = version;
    }

    fn came_as(&self, other: &Self) -> bool {
        (self.value.to_bits(), self.source, self.revision, self.qualifier)
            == (other.value.to_bits(), other.source, other.revision, other.qualifier)
    }
}

impl Versioned for WeatherRow {
    fn revision(&self) -> u8 {
        self.revision
    }

    fn version(&self) -> u16 {
        self.version
    }

    fn set_version(&mut self, version: u16) {
        self.version = version;
    }

    fn came_as(&self, other: &Self) -> bool {
        self.revision == other.revision && self.words == other.words
    }
}

/// There is no room for another version of a reading.
#[derive(Debug)]
pub(crate) struct TooManyVersions;

/// Returns the next version of what is on record, from what came in for one series and time, in
/// order of arrival; `None` if nothing changes. The receipt counts each arrival.
pub(crate) fn next_version<T: Versioned>(
    stored: Option<&T>,
    came: &[T],
    receipt: &mut Receipt,
) -> Result<Option<T>, TooManyVersions> {
    let (mut held, mut first, mut replaced) = (stored, stored, 0);
    for came in came {
        match held {
            Some(held) if held.revision() > came.revision() => {
                receipt.overtaken += 1;
                continue;
            }
            Some(held) if held.came_as(came) => receipt.unchanged += 1,
            Some(_) => replaced += 1,
            None => receipt.added += 1,
        }
        held = Some(came);
        first = first.or(held);
    }
    // A value that was replaced and came back within one batch has not changed.
    let again = held.zip(first).is_none_or(|(held, first)| held.came_as(first));
    *(if again { &mut receipt.unchanged } else { &mut receipt.replaced }) += replaced;
    let Some(next) = held.filter(|held| !stored.is_some_and(|stored| stored.came_as(held))) else {
        return Ok(None);
    };
    let mut next = next.clone();
    next.set_version(after(stored)?);
    Ok(Some(next))
}

/// The version after the one on record.
pub(crate) fn after<T: Versioned>(stored: Option<&T>) -> Result<u16, TooManyVersions> {
    stored.map_or(Ok(0), |stored| stored.version().checked_add(1).ok_or(TooManyVersions))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_version_has_none_after_it() {
        let row = |version, words: &str| WeatherRow {
            station: mesonet::StationId::new("TEST", "A").into(),
            ts_ms: 0,
            version,
            batch: 0,
            revision: 0,
            words: vec![words.to_owned()],
        };
        let next = |stored: &WeatherRow| {
            next_version(Some(stored), &[row(0, "Rain")], &mut Receipt::default())
        };
        let before_last = next(&row(u16::MAX - 1, "Snow")).map(|next| next.map(|row| row.version));
        assert_eq!(before_last.ok().flatten(), Some(u16::MAX));
        assert!(next(&row(u16::MAX, "Snow")).is_err());
        // A row that is there already needs no version.
        assert!(next(&row(u16::MAX, "Rain")).is_ok_and(|next| next.is_none()));
    }
}
