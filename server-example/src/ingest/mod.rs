//! Files into the store: opened, unpacked, told apart, read, placed, taken in.
//!
//! | What | Where |
//! | --- | --- |
//! | Files, folders, archives | `source.rs` |
//! | Where stations are and what they are called | `places.rs` |
//! | From reports to batches, beside the store at work | [`ingest`] |
//! | What became of it | [`Summary`] |
//! | Files of a model, into its runs | `model_files.rs` |
//! | The bundled model runs | [`take_in_model_sample`] |
//! | The command `ingest` | `command.rs` |
//! | A folder that is watched | [`Watch`] |
//! | Files that are pushed, and their keys | `push.rs`, [`KeyHash`] |

mod bar;
mod command;
mod model_files;
mod model_sample;
mod places;
pub(crate) mod push;
mod push_key;
mod source;
mod summary;
mod watch;

use std::cell::RefCell;
use std::collections::HashMap;
use std::io::{self, BufRead, Read};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Instant;

use mesonet::feed::{FeedItem, FeedKind, FeedReport, FeedStation, FileContext};
use mesonet::{
    AlertMessage, AlertStore, Batch, DAY_MS, Intake, Receipt, Station, StationId, Store,
    StoreError, parse_instant,
};

pub use command::{CommandError, IngestFlags, ingest_command};
pub use model_files::{ModelFiles, ModelInlet, ModelProgress, NoModel, ingest_model, model_named};
pub use model_sample::take_in_model_sample;
use places::{PlaceUnknown, Places};
pub use push_key::KeyHash;
pub use source::{Bounds, Input, Label};
use source::{Source, SourceError, SourceFile, Visitor};
pub use summary::{FileFault, KindSummary, Listed, Summary};
pub use watch::{Watch, WatchError};

use crate::products::{self, Inlet};
use crate::sample::SampleError;

/// Readings of a batch: what is durable at once, and what is in memory three times over.
const BATCH_READINGS: usize = 50_000;

/// Alerts of a batch.
const BATCH_ALERTS: usize = 2_000;
/// Longest GRIB2 file: it is in memory as a whole.
const MAX_GRIB_BYTES: u64 = 1 << 29;

/// A clock may be wrong by so much: reports of later than that are of no time that can be.
const FUTURE_MS: i64 = DAY_MS;

/// What is said of the files beforehand.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Their kind; without it, it is found from name and content.
    pub feed: Option<FeedKind>,
    /// When they were received, milliseconds since 1970: some feeds give only the day of the
    /// month. Without it the date in a file's name counts, else when it was written.
    pub received_ms: Option<i64>,
    /// What time it is, milliseconds since 1970.
    pub now_ms: i64,
    /// How much may come out of one path.
    pub bounds: Bounds,
}

impl Options {
    /// Files of which nothing is known, at a time.
    pub fn at(now_ms: i64) -> Self {
        Self { feed: None, received_ms: None, now_ms, bounds: Bounds::default() }
    }
}

/// Where readings and alerts go.
#[derive(Clone, Copy)]
pub struct Target<'a> {
    /// The way in, with its checks.
    pub intake: &'a Intake,
    /// The store.
    pub store: &'a dyn Store,
    /// The alerts.
    pub alerts: &'a AlertStore,
    /// Stations of which the place is known though they are not on record.
    pub tables: &'a HashMap<StationId, Station>,
    /// Where raster products go; without it, there are none.
    pub products: Option<Inlet<'a>>,
}

/// Files that cannot be read into a store at all.
#[derive(Debug, thiserror::Error)]
pub enum IngestError {
    /// The tables of stations are damaged.
    #[error(transparent)]
    Tables(#[from] SampleError),
    /// The store cannot be read, or not be written to.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Reads files into a store: `read` names them, one after the other, while another thread derives,
/// checks and stores what was read. At the return all that the store took is durable.
///
/// A file that cannot be read, or not to its end, is named in the summary and keeps no other from
/// being read. Once the store fails, nothing more is read.
///
/// # Errors
/// The store cannot tell which stations are on record.
pub fn ingest<T>(
    target: Target<'_>,
    options: Options,
    progress: &AtomicU64,
    read: impl FnOnce(&mut Ingest<'_>) -> T,
) -> Result<(T, Summary), StoreError> {
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
            places: RefCell::new(Places::new(target.tables, directory)),
            batches: Batches {
                batch: Batch::default(),
                readings: 0,
                alerts: Vec::new(),
                kind: None,
                send,
            },
            products: target.products,
            summary: Summary::default(),
            stopped,
        };
        let outcome = read(&mut ingest);
        let Ingest { mut batches, summary, .. } = ingest;
        batches.send();
        drop(batches);
        let stored = stored.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        ((outcome, summary), stored)
    });
    for (kind, receipt) in receipts {
        summary.kinds.entry(kind).or_default().add_receipt(receipt);
    }
    summary.store_error = store_error;
    summary.took = started.elapsed();
    Ok((outcome, summary))
}

/// Takes batches in until none comes any more or the store fails.
fn store(
    target: Target<'_>,
    parcels: Receiver<(FeedKind, Parcel)>,
    stopped: &AtomicBool,
) -> (Vec<(FeedKind, Receipt)>, Option<StoreError>) {
    let mut receipts = Vec::new();
    // A sender that waits for room must not wait for ever: the channel is emptied to its end.
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
            Err(error) => {
                stopped.store(true, Ordering::Relaxed);
                failed = Some(error);
            }
        }
    }
    (receipts, failed)
}

/// Reads files, one after the other.
pub struct Ingest<'a> {
    options: Options,
    progress: &'a AtomicU64,
    places: RefCell<Places<'a>>,
    products: Option<Inlet<'a>>,
    batches: Batches,
    summary: Summary,
    stopped: &'a AtomicBool,
}

impl Ingest<'_> {
    /// Reads what a path holds: a file, a folder with all in it, an archive, `-` for standard
    /// input. Gives the first fault, if there was any.
    pub fn path(&mut self, path: &Path) -> Option<FileFault> {
        self.faults_of(|source| source.path(path))
    }

    /// Reads what bytes hold. Gives the first fault, if there was any.
    pub fn input(&mut self, label: &Label, input: Input<'_>) -> Option<FileFault> {
        self.faults_of(|source| source.input(label, input))
    }

    /// Whether the store has failed, so that reading on is in vain.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    fn faults_of(&mut self, read: impl FnOnce(&mut Source<'_>)) -> Option<FileFault> {
        if self.is_stopped() {
            return None;
        }
        let (bounds, progress) = (self.options.bounds, self.progress);
        let mut visitor = OfOnePath { ingest: self, first: None };
        read(&mut Source::new(&mut visitor, bounds, progress));
        visitor.first
    }

    fn read(&mut self, file: SourceFile<'_>) -> Result<(), String> {
        let SourceFile { shown, name, modified_ms, start, input } = file;
        if let Some(inlet) = self.products
            && (inlet.only.is_some() || products::is_grib2(start))
        {
            return read_products(inlet, shown, input, &mut self.summary);
        }
        let detect = || FeedKind::detect(name, start);
        let kind = self.options.feed.or_else(detect).ok_or_else(|| match start {
            [] => "it is empty".to_owned(),
            _ => "of no kind that is known; allowed are the kinds of --feed".to_owned(),
        })?;
        let Self { options, places, batches, summary, stopped, .. } = self;
        batches.of_kind(kind);
        let of_kind = summary.kinds.entry(kind).or_default();
        let dated = options.received_ms.or_else(|| date_in(name)).or(modified_ms);
        let file = FileContext {
            name,
            received_ms: dated.unwrap_or(options.now_ms),
            known: &|id| places.borrow().get(id).cloned(),
        };
        let latest_ms = options.now_ms.saturating_add(FUTURE_MS);
        let mut visit = |item: FeedItem| {
            if stopped.load(Ordering::Relaxed) {
                return;
            }
            of_kind.reports += 1;
            let FeedReport { station, mut report } = match item {
                FeedItem::Report(report) => report,
                FeedItem::Alert(alert) => return batches.push_alert(alert),
            };
            of_kind.readings += report.readings.len() as u64;
            if report.ts_ms > latest_ms {
                return summary.in_the_future.add(&name_of(&station));
            }
            match places.borrow_mut().report(report.station, &station, report.ts_ms) {
                Ok(changed) => batches.stations().extend(changed.cloned()),
                Err(PlaceUnknown) => return summary.place_unknown.add(&name_of(&station)),
            }
            report.readings.retain(|reading| reading.value.is_finite());
            batches.push(report);
        };
        let mut input = UntilStopped { inner: input, stopped };
        let of_file =
            kind.read(&mut input, &file, &mut visit).map_err(|error| error.to_string())?;
        of_kind.files += 1;
        of_kind.add_file(shown, &of_file);
        Ok(())
    }
}

/// Makes raster products of a file.
fn read_products(
    inlet: Inlet<'_>,
    shown: &str,
    input: &mut dyn BufRead,
    summary: &mut Summary,
) -> Result<(), String> {
    let bytes = read_grib(input)?;
    products::take_in(inlet, shown, &bytes, &mut summary.products)
        .map_err(|error| error.to_string())
}

/// The bytes of a GRIB2 file.
fn read_grib(input: &mut dyn BufRead) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    input.take(MAX_GRIB_BYTES + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > MAX_GRIB_BYTES {
        return Err(format!("longer than {MAX_GRIB_BYTES} bytes, which is the limit for GRIB2"));
    }
    Ok(bytes)
}

/// Remembers the first fault of a path.
struct OfOnePath<'i, 'a> {
    ingest: &'i mut Ingest<'a>,
    first: Option<FileFault>,
}

impl Visitor for OfOnePath<'_, '_> {
    fn file(&mut self, file: SourceFile<'_>) {
        let shown = file.shown.to_owned();
        if let Err(error) = self.ingest.read(file)
            && !self.is_done()
        {
            self.note(FileFault { file: shown, error });
        }
    }

    fn fault(&mut self, shown: &str, error: SourceError) {
        self.note(FileFault { file: shown.to_owned(), error: error.to_string() });
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

/// What is stored at once.
enum Parcel {
    Readings(Batch),
    Alerts(Vec<AlertMessage>),
}

/// Collects reports or alerts of one kind and sends them on by the batch.
struct Batches {
    batch: Batch,
    readings: usize,
    alerts: Vec<AlertMessage>,
    kind: Option<FeedKind>,
    send: SyncSender<(FeedKind, Parcel)>,
}

impl Batches {
    /// From now on reports are of this kind.
    fn of_kind(&mut self, kind: FeedKind) {
        if self.kind != Some(kind) {
            self.send();
            self.kind = Some(kind);
        }
    }

    fn stations(&mut self) -> &mut Vec<Station> {
        &mut self.batch.stations
    }

    fn push(&mut self, report: mesonet::Report) {
        // A report without a value still says when its station was heard.
        self.readings += report.readings.len() + 1;
        self.batch.reports.push(report);
        if self.readings >= BATCH_READINGS {
            self.send();
        }
    }

    fn push_alert(&mut self, alert: AlertMessage) {
        self.alerts.push(alert);
        if self.alerts.len() >= BATCH_ALERTS {
            self.send();
        }
    }

    fn send(&mut self) {
        let batch = std::mem::take(&mut self.batch);
        let alerts = std::mem::take(&mut self.alerts);
        self.readings = 0;
        let Some(kind) = self.kind else { return };
        // An error is a store that panicked: its thread says so when it is joined.
        if batch != Batch::default() {
            let _ = self.send.send((kind, Parcel::Readings(batch)));
        }
        if !alerts.is_empty() {
            let _ = self.send.send((kind, Parcel::Alerts(alerts)));
        }
    }
}

/// Ends with an error once there is nobody who would take what is read.
struct UntilStopped<'a> {
    inner: &'a mut dyn BufRead,
    stopped: &'a AtomicBool,
}

impl UntilStopped<'_> {
    fn check(&self) -> io::Result<()> {
        if self.stopped.load(Ordering::Relaxed) {
            return Err(io::Error::other("the store has failed"));
        }
        Ok(())
    }
}

impl Read for UntilStopped<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.check()?;
        self.inner.read(buffer)
    }
}

impl BufRead for UntilStopped<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.check()?;
        self.inner.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.inner.consume(amount);
    }
}

fn name_of(FeedStation { network, native_id, .. }: &FeedStation) -> String {
    format!("{network} {native_id}")
}

/// Noon of the day that a name begins a number with, or writes with hyphens: `20240803`,
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
