//! The names of the files and folders in a store's folder.

/// The database of the record.
pub(super) const DATABASE: &str = "mesonet.sqlite";
/// The database of the alerts.
pub(in super::super) const ALERTS: &str = "alerts.sqlite";
/// Locked while a process has the folder open.
pub(super) const LOCK: &str = "lock";
/// The folder of sealed readings.
pub(super) const SEGMENTS: &str = "segments";
/// The folder of files that were set aside because they are damaged.
pub(super) const DAMAGED: &str = "damaged";
/// The folder of segments that the catalogue does not know.
pub(super) const ORPHANED: &str = "orphaned";
