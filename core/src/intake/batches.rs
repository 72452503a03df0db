//! The content of feed files, divided into batches for storage.

use std::cell::RefCell;
use std::io::{self, BufRead, Read};
use std::sync::Arc;

use super::Intake;
use super::places::{Places, StationUpdate};
use crate::alert;
use crate::feed::{FeedError, FeedReport, FeedStation, FileContext, Item, Kind, Summary, Tally};
use crate::observation::{Batch, Report};
use crate::store::Directory;
use crate::time::{DAY_MS, MINUTE_MS};

/// Readings of a batch. A batch becomes durable at once, and is in memory three times over.
const BATCH_READINGS: usize = 50_000;

/// Alerts of a batch.
const BATCH_ALERTS: usize = 2_000;

/// How far clocks may differ.
const FUTURE_MS: i64 = DAY_MS;

/// How far ahead of the clock a report may be and still count as present: some reports are dated at
/// the full hour.
pub const AHEAD_MS: i64 = 15 * MINUTE_MS;

/// Content that is appended to a store together.
#[derive(Clone, Debug, PartialEq)]
pub enum Parcel {
    /// Stations and reports, for [`Intake::take_in`](super::Intake::take_in).
    Readings(Batch),
    /// Alerts, for [`AlertStore::append`](crate::store::AlertStore::append).
    Alerts(Vec<alert::Message>),
}

/// Receives the parcels of feed files, and decides when to stop.
///
/// An error of any method ends the file: nothing more of it is read or passed on.
pub trait FileSink {
    /// Why a file is not read further.
    type Error;

    /// Decides whether to read on; called before each piece of a file.
    ///
    /// # Errors
    /// Reading on is pointless.
    fn proceed(&self) -> Result<(), Self::Error> {
        Ok(())
    }

    /// Notes a report or an alert before it is used.
    ///
    /// # Errors
    /// The file asks for too much.
    fn admit(&self, item: &Item) -> Result<(), Self::Error>;

    /// Takes content for the store. A parcel of one kind may hold the content of several files.
    ///
    /// # Errors
    /// The store fails.
    fn take(&self, kind: Kind, parcel: Parcel) -> Result<(), Self::Error>;
}

/// Why a file was not read to its end.
///
/// ```
/// use mesonet::feed::{FileContext, Item, Kind};
/// use mesonet::intake::{FileBatches, FileSink, FileStop, Parcel};
/// use mesonet::{MemoryStore, Reader};
/// /// Admits nothing.
/// struct Closed;
/// impl FileSink for Closed {
///     type Error = &'static str;
///     fn admit(&self, _: &Item) -> Result<(), Self::Error> {
///         Err("no report is admitted today")
///     }
///     fn take(&self, _: Kind, _: Parcel) -> Result<(), Self::Error> {
///         Ok(())
///     }
/// }
/// let mut batches = FileBatches::new(MemoryStore::default().directory()?, None);
/// let mut text = &b"METAR CYYZ 032000Z 24012KT 15SM 29/17 A2991="[..];
/// let file = FileContext::new("sa.txt", 1_722_715_260_000);
/// let stopped = batches.read(&Closed, Kind::MetarBulletin, &mut text, &file);
/// assert!(matches!(stopped, Err(FileStop::Sink("no report is admitted today"))));
/// # Ok::<(), mesonet::store::StoreError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum FileStop<E> {
    /// The sink ended it.
    Sink(E),
    /// It cannot be read further.
    Feed(FeedError),
}

/// Reads feed files one after another and passes their content on in batches of bounded size.
///
/// [`Intake::read_file`](super::Intake::read_file) does all of this for one file. This type is for
/// programs that read many files: it fills a batch from several files of one kind, and leaves
/// storage to a [`FileSink`], which may use another thread.
///
/// ```
/// use std::cell::RefCell;
/// use mesonet::feed::{self, FileContext, Item};
/// use mesonet::intake::{FileBatches, FileSink, Parcel};
/// use mesonet::{Intake, MemoryStore, Reader, store::StoreError};
///
/// struct Into<'a>(&'a MemoryStore, RefCell<usize>);
/// impl FileSink for Into<'_> {
///     type Error = StoreError;
///     fn admit(&self, _: &Item) -> Result<(), StoreError> {
///         Ok(())
///     }
///     fn take(&self, _: feed::Kind, parcel: Parcel) -> Result<(), StoreError> {
///         if let Parcel::Readings(batch) = parcel {
///             *self.1.borrow_mut() += Intake::default().take_in(self.0, batch)?.added;
///         }
///         Ok(())
///     }
/// }
///
/// let store = MemoryStore::default();
/// let mut batches = FileBatches::new(store.directory()?, None);
/// let sink = Into(&store, RefCell::default());
/// let csv = "raw_text,station_id,observation_time,latitude,longitude\n\
///     KBUF 312354Z 21014KT 02/M07 A2973,KBUF,2019-12-31T23:54:00Z,42.94,-78.74\n";
/// let file = FileContext::new("metars.csv", 0);
/// batches.read(&sink, feed::Kind::AwcCsv, &mut csv.as_bytes(), &file).unwrap();
/// // A few readings do not fill a batch.
/// assert_eq!(*sink.1.borrow(), 0);
/// for (kind, parcel) in batches.drain() {
///     sink.take(kind, parcel)?;
/// }
/// assert!(*sink.1.borrow() > 4);
/// // No place of a station came after its reports, so nothing need be read a second time.
/// assert_eq!(batches.begin_again(), 0);
/// let (place_unknown, in_the_future) = batches.into_left_out();
/// assert_eq!((place_unknown.total(), in_the_future.total()), (0, 0));
/// # Ok::<(), StoreError>(())
/// ```
#[derive(Debug)]
pub struct FileBatches {
    places: RefCell<Places>,
    /// Whether the files are read a second time.
    again: bool,
    pending: PendingBatch,
    now_ms: Option<i64>,
    place_unknown: Tally,
    in_the_future: Tally,
    placed_elsewhere: Tally,
}

impl FileBatches {
    /// Starts from the stations on record. With a time by the clock, milliseconds since 1970,
    /// reports from more than a day after it are left out. For bulletins, whose reports give only
    /// the day of the month, the limit is [`AHEAD_MS`].
    pub fn new(directory: Arc<Directory>, now_ms: Option<i64>) -> Self {
        Self {
            places: RefCell::new(Places::new(directory)),
            again: false,
            pending: PendingBatch::default(),
            now_ms,
            place_unknown: Tally::default(),
            in_the_future: Tally::default(),
            placed_elsewhere: Tally::default(),
        }
    }

    /// Shares with an intake the memory of reports that placed their stations elsewhere, so that a
    /// later file may confirm a place. Otherwise only another report in the same files can.
    #[must_use]
    pub fn remembering(mut self, intake: &Intake) -> Self {
        self.places.get_mut().remember_in(intake.moves());
        self
    }

    /// Returns the reports that were more than a kilometre from their stations, by network and
    /// station. These reports are taken in, but the stations stay where they were until another
    /// report or a table confirms the new place.
    pub fn placed_elsewhere(&self) -> &Tally {
        &self.placed_elsewhere
    }

    /// Reads a file of a kind. Full batches go to the sink; [`drain`](Self::drain) returns the
    /// rest.
    ///
    /// The known stations of `file` count where neither the record nor an earlier report has the
    /// station. A report is left out if the place of its station is unknown, or if it is from the
    /// future; a value that is not finite is left out too.
    ///
    /// # Errors
    /// The sink ends the file, or the file cannot be read further. The content read before that is
    /// in the sink or still to be drained.
    pub fn read<S: FileSink>(
        &mut self,
        sink: &S,
        kind: Kind,
        input: &mut dyn BufRead,
        file: &FileContext<'_>,
    ) -> Result<Summary, FileStop<S::Error>> {
        let Self { places, again, pending, now_ms, place_unknown, in_the_future, placed_elsewhere } =
            self;
        let again = *again;
        let ahead_ms = if kind == Kind::MetarBulletin { AHEAD_MS } else { FUTURE_MS };
        let latest_ms = now_ms.map_or(i64::MAX, |now_ms| now_ms.saturating_add(ahead_ms));
        pending.of_kind(kind, sink).map_err(FileStop::Sink)?;
        let stop = RefCell::new(None);
        let table = file.known;
        let file = FileContext { known: &|id| places.borrow().get(id, table), ..*file };
        let mut take = |item: Item| {
            sink.admit(&item)?;
            let FeedReport { station, mut report, earlier } = match item {
                Item::Report(report) => report,
                Item::Alert(_) if again => return Ok(()),
                Item::Alert(alert) => return pending.push_alert(alert, sink),
            };
            if report.ts_ms > latest_ms {
                if !again {
                    in_the_future.add(&name_of(&station));
                }
                return Ok(());
            }
            let mut places = places.borrow_mut();
            let placed = places.report(report.station, &station, report.ts_ms, table);
            let Ok(StationUpdate { changed, is_elsewhere }) = placed else {
                place_unknown.add(&name_of(&station));
                return Ok(());
            };
            if is_elsewhere && !again {
                placed_elsewhere.add(&name_of(&station));
            }
            pending.batch.stations.extend(changed.cloned());
            // All reports of a station are taken in the same pass, or once more in the second pass
            // if some were already taken in the first. So they come in the order of the files.
            if again != places.late().contains(&report.station) {
                return Ok(());
            }
            report.readings.retain(|reading| reading.value.is_finite());
            if let Some(mut earlier) = earlier {
                earlier.readings.retain(|reading| reading.value.is_finite());
                pending.push(earlier, sink)?;
            }
            pending.push(report, sink)
        };
        let mut visit = |item: Item| {
            if stop.borrow().is_none()
                && let Err(error) = take(item)
            {
                *stop.borrow_mut() = Some(error);
            }
        };
        let mut input = UntilStopped { inner: input, sink, stop: &stop };
        let read = kind.read(&mut input, &file, &mut visit);
        match stop.into_inner() {
            Some(error) => Err(FileStop::Sink(error)),
            None => read.map_err(FileStop::Feed),
        }
    }

    /// Prepares for reading the same files a second time, and returns the number of stations whose
    /// reports that second pass will take in: stations whose place, or an altitude needed for
    /// derived values, came only after some of their reports. It is 0 if no file needs to be read
    /// again.
    ///
    /// So the files give the same readings in any order. Do not add the results and counts of the
    /// second pass to those of the first, except in [`FileSink::take`].
    pub fn begin_again(&mut self) -> usize {
        if self.again {
            return 0;
        }
        let late = self.places.get_mut().late().len();
        if late > 0 {
            self.again = true;
            self.place_unknown = Tally::default();
        }
        late
    }

    /// Takes out the content that has not filled a batch.
    pub fn drain(&mut self) -> impl Iterator<Item = (Kind, Parcel)> + use<> {
        self.pending.take().into_iter().flatten()
    }

    /// Returns the reports that were left out, counted by network and station: reports of stations
    /// with an unknown place, and reports from the future.
    pub fn into_left_out(self) -> (Tally, Tally) {
        (self.place_unknown, self.in_the_future)
    }
}

/// Reports or alerts of one kind that have not filled a batch.
#[derive(Debug, Default)]
struct PendingBatch {
    batch: Batch,
    readings: usize,
    alerts: Vec<alert::Message>,
    kind: Option<Kind>,
}

impl PendingBatch {
    /// Sets the kind of the following items.
    fn of_kind<S: FileSink>(&mut self, kind: Kind, sink: &S) -> Result<(), S::Error> {
        if self.kind != Some(kind) {
            self.send(sink)?;
            self.kind = Some(kind);
        }
        Ok(())
    }

    fn push<S: FileSink>(&mut self, report: Report, sink: &S) -> Result<(), S::Error> {
        // A report without a value still says when its station reported.
        self.readings += report.readings.len() + 1;
        self.batch.reports.push(report);
        if self.readings >= BATCH_READINGS { self.send(sink) } else { Ok(()) }
    }

    fn push_alert<S: FileSink>(&mut self, alert: alert::Message, sink: &S) -> Result<(), S::Error> {
        self.alerts.push(alert);
        if self.alerts.len() >= BATCH_ALERTS { self.send(sink) } else { Ok(()) }
    }

    fn send<S: FileSink>(&mut self, sink: &S) -> Result<(), S::Error> {
        let parcels = self.take();
        parcels.into_iter().flatten().try_for_each(|(kind, parcel)| sink.take(kind, parcel))
    }

    fn take(&mut self) -> [Option<(Kind, Parcel)>; 2] {
        let batch = std::mem::take(&mut self.batch);
        let alerts = std::mem::take(&mut self.alerts);
        self.readings = 0;
        let readings = (batch != Batch::default()).then_some(Parcel::Readings(batch));
        let alerts = (!alerts.is_empty()).then_some(Parcel::Alerts(alerts));
        [readings, alerts].map(|parcel| self.kind.zip(parcel))
    }
}

/// A reader that fails once the sink has ended the file.
struct UntilStopped<'a, S: FileSink> {
    inner: &'a mut dyn BufRead,
    sink: &'a S,
    stop: &'a RefCell<Option<S::Error>>,
}

impl<S: FileSink> UntilStopped<'_, S> {
    fn check(&self) -> io::Result<()> {
        let mut stop = self.stop.borrow_mut();
        if stop.is_none() {
            *stop = self.sink.proceed().err();
        }
        // The cause is in `stop`.
        if stop.is_some() { Err(io::Error::other("ended")) } else { Ok(()) }
    }
}

impl<S: FileSink> Read for UntilStopped<'_, S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.check()?;
        self.inner.read(buffer)
    }
}

impl<S: FileSink> BufRead for UntilStopped<'_, S> {
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
