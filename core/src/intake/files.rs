//! A feed file of any kind, read into a store.

use std::cell::RefCell;
use std::fmt;
use std::io::{BufRead, Cursor, Read};

use super::Intake;
use super::batches::{FileBatches, FileSink, FileStop, Parcel};
use crate::feed::{
    DETECT_BYTES, FeedError, FileContext, Item, Kind, Summary, Tally, all_kind_names,
};
use crate::observation::{Station, StationId};
use crate::store::{AlertReceipt, AlertStore, Receipt, Store, StoreError};

/// What is known about a feed file before it is read.
#[derive(Clone, Copy)]
pub struct FeedFile<'a> {
    /// Its name without folders and without a compression suffix: some kinds are detected by the
    /// name, and some feeds give the station only there.
    pub name: &'a str,
    /// When it was received, milliseconds since 1970, or any time within two weeks of it: reports
    /// of some feeds give only the day of the month.
    pub received_ms: i64,
    /// Its kind; `None` detects it from the first bytes and the name.
    pub kind: Option<Kind>,
    /// Finds a station that is not on record: some feeds give no place.
    pub known: &'a dyn Fn(StationId) -> Option<Station>,
    /// The time by the clock, milliseconds since 1970: reports from the future are left out, as
    /// [`FileBatches::new`] says. `None` leaves out none.
    pub now_ms: Option<i64>,
    /// Where alerts go; without it they are counted and left out.
    pub alerts: Option<&'a AlertStore>,
}

impl<'a> FeedFile<'a> {
    /// A file with a known name and time of receipt, and nothing else. Its kind is detected, no
    /// time of a report is too late, and alerts are left out.
    pub fn new(name: &'a str, received_ms: i64) -> Self {
        let FileContext { name, received_ms, known } = FileContext::new(name, received_ms);
        Self { name, received_ms, kind: None, known, now_ms: None, alerts: None }
    }
}

/// The result of reading a feed file into a store.
#[derive(Clone, Debug, PartialEq)]
pub struct FileReceipt {
    /// The kind of the file.
    pub kind: Kind,
    /// The summary of reading. If a file was not read to its end, only the numbers of items and
    /// readings before that are known.
    pub summary: Summary,
    /// The store's receipt for the readings and the values derived from them.
    pub readings: Receipt,
    /// The alert store's receipt for the alerts.
    pub alerts: AlertReceipt,
    /// Alerts that were left out because there is no store for them.
    pub alerts_left_out: u64,
    /// Reports of stations whose place is unknown, by network and station: they are left out.
    pub place_unknown: Tally,
    /// Reports from after [`FeedFile::now_ms`], by network and station: they are left out.
    pub in_the_future: Tally,
    /// Reports that were more than a kilometre from their stations, by network and station; see
    /// [`FileBatches::placed_elsewhere`](super::FileBatches::placed_elsewhere).
    pub placed_elsewhere: Tally,
}

/// Why a feed file, or part of it, is not in a store.
///
/// ```
/// use mesonet::intake::{FeedFile, FileError};
/// use mesonet::{Intake, MemoryStore};
/// let (store, text) = (MemoryStore::default(), b"Dear reader,");
/// let refused = Intake::default().read_file(&store, &text[..], &FeedFile::new("letter.txt", 0));
/// assert!(matches!(refused, Err(FileError::UnknownKind { name }) if name == "letter.txt"));
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FileError {
    /// Neither the name nor the first bytes tell the kind.
    #[error("the kind of \"{name}\" is unknown; known are {}", all_kind_names())]
    UnknownKind {
        /// The name of the file.
        name: String,
    },
    /// Not even the first bytes can be read.
    #[error(transparent)]
    Start(FeedError),
    /// The file cannot be read, or not to its end. The content read before that is stored.
    #[error("{cause}; stored before that: {receipt}")]
    Feed {
        /// Why.
        cause: FeedError,
        /// What was stored.
        receipt: Box<FileReceipt>,
    },
    /// The store failed, and nothing more was read. The content that it took before that is kept.
    #[error("{cause}; stored before that: {receipt}")]
    Store {
        /// Why.
        cause: StoreError,
        /// What was stored.
        receipt: Box<FileReceipt>,
    },
}

impl Intake {
    /// Reads a feed file of any kind and length into a store, in bounded memory: its stations, its
    /// readings with derived values, and their verdicts. Its alerts go to the alert store of
    /// `file`.
    ///
    /// The description of a station comes from its newest report, else from the record, else from
    /// [`FeedFile::known`]. If none of these has a place, nor an earlier report of the file, the
    /// report is left out and counted. Where places may come later, [`FileBatches::begin_again`]
    /// reads files twice.
    ///
    /// Readings are appended in batches, so other readers of the store may see a part of the file.
    /// The same file a second time adds nothing. Compressed files must be unpacked by the caller.
    ///
    /// # Errors
    /// The kind is unknown, the file cannot be read to its end, or the store fails. The content
    /// stored before that stays, and the error says how much it is.
    ///
    /// ```
    /// use mesonet::intake::{FeedFile, FileReceipt};
    /// use mesonet::time::parse_instant;
    /// use mesonet::{Intake, LonLat, MemoryStore, feed};
    /// let text = "SACN43 CWAO 032000\n\
    ///     METAR CYYZ 032000Z 24012G20KT 15SM FEW060 29/17 A2991 RMK SLP125=\n\
    ///     METAR CYXX 032000Z 24012KT 15SM FEW060 21/12 A2991=\n";
    /// // The bulletin gives no places; this table has one of the two stations.
    /// let toronto = feed::metar_station("CYYZ", None, LonLat::new(-79.63, 43.68)?, Some(173.0));
    /// let file = FeedFile {
    ///     known: &|id| (id == toronto.id).then(|| toronto.clone()),
    ///     ..FeedFile::new("sa.txt", parse_instant("2024-08-03T20:01:00Z")?)
    /// };
    /// let store = MemoryStore::default();
    /// let receipt: FileReceipt = Intake::default().read_file(&store, text.as_bytes(), &file)?;
    /// assert_eq!((receipt.kind, receipt.summary.read), (feed::Kind::MetarBulletin, 2));
    /// assert!(receipt.readings.added > 8);
    /// assert_eq!(receipt.place_unknown.iter().collect::<Vec<_>>(), [("METAR CYXX", 1)]);
    ///
    /// let again = Intake::default().read_file(&store, text.as_bytes(), &file)?;
    /// assert_eq!(again.readings.added, 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_file(
        &self,
        store: &dyn Store,
        mut input: impl BufRead,
        file: &FeedFile<'_>,
    ) -> Result<FileReceipt, FileError> {
        let &FeedFile { name, received_ms, kind, known, now_ms, alerts } = file;
        let mut start = Vec::new();
        let begun = input.by_ref().take(DETECT_BYTES as u64).read_to_end(&mut start);
        begun.map_err(|error| FileError::Start(error.into()))?;
        let kind = kind
            .or_else(|| Kind::detect(name, &start))
            .ok_or_else(|| FileError::UnknownKind { name: name.to_owned() })?;
        let failed = |cause, receipt| FileError::Store { cause, receipt: Box::new(receipt) };
        let directory =
            store.directory().map_err(|cause| failed(cause, FileReceipt::nothing(kind)))?;

        let mut batches = FileBatches::new(directory, now_ms).remembering(self);
        let receipt = RefCell::new(FileReceipt::nothing(kind));
        let sink = IntoStore { intake: self, store, alerts, receipt };
        let mut input = Cursor::new(start).chain(input);
        let context = FileContext { name, received_ms, known };
        let read = match batches.read(&sink, kind, &mut input, &context) {
            Err(FileStop::Sink(cause)) => Err(FileStop::Sink(cause)),
            read => {
                let mut rest = batches.drain();
                let stored = rest.try_for_each(|(kind, parcel)| sink.take(kind, parcel));
                stored.map_err(FileStop::Sink).and(read)
            }
        };
        let mut receipt = sink.receipt.into_inner();
        receipt.placed_elsewhere = batches.placed_elsewhere().clone();
        (receipt.place_unknown, receipt.in_the_future) = batches.into_left_out();
        match read {
            Ok(summary) => Ok(FileReceipt { summary, ..receipt }),
            Err(FileStop::Feed(cause)) => {
                Err(FileError::Feed { cause, receipt: Box::new(receipt) })
            }
            Err(FileStop::Sink(cause)) => Err(failed(cause, receipt)),
        }
    }
}

/// Stores the parcels of one file and counts what became of them.
struct IntoStore<'a> {
    intake: &'a Intake,
    store: &'a dyn Store,
    alerts: Option<&'a AlertStore>,
    receipt: RefCell<FileReceipt>,
}

impl FileSink for IntoStore<'_> {
    type Error = StoreError;

    fn admit(&self, item: &Item) -> Result<(), StoreError> {
        let summary = &mut self.receipt.borrow_mut().summary;
        summary.read += 1;
        summary.readings += item.readings();
        Ok(())
    }

    fn take(&self, _: Kind, parcel: Parcel) -> Result<(), StoreError> {
        let mut receipt = self.receipt.borrow_mut();
        match (parcel, self.alerts) {
            (Parcel::Readings(batch), _) => {
                receipt.readings += self.intake.take_in(self.store, batch)?;
            }
            (Parcel::Alerts(messages), Some(alerts)) => {
                receipt.alerts += alerts.append(messages)?;
            }
            (Parcel::Alerts(messages), None) => receipt.alerts_left_out += messages.len() as u64,
        }
        Ok(())
    }
}

impl FileReceipt {
    fn nothing(kind: Kind) -> Self {
        Self {
            kind,
            summary: Summary::default(),
            readings: Receipt::default(),
            alerts: AlertReceipt::default(),
            alerts_left_out: 0,
            place_unknown: Tally::default(),
            in_the_future: Tally::default(),
            placed_elsewhere: Tally::default(),
        }
    }
}

/// The kind, and the counts that are not zero.
impl fmt::Display for FileReceipt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, summary, readings, alerts, .. } = self;
        write!(f, "{kind}: read {}", summary.read)?;
        for (what, count) in [
            ("refused", summary.refused),
            ("readings added", readings.added as u64),
            ("readings replaced", readings.replaced as u64),
            ("readings unchanged", readings.unchanged as u64),
            ("readings overtaken", readings.overtaken as u64),
            ("readings expired", readings.expired as u64),
            ("alerts added", alerts.added as u64),
            ("alerts replaced", alerts.replaced as u64),
            ("alerts known", alerts.known as u64),
            ("alerts left out", self.alerts_left_out),
            ("without a place", self.place_unknown.total()),
            ("from the future", self.in_the_future.total()),
            ("placed elsewhere", self.placed_elsewhere.total()),
        ] {
            if count > 0 {
                write!(f, ", {what} {count}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;
