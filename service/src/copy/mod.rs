//! Copies a record to another place.
//!
//! [`mesonet::store::copy`] copies and compares readings. This module opens the places, and also
//! copies the alerts and API keys.

mod places;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use mesonet::alert;
use mesonet::store::StoreError;
use mesonet::store::copy::{Comparison, CopyError, Copying, Digest, Original, compare};
use serde_json::json;

use crate::keys::{ApiKey, KeysError};
use crate::progress::bar;
use crate::record::{NOTES, RecordPlace, RecordPlaceError};
use places::{From, To};

/// Number of alerts that are written at once.
const ALERTS_AT_ONCE: usize = 1000;

const READINGS: &str =
    "{msg} {bar:40} {human_pos} of about {human_len} readings, {per_sec}, {eta} to go";

/// Why a record could not be copied.
#[derive(Debug, thiserror::Error)]
pub enum CopyCommandError {
    /// A place cannot be opened.
    #[error(transparent)]
    Place(#[from] RecordPlaceError),
    /// A store cannot be opened, read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The API keys cannot be read or written.
    #[error(transparent)]
    Keys(#[from] KeysError),
    /// Both places are the same.
    #[error("both places are {0}; a record is copied from one place to another")]
    OnePlace(String),
    /// The record that is to be copied is not whole.
    #[error("{place} is damaged, so it is not copied: {faults}")]
    Damaged {
        /// The place of the record.
        place: String,
        /// What is damaged.
        faults: String,
    },
    /// A record cannot be copied or compared.
    #[error("{place}: {error}")]
    Copy {
        /// The place.
        place: String,
        /// Why.
        error: CopyError,
    },
    /// The place has alerts already.
    #[error(
        "{place}: it holds {alerts} alerts already; a record is copied into an empty place only"
    )]
    Alerts {
        /// The place.
        place: String,
        /// How many.
        alerts: usize,
    },
    /// The record to copy is itself an unfinished copy, or is in the folder of a follower.
    #[error("{place} {what}")]
    NotARecord {
        /// The place.
        place: String,
        /// What it is.
        what: String,
    },
    /// The result cannot be written.
    #[error("cannot write the result: {0}")]
    Io(#[from] io::Error),
}

/// What was done.
#[derive(Default)]
pub struct CopyReport {
    from: String,
    to: String,
    /// What is not part of the record, and was not copied.
    pub left: Vec<String>,
    comparison: Comparison,
    /// Number of alerts of the original, and the ids of those that differ in the copy.
    alerts: (usize, Vec<String>),
    /// Number of API keys of the original, and the ids of those that the copy lacks or that differ
    /// in the copy.
    keys: (usize, Vec<String>),
    copied: u64,
    copy_s: f64,
    compare_s: f64,
}

/// How a record is copied.
#[derive(Clone, Copy, Debug, Default)]
pub struct CopyOptions<'a> {
    /// Copy nothing; only compare the two.
    pub check: bool,
    /// The file with the password of ClickHouse.
    pub password_file: Option<&'a Path>,
}

/// Copies a record and compares the copy with it, or only compares.
///
/// # Errors
/// A place cannot be opened, read or written; the record is damaged; or the other place already
/// holds something.
pub fn copy(
    from_place: &RecordPlace,
    to_place: &RecordPlace,
    options: CopyOptions<'_>,
) -> Result<CopyReport, CopyCommandError> {
    let CopyOptions { check, password_file } = options;
    let (from_shown, to_shown) = (places::shown(from_place), places::shown(to_place));
    if from_shown == to_shown {
        return Err(CopyCommandError::OnePlace(from_shown));
    }
    let from = From::open(from_place, password_file)?;
    let mut done = if check {
        let to = From::open_copy(to_place, password_file)?;
        let (comparison, compare_s) = compared(&from, &from_shown, &*to.reader)?;
        let alerts = differing(&from, &to.alerts);
        let keys = missing(&from.keys, &to.keys);
        CopyReport { comparison, alerts, keys, compare_s, ..CopyReport::default() }
    } else {
        let to = To::open(to_place, password_file)?;
        CopyReport { left: from.left.clone(), ..copied(&from, &from_shown, &to, &to_shown)? }
    };
    (done.from, done.to) = (from_shown, to_shown);
    Ok(done)
}

fn copied(
    from: &From,
    from_place: &str,
    to: &To,
    to_place: &str,
) -> Result<CopyReport, CopyCommandError> {
    let failed = |error| about(from, from_place, to_place, error);
    let mut copying = Copying::begin(&*from.reader, &*to.store, from_place).map_err(&failed)?;
    let before = copying.done();
    let bar = bar(READINGS, || copying.expected()).with_message("copying");
    bar.set_position(before);
    bar.reset_eta();
    let started = Instant::now();
    let copied = copying.run(&mut |done| bar.set_position(done));
    bar.finish_and_clear();
    copied.map_err(&failed)?;
    let messages: Vec<_> = from.alerts.iter().map(|message| (**message).clone()).collect();
    for some in messages.chunks(ALERTS_AT_ONCE) {
        to.alerts.append(some.to_vec())?;
    }
    to.keys.put(&from.keys)?;
    for name in NOTES {
        if let Some(text) = from.reader.note(name)? {
            to.store.set_note(name, &text)?;
        }
    }
    let (copied, copy_s) = (copying.done() - before, started.elapsed().as_secs_f64());
    let (comparison, compare_s) = compared(from, from_place, &*to.store)?;
    let alerts = differing(from, &to.alerts.record().messages);
    let keys = missing(&from.keys, &to.keys.all()?);
    let done =
        CopyReport { comparison, alerts, keys, copied, copy_s, compare_s, ..CopyReport::default() };
    if done.is_equal() {
        copying.finish(&done.comparison).map_err(&failed)?;
    }
    Ok(done)
}

fn compared(
    from: &From,
    from_place: &str,
    to: &dyn Original,
) -> Result<(Comparison, f64), CopyCommandError> {
    let expected = from.reader.reference_data()?.readings + to.reference_data()?.readings;
    let bar = bar(READINGS, || expected).with_message("comparing");
    let started = Instant::now();
    let compared = compare(&*from.reader, to, &mut |done| bar.set_position(done));
    bar.finish_and_clear();
    let comparison = compared.map_err(|error| about(from, from_place, "the copy", error))?;
    Ok((comparison, started.elapsed().as_secs_f64()))
}

/// An error with the place that it is about, and the damage that was found there.
fn about(from: &From, from_place: &str, to_place: &str, error: CopyError) -> CopyCommandError {
    let faults = from.faults();
    match error {
        CopyError::Store(error) => CopyCommandError::Store(error),
        CopyError::Damaged { side: "original", .. } if !faults.is_empty() => {
            CopyCommandError::Damaged { place: from_place.to_owned(), faults: faults.join("; ") }
        }
        CopyError::Damaged { side: "original", .. } => {
            CopyCommandError::Copy { place: from_place.to_owned(), error }
        }
        error => CopyCommandError::Copy { place: to_place.to_owned(), error },
    }
}

/// The number of alerts of the original, and the ids of those that differ in the copy.
fn differing(from: &From, to: &[Arc<alert::Message>]) -> (usize, Vec<String>) {
    let by_id = |messages: &[Arc<alert::Message>]| {
        let with_id = messages.iter().map(|message| (message.id.clone(), message.clone()));
        with_id.collect::<BTreeMap<_, _>>()
    };
    let (expected, found) = (by_id(&from.alerts), by_id(to));
    let all = expected.keys().chain(found.keys().filter(|id| !expected.contains_key(*id)));
    let other = all.filter(|id| expected.get(*id) != found.get(*id)).cloned().collect();
    (expected.len(), other)
}

/// The number of API keys of the original, and the ids of those that the copy lacks or does not
/// know as revoked. The copy may have further keys of its own, and later uses.
fn missing(from: &[ApiKey], to: &[ApiKey]) -> (usize, Vec<String>) {
    let unused = |key: &ApiKey| ApiKey { last_used_ms: None, ..key.clone() };
    let there: Vec<ApiKey> = to.iter().map(unused).collect();
    let is_missing = |key: &&ApiKey| !there.contains(&unused(key));
    (from.len(), from.iter().filter(is_missing).map(|key| key.digest.id()).collect())
}

impl CopyReport {
    /// Whether the two are equal.
    pub fn is_equal(&self) -> bool {
        self.comparison.is_equal() && self.others().next().is_none()
    }

    /// What differs besides the readings.
    fn others(&self) -> impl Iterator<Item = String> + '_ {
        let alerts = self.alerts.1.iter().map(|id| format!("alert {id}"));
        alerts.chain(self.keys.1.iter().map(|id| format!("API key {id}")))
    }

    /// Writes it as text.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn print(&self, out: &mut impl Write) -> io::Result<()> {
        let Self { from, to, comparison, alerts, keys, copied, copy_s, compare_s, .. } = self;
        if *copied > 0 {
            let rate = *copied as f64 / copy_s.max(0.001);
            writeln!(out, "copied {copied} readings in {copy_s:.1} s ({rate:.0} a second)")?;
        }
        writeln!(out, "{from}: {} stations, {}", comparison.stations, comparison.original)?;
        writeln!(out, "{to}: {}", comparison.copy)?;
        if comparison.texts_left_out > 0 {
            let texts = comparison.texts_left_out;
            writeln!(out, "{to} keeps no texts of reports: {texts} are not in it")?;
        }
        for difference in &comparison.differences {
            writeln!(out, "different: {difference}")?;
        }
        let more = comparison.count - comparison.differences.len();
        if more > 0 {
            writeln!(out, "and {more} more")?;
        }
        for other in self.others().take(20) {
            writeln!(out, "different: {other}")?;
        }
        if self.is_equal() {
            let (alerts, keys) = (alerts.0, keys.0);
            writeln!(
                out,
                "equal, with {alerts} alerts and {keys} API keys; compared in {compare_s:.1} s"
            )
        } else {
            let count = comparison.count + self.others().count();
            writeln!(out, "{count} differences; the copy must not be used")
        }
    }

    /// Writes it as JSON.
    pub fn json(&self) -> serde_json::Value {
        let digest = |digest: &Digest| {
            json!({
                "readings": digest.readings,
                "weatherReports": digest.weather,
                "reportTexts": digest.texts,
                "checksum": format!("{:016x}", digest.checksum),
            })
        };
        let Self { from, to, comparison, alerts, keys, copied, copy_s, compare_s, .. } = self;
        let readings = comparison.differences.iter().map(ToString::to_string);
        let differences: Vec<String> = readings.chain(self.others()).collect();
        json!({
            "from": from,
            "to": to,
            "equal": self.is_equal(),
            "stations": comparison.stations,
            "original": digest(&comparison.original),
            "copy": digest(&comparison.copy),
            "alerts": alerts.0,
            "keys": keys.0,
            "differences": differences,
            "differenceCount": comparison.count + self.others().count(),
            "copied": copied,
            "copySeconds": copy_s,
            "compareSeconds": compare_s,
        })
    }
}
