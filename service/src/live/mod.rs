//! What a stream of events has published, so that it goes on after a restart without a gap or a double.
//!
//! | What | Where |
//! | --- | --- |
//! | The id of an event: a position in the stream | [`Position`], [`EventId`] |
//! | The positions at which servers began, and the items that are not in the journal | [`EventLog`] |

mod event_log;
mod position;

pub use event_log::{EventLog, EventLogError, Item, LAYOUT, NumberedItem, Reach, Topic};
pub use position::{EventId, InvalidEventId, Position};
