//! What all code that reads files needs.
//!
//! | What | Where |
//! | --- | --- |
//! | How much a file may ask for | [`FileLimits`], [`Budget`] |
//! | What went wrong with files, bounded | [`FileFault`], [`FirstFew`] |
//! | Files that are written once | [`create`] |
//! | Files that may be gone, and folders that may not be there | [`found`], [`entries`] |
//! | Names and texts of files, safe to show | `shown.rs` |
//! | Whether two have the same bytes | [`are_the_same`] |

mod budget;
mod create;
mod first_few;
mod found;
mod same;
mod shown;

pub use budget::{Bound, Budget, FileLimits, OverBudget, Unpacked, Work};
pub use create::create;
pub use first_few::{Faults, FileFault, FirstFew};
pub use found::{entries, found};
pub use same::are_the_same;
pub use shown::{shown_name, shown_path};
