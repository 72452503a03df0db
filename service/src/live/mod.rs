//! What a stream of events has told, so that it goes on after a restart without a gap or a double.
//!
//! | What | Where |
//! | --- | --- |
//! | The id of an event: a position in the stream | [`Position`], [`EventId`] |
//! | The positions at which servers began, and what was told but is not in the journal | [`Told`] |

mod position;
mod told;

pub use position::{EventId, InvalidEventId, Position};
pub use told::{FILE, Item, Noted, Reach, Told, ToldError, Topic};
