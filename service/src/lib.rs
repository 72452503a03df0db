//! Runs a record of mesonet without HTTP: the service behind a server, also used by the bindings.
//!
//! | What | Where |
//! | --- | --- |
//! | Whose data a record holds | [`origin`] |
//! | The record, its settings, the record of another server | `record` |
//! | Files into the record, and the reports that could not be read | `ingest` |
//! | Files from the services that publish them | `fetch` |
//! | Raster products | `products` |
//! | What a stream of events has published, and its ids | `live` |
//! | Folders and buckets for backups and archives | `place` |
//! | Backups, restoring them, and following them | `backup` |
//! | Past months as Parquet | `archive` |
//! | A record in another place | `copy` |
//! | How far back a record is kept | `retention` |
//! | API keys | `keys` |
//! | Checking every file | `verify` |
//! | Alerts sent to addresses | `webhooks` |
//!
//! `docs/architecture.md` says which folder may import which, and a test enforces it.
#![allow(missing_docs, reason = "fields and variants whose names say what they are")]

#[cfg(feature = "whole")]
pub mod archive;
#[cfg(feature = "whole")]
pub mod backup;
#[cfg(feature = "whole")]
pub mod clock;
#[cfg(feature = "whole")]
pub mod copy;
#[cfg(feature = "whole")]
pub mod fetch;
#[cfg(feature = "whole")]
pub mod files;
#[cfg(feature = "whole")]
pub mod hex;
#[cfg(feature = "whole")]
pub mod ingest;
#[cfg(feature = "whole")]
pub mod keys;
#[cfg(feature = "whole")]
pub mod live;
#[cfg(feature = "whole")]
pub mod mqtt;
#[cfg(feature = "whole")]
mod note;
pub mod origin;
#[cfg(feature = "whole")]
pub mod password;
#[cfg(feature = "whole")]
pub mod place;
#[cfg(feature = "whole")]
pub mod products;
#[cfg(feature = "whole")]
pub mod progress;
#[cfg(feature = "whole")]
pub mod record;
#[cfg(feature = "whole")]
pub mod retention;
#[cfg(feature = "whole")]
pub mod setting;
#[cfg(feature = "whole")]
mod sqlite;
#[cfg(feature = "whole")]
pub mod sync;
#[cfg(test)]
mod testing;
#[cfg(feature = "whole")]
pub mod verify;
#[cfg(feature = "whole")]
pub mod webhooks;
