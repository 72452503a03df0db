//! Deletes the files of a product that its catalogue no longer keeps.
//!
//! What goes follows from the names and lengths of the files, the catalogue and the clock alone, so
//! nothing is noted anywhere: a process that is killed leaves some of the files, and the next look
//! finds them. No clock is trusted alone: see [`cutoff_ms`].

use std::fs;
use std::io;
use std::path::PathBuf;

use mesonet::raster::{ProductDuration, RasterProduct};

use super::check::{Content, ProductPlace};
use super::files::{ProductFiles, time};
use crate::files::found;

/// Maximum number of files that are deleted at once: each is read first.
const MOST_AT_ONCE: usize = 100;

/// What a look at the files of a product did.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct RetentionOutcome {
    /// Number of files that were deleted.
    pub files: u64,
    /// Their length together.
    pub bytes: u64,
    /// The valid times of the oldest and the newest of them, milliseconds since 1970.
    pub times_ms: Option<(i64, i64)>,
    /// Number of files that would have been deleted, but are damaged or were not written with a
    /// checksum. They stay.
    pub stay: usize,
    /// Whether more files are to be deleted than one look deletes.
    pub has_more: bool,
    /// What could not be deleted, and why.
    pub failed: Vec<(PathBuf, String)>,
}

/// A file as its folder lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct DatedFile {
    span: Option<ProductDuration>,
    ts_ms: i64,
    bytes: u64,
    path: PathBuf,
}

impl ProductFiles {
    /// Deletes the files of a product that are older than its `keep`, and then the oldest until the
    /// others take no more than its `keep_bytes`. The oldest goes first. The newest undamaged file of
    /// each duration stays. Only files go that this store wrote: those that name their place and
    /// whose checksum holds.
    ///
    /// # Errors
    /// A folder cannot be read. What cannot be deleted is in the result.
    pub fn expire(
        &self,
        product: &RasterProduct,
        now_ms: i64,
        is_stopping: &dyn Fn() -> bool,
    ) -> io::Result<RetentionOutcome> {
        let mut done = RetentionOutcome::default();
        let durations = product.durations();
        if product.keep_bytes().is_none()
            && durations.iter().all(|&span| product.keep_ms(span).is_none())
        {
            return Ok(done);
        }
        let mut listed = Vec::new();
        for span in durations {
            listed.push(self.listed(product, span)?);
        }
        for one in due(product, &listed, now_ms) {
            if done.files as usize == MOST_AT_ONCE || is_stopping() {
                done.has_more = true;
                break;
            }
            match self.delete(product, one, &listed) {
                Ok(Fate::Needless) => {}
                Ok(Fate::Refused) => done.stay += 1,
                Ok(Fate::Deleted) => {
                    done.files += 1;
                    done.bytes += one.bytes;
                    let (oldest_ms, newest_ms) = done.times_ms.unwrap_or((one.ts_ms, one.ts_ms));
                    done.times_ms = Some((oldest_ms.min(one.ts_ms), newest_ms.max(one.ts_ms)));
                }
                Err(error) => done.failed.push((one.path.clone(), error.to_string())),
            }
        }
        Ok(done)
    }

    /// Returns the files of a duration, newest first. Links and folders are not files.
    fn listed(
        &self,
        product: &RasterProduct,
        span: Option<ProductDuration>,
    ) -> io::Result<Vec<DatedFile>> {
        let mut listed = Vec::new();
        let entries = found(fs::read_dir(self.folder(product, span)))?;
        for entry in entries.into_iter().flatten() {
            let entry = entry?;
            let Some(ts_ms) = entry.file_name().to_str().and_then(time) else { continue };
            let Some(metadata) = found(entry.metadata())? else { continue };
            if metadata.is_file() {
                listed.push(DatedFile { span, ts_ms, bytes: metadata.len(), path: entry.path() });
            }
        }
        listed.sort_unstable_by_key(|one| std::cmp::Reverse(one.ts_ms));
        Ok(listed)
    }

    /// Deletes a file that is due, if this store wrote it and a newer one can be served.
    ///
    /// A file of the same time may replace it in the meantime. It is as old, so it goes too. The
    /// folder is not synced: a file that comes back after a loss of power is deleted again.
    fn delete(
        &self,
        product: &RasterProduct,
        one: &DatedFile,
        listed: &[Vec<DatedFile>],
    ) -> io::Result<Fate> {
        let content = |file: &DatedFile| {
            let place = ProductPlace {
                product: product.name().to_owned(),
                span: file.span,
                ts_ms: file.ts_ms,
            };
            found(self.checked.content(&file.path, &place))
        };
        match content(one)? {
            None => return Ok(Fate::Needless),
            Some(Content::Damaged | Content::Unsealed) => return Ok(Fate::Refused),
            Some(Content::Sealed) => {}
        }
        let newer = listed.iter().flatten().filter(|file| file.span == one.span);
        let mut is_newest = true;
        for file in newer.take_while(|file| file.ts_ms > one.ts_ms) {
            if matches!(content(file)?, Some(Content::Sealed | Content::Unsealed)) {
                is_newest = false;
                break;
            }
        }
        if is_newest {
            return Ok(Fate::Needless);
        }
        let deleted = found(fs::remove_file(&one.path))?;
        self.checked.forget(&one.path);
        Ok(if deleted.is_some() { Fate::Deleted } else { Fate::Needless })
    }
}

/// What became of a file that was due.
enum Fate {
    Deleted,
    /// Somebody else has deleted it, or it is the newest that can be served.
    Needless,
    /// It is not what this store wrote.
    Refused,
}

/// Returns the files that are no longer kept, oldest first. Those of each duration are listed newest
/// first.
fn due<'a>(
    product: &RasterProduct,
    listed: &'a [Vec<DatedFile>],
    now_ms: i64,
) -> Vec<&'a DatedFile> {
    let (mut due, mut kept) = (Vec::new(), Vec::new());
    let mut bytes = 0_u64;
    for of_span in listed {
        let Some((newest, others)) = of_span.split_first() else { continue };
        bytes = bytes.saturating_add(newest.bytes);
        let times: Vec<i64> = of_span.iter().map(|one| one.ts_ms).collect();
        let from_ms =
            product.keep_ms(newest.span).map(|keep_ms| cutoff_ms(&times, keep_ms, now_ms));
        let is_kept = |one: &&DatedFile| from_ms.is_none_or(|from_ms| one.ts_ms >= from_ms);
        let (stay, go): (Vec<_>, Vec<_>) = others.iter().partition(is_kept);
        kept.extend(stay);
        due.extend(go);
    }
    if let Some(keep_bytes) = product.keep_bytes() {
        kept.sort_by_key(|one| std::cmp::Reverse(one.ts_ms));
        // Once there is no room for a file there is none for older ones, however small.
        due.extend(kept.into_iter().skip_while(|one| {
            bytes = bytes.saturating_add(one.bytes);
            bytes <= keep_bytes
        }));
    }
    due.sort_by_key(|one| one.ts_ms);
    due
}

/// The time before which files are no longer kept.
///
/// It is counted from the newest file, or from the clock if that is earlier, so neither a clock that
/// is ahead nor a file with a wrong time deletes anything by itself. Both together do not either: a
/// file that is more than `keep` later than the one before does not count as the newest until another
/// one follows it.
///
/// `times_ms` are newest first, and not empty.
fn cutoff_ms(times_ms: &[i64], keep_ms: i64, now_ms: i64) -> i64 {
    let confirmed = times_ms.windows(2).find(|pair| pair[0].saturating_sub(pair[1]) <= keep_ms);
    let newest_ms = confirmed.map_or_else(|| times_ms[times_ms.len().min(2) - 1], |pair| pair[0]);
    newest_ms.min(now_ms).saturating_sub(keep_ms)
}

#[cfg(test)]
#[path = "retention_tests.rs"]
mod tests;
