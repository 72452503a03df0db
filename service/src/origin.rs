//! Whose data a record holds. This decides whether its clock is live.

use mesonet::store::StoreError;
use mesonet::{EmbeddedStore, Reader};

/// The origin of the readings of a store.
pub const ORIGIN: &str = "origin";

/// What a store holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Nothing yet, and no alerts, products or model runs either.
    New,
    /// Nothing but the sample.
    Sample,
    /// Data of the operator.
    Own,
}

/// Notes about a record, each under a name.
pub trait Marks: Reader {
    /// Whether the record was made when it was opened, and nothing else was there.
    fn is_new(&self) -> bool;

    /// The note under a name.
    ///
    /// # Errors
    /// It cannot be read.
    fn mark(&self, name: &str) -> Result<Option<String>, StoreError>;

    /// Notes a text under a name, and replaces an earlier one.
    ///
    /// # Errors
    /// It cannot be written.
    fn set_mark(&self, name: &str, value: &str) -> Result<(), StoreError>;
}

impl Marks for EmbeddedStore {
    fn is_new(&self) -> bool {
        Self::is_new(self)
    }

    fn mark(&self, name: &str) -> Result<Option<String>, StoreError> {
        self.meta_get(name)
    }

    fn set_mark(&self, name: &str, value: &str) -> Result<(), StoreError> {
        self.meta_set(name, value)
    }
}

impl Origin {
    /// What a store holds.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn of<M: Marks + ?Sized>(store: &M) -> Result<Self, StoreError> {
        Ok(match store.mark(ORIGIN)?.as_deref() {
            Some("sample") => Self::Sample,
            None if store.is_new() && store.directory()?.stations.is_empty() => Self::New,
            _ => Self::Own,
        })
    }
}

/// Marks a store as having readings of the operator. From now on its clock is live by default.
///
/// # Errors
/// It cannot be written.
pub fn make_own<M: Marks + ?Sized>(store: &M) -> Result<(), StoreError> {
    match Origin::of(store)? {
        Origin::Own => Ok(()),
        Origin::New | Origin::Sample => store.set_mark(ORIGIN, "own"),
    }
}
