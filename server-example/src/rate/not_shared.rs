//! What stands in the place of a count in Redis in a server that was built without it: nothing can be
//! made of it.

use super::{SharedHealth, Turn, Window};
use crate::config::{Config, ConfigError};
use crate::door::Party;

/// There is none.
pub enum Shared {}

impl Shared {
    /// The settings have been checked: there is no address.
    #[expect(clippy::unnecessary_wraps, reason = "as with the feature")]
    pub fn new(_: &Config) -> Result<Option<Self>, ConfigError> {
        Ok(None)
    }

    /// Is not asked.
    #[expect(clippy::unused_async, reason = "as with the feature")]
    pub async fn take(&self, _: Party, _: &Window) -> Option<Turn> {
        match *self {}
    }

    /// Is not asked.
    #[expect(clippy::unused_async, reason = "as with the feature")]
    pub async fn keep_connected(&self) {
        match *self {}
    }

    /// Is not asked.
    pub fn health(&self) -> SharedHealth {
        match *self {}
    }
}
