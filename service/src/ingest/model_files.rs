//! Reads GRIB2 files of a model into its runs.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use mesonet::model;
use mesonet::model::DeliveryLimits;
use tempfile::SpooledTempFile;

use super::copies::Copies;
use super::packing::SourceError;
use super::source::{ByteSource, FileWalker, Label, SourceFile, Visitor};
use super::{FileFault, IngestSummary, Options, Work, read_grib};

/// Fields that wait to be written stay in memory up to this length. The rest go to an unnamed
/// temporary file.
const IN_MEMORY_BYTES: usize = 64 << 20;

/// Where the fields of files go.
#[derive(Clone, Copy, Debug)]
pub struct ModelInlet<'a> {
    /// The runs of all models.
    pub store: &'a model::RunStore,
    /// The model.
    pub source: &'a model::Source,
}

/// The model is unknown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown model \"{got}\"; known are {known}")]
pub struct NoModel {
    /// What was given.
    pub got: String,
    /// The models of the catalogue.
    pub known: String,
}

/// The progress of reading files of a model.
#[derive(Debug, Default)]
pub struct ModelProgress {
    /// Bytes of the files read.
    pub bytes: AtomicU64,
    /// Fields to be unpacked; 0 while files are being read.
    pub fields: AtomicU64,
    /// Fields unpacked.
    pub unpacked: AtomicU64,
}

/// Returns the model with a name.
///
/// # Errors
/// The model is unknown.
pub fn model_named<'a>(
    catalogue: &'a model::Catalogue,
    name: &str,
) -> Result<&'a model::Source, NoModel> {
    catalogue.get(name).ok_or_else(|| {
        let known: Vec<&str> = catalogue.iter().map(model::Source::name).collect();
        NoModel { got: name.chars().take(80).collect(), known: known.join(", ") }
    })
}

/// Reads files into runs of a model. `read` names them, one after the other; then their content is
/// written and published together. Returns the fault of each file that could not be read and stored
/// completely.
pub fn ingest_model(
    inlet: ModelInlet<'_>,
    options: Options,
    progress: &ModelProgress,
    read: impl FnOnce(&mut ModelFiles<'_>),
) -> (Vec<FileFault>, IngestSummary) {
    let started = Instant::now();
    let spool = SpooledTempFile::new(IN_MEMORY_BYTES);
    let limits = DeliveryLimits::default();
    let delivery = model::Delivery::new(inlet.source, inlet.store, spool, limits);
    let (faults, copies) = (Vec::new(), Copies::default());
    let mut files = ModelFiles { options, progress, delivery, faults, copies, copied: 0 };
    read(&mut files);
    let ModelFiles { delivery, mut faults, copied, .. } = files;
    progress.fields.store(delivery.fields(), Ordering::Relaxed);
    let mut report = delivery.write(options.now_ms, || {
        progress.unpacked.fetch_add(1, Ordering::Relaxed);
    });
    for (file, error) in report.unused_files.drain(..) {
        faults.push(FileFault::new(file, &error));
    }
    for (file, error) in report.broken_files.drain(..) {
        faults.push(FileFault::new(file, &format!("{error}; its other fields are kept")));
    }
    let mut summary = IngestSummary {
        models: Some(report),
        copies: copied,
        took: started.elapsed(),
        ..IngestSummary::default()
    };
    for fault in &faults {
        summary.faults.add(|| fault.clone());
    }
    (faults, summary)
}

/// Reads files of a model, one after the other.
pub struct ModelFiles<'a> {
    options: Options,
    progress: &'a ModelProgress,
    delivery: model::Delivery<'a, SpooledTempFile>,
    faults: Vec<FileFault>,
    copies: Copies,
    /// Files that were not read because another has the same content.
    copied: u64,
}

impl ModelFiles<'_> {
    /// Reads a path: a file, a folder with everything in it, an archive, or `-` for standard input.
    pub fn path(&mut self, path: &Path) {
        self.read(|source| source.path(path));
    }

    /// Reads bytes.
    pub fn input(&mut self, label: &Label, input: ByteSource<'_>) {
        self.read(|source| source.input(label, input));
    }

    fn read(&mut self, read: impl FnOnce(&mut FileWalker<'_>)) {
        let (bounds, bytes) = (self.options.bounds, &self.progress.bytes);
        let mut copies = std::mem::take(&mut self.copies);
        read(&mut FileWalker::new(self, bounds, &mut copies, bytes));
        self.copies = copies;
    }
}

impl Visitor for ModelFiles<'_> {
    fn file(&mut self, file: SourceFile<'_>) -> bool {
        let SourceFile { shown, input, budget, .. } = file;
        let (bytes, cut) = read_grib(input);
        let spent = self.delivery.add_within(shown, &bytes, budget.left(Work::Cells));
        // Not more than is left.
        let _ = budget.spend(Work::Cells, spent);
        if let Some(cut) = &cut {
            self.delivery.break_off(cut);
        }
        cut.is_none()
    }

    fn fault(&mut self, shown: &str, error: SourceError) {
        self.faults.push(FileFault::new(shown.to_owned(), &error.to_string()));
    }

    fn copy(&mut self) {
        self.copied += 1;
    }
}
