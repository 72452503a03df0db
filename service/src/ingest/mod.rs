//! Files into the store: opened, unpacked, recognized, read, stored.
//!
//! | What | Where |
//! | --- | --- |
//! | Files, folders, archives and how they are packed | `source.rs`, `archive.rs`, `packing.rs` |
//! | One file, packed in several ways | `copies.rs` |
//! | From reports to batches, with the places of their stations | [`FileBatches`] of core |
//! | In parallel with the store | [`ingest`] |
//! | Keys for pushing, and what each may push | [`KeyHash`], [`Scope`] |
//! | The result | [`IngestSummary`] |
//! | The reports that could not be read, for a day | [`refused`] |
//! | Files of a model, into its runs | `model_files.rs` |

mod archive;
mod copies;
mod model_files;
mod new_model;
mod packing;
mod push_key;
pub mod refused;
mod source;
mod summary;
mod summary_table;

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufRead, Read, Seek, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Instant;

use mesonet::feed::{FileContext, known_stations};
use mesonet::intake::{AHEAD_MS, FileBatches, FileSink, FileStop, Parcel};
use mesonet::store::{AlertStore, Receipt, StoreError};
use mesonet::time::parse_instant;
use mesonet::{Intake, Store, feed};

pub use copies::Copies;
pub use model_files::{ModelFiles, ModelInlet, ModelProgress, NoModel, ingest_model, model_named};
pub use new_model::{NewModelError, made_tables, make_model, unmake_model};
pub use packing::SourceError;
pub use push_key::{KeyHash, PushKey, Scope};
pub use source::{ByteSource, FileWalker, Label, SourceFile, Visitor};
pub use summary::{IngestSummary, KindSummary, Outcome, RefusedReport};

pub use crate::files::{Bound, Budget, FileFault, FileLimits, FirstFew, OverBudget, Work};
use crate::products;
use crate::products::ProductSink;

/// Length of the longest GRIB2 file: the whole file is held in memory.
const MAX_GRIB_BYTES: u64 = 1 << 29;

/// What is known about the files beforehand.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Their kind; by default detected from name and content.
    pub feed: Option<feed::Kind>,
    /// When they were received, milliseconds since 1970: some feeds give only the day of the month.
    /// By default the date in a file's name, or else the time when it was written.
    pub received_ms: Option<i64>,
    /// The current time, milliseconds since 1970.
    pub now_ms: i64,
    /// How much one path may ask for.
    pub bounds: FileLimits,
}

impl Options {
    /// Options at a time, for files of which nothing else is known.
    pub fn at(now_ms: i64) -> Self {
        Self { feed: None, received_ms: None, now_ms, bounds: FileLimits::default() }
    }
}

/// Where readings and alerts go.
#[derive(Clone, Copy)]
pub struct Target<'a> {
    /// The intake, with its checks.
    pub intake: &'a Intake,
    /// The store.
    pub store: &'a dyn Store,
    /// The alerts.
    pub alerts: &'a AlertStore,
    /// Where raster products go; without it, none are made.
    pub products: Option<ProductSink<'a>>,
    /// Maintains the store after each batch, if nothing else does: its readings are then sealed
    /// while more come in, so that memory stays bounded.
    pub maintain: Option<&'a Maintain<'a>>,
}

/// Does the work of a store that is due.
pub type Maintain<'a> = dyn Fn() -> Result<(), StoreError> + Sync + 'a;

/// Reads files into a store: `read` names them, one after the other, while another thread derives,
/// checks and stores what was read. On return, everything that the store took is durable.
///
/// If the place of a station comes after reports of it, `read` is called a second time and must
/// name the same files, so that their order does not matter. The result of the second call is
/// ignored.
///
/// A file that cannot be read to the end is named in the summary and does not keep others from
/// being read. Once the store fails, nothing more is read.
///
/// # Errors
/// The store cannot tell which stations are on record.
pub fn ingest<T>(
    target: Target<'_>,
    options: Options,
    progress: &AtomicU64,
    mut read: impl FnMut(&mut Ingest<'_>) -> T,
) -> Result<(T, IngestSummary), StoreError> {
    let unseen = AtomicU64::new(0);
    let started = Instant::now();
    let directory = target.store.directory()?;
    let stopped = AtomicBool::new(false);
    let (send, receive) = sync_channel(1);
    let ((outcome, mut summary), (receipts, store_error)) = std::thread::scope(|scope| {
        let stopped = &stopped;
        let stored = scope.spawn(move || store(target, receive, stopped));
        let mut ingest = Ingest {
            options,
            progress,
            batches: FileBatches::new(directory, Some(options.now_ms)).remembering(target.intake),
            send,
            products: target.products,
            summary: IngestSummary::default(),
            copies: Copies::default(),
            standard_input: None,
            again: false,
            scope: Scope::default(),
            stopped,
        };
        let outcome = read(&mut ingest);
        let late = if ingest.is_stopped() { 0 } else { ingest.batches.begin_again() };
        let mut summary = std::mem::take(&mut ingest.summary);
        if late > 0 {
            (ingest.again, ingest.progress, ingest.copies) = (true, &unseen, Copies::default());
            read(&mut ingest);
            summary.late_stations = late as u64;
        }
        let Ingest { mut batches, send, .. } = ingest;
        for parcel in batches.drain() {
            // An error means that the store panicked: joining its thread reports that.
            let _ = send.send(parcel);
        }
        drop(send);
        summary.placed_elsewhere = batches.placed_elsewhere().clone();
        (summary.place_unknown, summary.in_the_future) = batches.into_left_out();
        let stored = stored.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        ((outcome, summary), stored)
    });
    for (kind, receipt) in receipts {
        summary.kinds.entry(kind).or_default().receipt += receipt;
    }
    if summary.total(|kind| kind.receipt.expired as u64) > 0 {
        summary.note_expired(target.store.held_from_ms()?);
    }
    summary.store_error = store_error;
    summary.took = started.elapsed();
    Ok((outcome, summary))
}

/// Stores batches until no more arrive or the store fails.
fn store(
    target: Target<'_>,
    parcels: Receiver<(feed::Kind, Parcel)>,
    stopped: &AtomicBool,
) -> (Vec<(feed::Kind, Receipt)>, Option<StoreError>) {
    let mut receipts = Vec::new();
    // The channel is drained, so that a sender does not wait for room forever.
    let mut failed = None;
    for (kind, parcel) in parcels {
        if failed.is_some() {
            continue;
        }
        let taken = match parcel {
            Parcel::Readings(batch) => target.intake.take_in(target.store, batch),
            Parcel::Alerts(alerts) => target.alerts.append(alerts).map(|receipt| Receipt {
                added: receipt.added,
                replaced: receipt.replaced,
                unchanged: receipt.known,
                ..Receipt::default()
            }),
        };
        match taken {
            Ok(receipt) => receipts.push((kind, receipt)),
            Err(error) => failed = Some(error),
        }
        if let Some(maintain) = target.maintain.filter(|_| failed.is_none()) {
            failed = maintain().err();
        }
        stopped.store(failed.is_some(), Ordering::Relaxed);
    }
    (receipts, failed)
}

/// Reads files, one after the other.
pub struct Ingest<'a> {
    options: Options,
    progress: &'a AtomicU64,
    products: Option<ProductSink<'a>>,
    batches: FileBatches,
    send: SyncSender<(feed::Kind, Parcel)>,
    summary: IngestSummary,
    copies: Copies,
    /// What came from standard input, which can be read only once.
    standard_input: Option<File>,
    /// Whether the files are read a second time, for the reports of late stations alone.
    again: bool,
    /// What may be read.
    scope: Scope,
    stopped: &'a AtomicBool,
}

impl Ingest<'_> {
    /// From now on reads only what a push key may push.
    pub fn limit_to(&mut self, scope: &Scope) {
        self.scope.clone_from(scope);
    }

    /// Reads a path: a file, a folder with everything in it, an archive, or `-` for standard input.
    /// Returns the first fault, if any.
    pub fn path(&mut self, path: &Path) -> Option<FileFault> {
        if path == Path::new("-") {
            return self.standard_input();
        }
        self.faults_of(|source| source.path(path))
    }

    /// Reads standard input, and keeps a copy of it in a temporary file.
    fn standard_input(&mut self) -> Option<FileFault> {
        let label = Label { shown: "-".into(), name: "-".into(), modified_ms: None };
        if self.again {
            let mut kept = self.standard_input.take()?;
            if let Err(error) = kept.rewind() {
                return Some(FileFault::new(label.shown, &error.to_string()));
            }
            return self.input(&label, ByteSource::Stream(&mut kept));
        }
        let mut kept = match tempfile::tempfile() {
            Ok(file) => CopyingReader { inner: io::stdin().lock(), copy: file },
            Err(error) => return Some(FileFault::new(label.shown, &error.to_string())),
        };
        let fault = self.input(&label, ByteSource::Stream(&mut kept));
        self.standard_input = Some(kept.copy);
        fault
    }

    /// Reads bytes. Returns the first fault, if any.
    pub fn input(&mut self, label: &Label, input: ByteSource<'_>) -> Option<FileFault> {
        self.faults_of(|source| source.input(label, input))
    }

    /// Whether the store has failed, so that reading on is pointless.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    fn faults_of(&mut self, read: impl FnOnce(&mut FileWalker<'_>)) -> Option<FileFault> {
        if self.is_stopped() {
            return None;
        }
        let (bounds, progress) = (self.options.bounds, self.progress);
        let mut copies = std::mem::take(&mut self.copies);
        let mut visitor = OfOnePath { ingest: self, first: None };
        read(&mut FileWalker::new(&mut visitor, bounds, &mut copies, progress));
        let first = visitor.first;
        self.copies = copies;
        first
    }

    fn read(&mut self, file: SourceFile<'_>) -> Result<(), String> {
        let SourceFile { shown, name, modified_ms, start, input, budget } = file;
        if let Some(inlet) = self.products
            && (inlet.only.is_some() || products::is_grib2(start))
        {
            if self.again {
                return Ok(());
            }
            self.scope.check_products().map_err(|error| denied(&mut self.summary, error))?;
            let (bytes, cut) = read_grib(input);
            let of_products = &mut self.summary.products;
            let taken = products::take_in(inlet, shown, &bytes, budget, of_products);
            return cut.map_or_else(|| taken.map_err(|error| error.to_string()), Err);
        }
        let detect = || feed::Kind::detect(name, start);
        let kind = self.options.feed.or_else(detect).ok_or_else(|| match start {
            [] => "it is empty".to_owned(),
            _ => "unknown kind of file; known are the kinds of --feed".to_owned(),
        })?;
        self.scope.check_feed(kind).map_err(|error| denied(&mut self.summary, error))?;
        let dated = self.options.received_ms.or_else(|| date_in(name)).or(modified_ms);
        let file = FileContext {
            name,
            received_ms: dated.unwrap_or(self.options.now_ms),
            known: &|id| known_stations().get(&id).cloned(),
        };
        let sink = OfOneFile {
            send: &self.send,
            stopped: self.stopped,
            budget,
            reports: Cell::default(),
            readings: Cell::default(),
            newest_ms: Cell::default(),
            latest_ms: self.options.now_ms.saturating_add(AHEAD_MS),
            scope: &self.scope,
            is_denied: Cell::default(),
        };
        let read = self.batches.read(&sink, kind, input, &file);
        let is_denied = sink.is_denied.get();
        let of_kind = self.summary.kinds.entry(kind).or_default();
        of_kind.reports += sink.reports.get();
        of_kind.readings += sink.readings.get();
        of_kind.newest_ms = of_kind.newest_ms.max(sink.newest_ms.get());
        let of_file = match read {
            Ok(of_file) => of_file,
            Err(FileStop::Sink(error)) if is_denied => {
                return Err(denied(&mut self.summary, error));
            }
            Err(FileStop::Sink(error)) => return Err(error),
            Err(FileStop::Feed(error)) => {
                let reason = error.to_string();
                of_kind.keep_refused_file(shown, &reason, start);
                return Err(reason);
            }
        };
        of_kind.files += 1;
        of_kind.add_file(shown, &of_file);
        Ok(())
    }
}

/// Copies what is read.
struct CopyingReader<R> {
    inner: R,
    copy: File,
}

impl<R: Read> Read for CopyingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.copy.write_all(&buffer[..read])?;
        Ok(read)
    }
}

/// Sends what is read of one file to the thread that stores it, and counts it.
struct OfOneFile<'a> {
    send: &'a SyncSender<(feed::Kind, Parcel)>,
    stopped: &'a AtomicBool,
    budget: &'a Budget,
    reports: Cell<u64>,
    readings: Cell<u64>,
    /// The time of the newest report that is not ahead of the clock.
    newest_ms: Cell<Option<i64>>,
    latest_ms: i64,
    scope: &'a Scope,
    /// Whether the scope has ended the file.
    is_denied: Cell<bool>,
}

impl FileSink for OfOneFile<'_> {
    type Error = String;

    fn proceed(&self) -> Result<(), String> {
        let failed = self.stopped.load(Ordering::Relaxed);
        if failed { Err("the store has failed".to_owned()) } else { Ok(()) }
    }

    fn admit(&self, item: &feed::Item) -> Result<(), String> {
        self.proceed()?;
        self.scope.check_item(item).inspect_err(|_| self.is_denied.set(true))?;
        let spent = self.budget.spend(Work::Readings, 1 + item.readings());
        spent.map_err(|over| over.to_string())?;
        self.reports.set(self.reports.get() + 1);
        self.readings.set(self.readings.get() + item.readings());
        if let feed::Item::Report(report) = item
            && report.report.ts_ms <= self.latest_ms
        {
            self.newest_ms.set(self.newest_ms.get().max(Some(report.report.ts_ms)));
        }
        Ok(())
    }

    fn take(&self, kind: feed::Kind, parcel: Parcel) -> Result<(), String> {
        // An error means that the store panicked: joining its thread reports that.
        let _ = self.send.send((kind, parcel));
        Ok(())
    }
}

/// Notes that the key may not push something.
fn denied(summary: &mut IngestSummary, error: String) -> String {
    summary.denied.get_or_insert_with(|| error.clone());
    error
}

/// Returns the bytes of a GRIB2 file and, if they are incomplete, why: the complete fields can
/// still be used.
fn read_grib(input: &mut dyn BufRead) -> (Vec<u8>, Option<String>) {
    let mut bytes = Vec::new();
    let read = input.take(MAX_GRIB_BYTES + 1).read_to_end(&mut bytes);
    let cut = match read {
        Err(error) => Some(error.to_string()),
        Ok(_) if bytes.len() as u64 > MAX_GRIB_BYTES => {
            Some(format!("longer than {MAX_GRIB_BYTES} bytes, which is the limit for GRIB2"))
        }
        Ok(_) => None,
    };
    (bytes, cut)
}

/// Remembers the first fault of a path.
struct OfOnePath<'i, 'a> {
    ingest: &'i mut Ingest<'a>,
    first: Option<FileFault>,
}

impl Visitor for OfOnePath<'_, '_> {
    fn file(&mut self, file: SourceFile<'_>) -> bool {
        let shown = file.shown.to_owned();
        let read = self.ingest.read(file);
        let is_whole = read.is_ok();
        if let Err(error) = read
            && !self.is_done()
        {
            self.note(FileFault::new(shown, &error));
        }
        is_whole
    }

    fn fault(&mut self, shown: &str, error: SourceError) {
        self.note(FileFault::new(shown.to_owned(), &error.to_string()));
    }

    fn copy(&mut self) {
        self.ingest.summary.copies += 1;
    }

    fn is_done(&self) -> bool {
        self.ingest.is_stopped()
    }
}

impl OfOnePath<'_, '_> {
    fn note(&mut self, fault: FileFault) {
        self.first.get_or_insert_with(|| fault.clone());
        self.ingest.summary.faults.add(|| fault);
    }
}

/// Returns noon of the day at the start of a number in a name, with or without hyphens: `20240803`,
/// `2024-08-03`.
fn date_in(name: &str) -> Option<i64> {
    let bytes = name.as_bytes();
    let digits = |from: usize, count: usize| {
        let digits = name.get(from..from + count)?;
        digits.bytes().all(|byte| byte.is_ascii_digit()).then_some(digits)
    };
    (0..bytes.len()).filter(|&at| at == 0 || !bytes[at - 1].is_ascii_digit()).find_map(|at| {
        let gap = usize::from(bytes.get(at + 4) == Some(&b'-'));
        if gap == 1 && bytes.get(at + 7) != Some(&b'-') {
            return None;
        }
        let (year, month) = (digits(at, 4)?, digits(at + 4 + gap, 2)?);
        let day = digits(at + 6 + 2 * gap, 2)?;
        let plausible = matches!(&year[..2], "19" | "20");
        plausible.then(|| parse_instant(&format!("{year}-{month}-{day}T12:00:00Z")).ok())?
    })
}

#[cfg(test)]
#[path = "ingest_tests.rs"]
mod tests;
