//! What of an answer is missing because a part of the store is damaged.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use super::{Directory, Reader, Selection, SeriesSlice, StoreError};

/// The blocks of a store's files that cannot be read and in which readings lie, or may lie, that
/// were asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Damage(BTreeSet<(i64, u32)>);

impl Damage {
    /// How many blocks; 0 where nothing is missing.
    pub fn blocks(&self) -> u64 {
        self.0.len() as u64
    }

    /// Adds what is missing of another answer; a block counts once.
    pub fn join(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// Adds a block of a file.
    #[cfg(feature = "embedded")]
    pub(super) fn add(&mut self, file: i64, block: u32) {
        self.0.insert((file, block));
    }
}

/// A reader that notes what is missing of all that is read through it: whatever a query asks, its
/// answer is whole if this says so.
///
/// ```
/// use mesonet::{Caps, ClosedWindow, MemoryStore, ReadingsQuery, Scope, Variable, Watched, readings};
/// let store = MemoryStore::default();
/// let watched = Watched::new(&store);
/// let query = ReadingsQuery {
///     window: ClosedWindow::new(0, 86_400_000)?,
///     scope: Scope::Everywhere,
///     names: vec![Variable::AirTemperature],
///     step: None,
///     max_age_ms: None,
/// };
/// readings(&watched, &query, Caps::default())?;
/// assert_eq!(watched.damage().blocks(), 0);
/// # Ok::<(), mesonet::Error>(())
/// ```
pub struct Watched<'a> {
    reader: &'a dyn Reader,
    damage: Mutex<Damage>,
}

impl<'a> Watched<'a> {
    /// Watches a reader.
    pub fn new(reader: &'a dyn Reader) -> Self {
        Self { reader, damage: Mutex::default() }
    }

    /// What is missing of all that was read up to now.
    pub fn damage(&self) -> Damage {
        self.damage.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Reader for Watched<'_> {
    fn directory(&self) -> Result<Arc<Directory>, StoreError> {
        self.reader.directory()
    }

    fn scan(
        &self,
        selection: &Selection<'_>,
        visit: &mut dyn FnMut(usize, &[SeriesSlice<'_>]),
    ) -> Result<Damage, StoreError> {
        let damage = self.reader.scan(selection, visit)?;
        let mut noted = self.damage.lock().unwrap_or_else(PoisonError::into_inner);
        noted.join(damage.clone());
        Ok(damage)
    }
}
