//! The command `ingest`.

use std::error::Error;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::config::{CatalogueFlags, Config, Flags, RecordFlags};
use crate::http::names::is_almost;
use clap::Args;
use indicatif::ProgressBar;
use mesonet::durable::create_folder;
use mesonet::store::{AlertStore, StoreError};
use mesonet::time::parse_instant;
use mesonet::{Intake, MemoryStore, Store, feed, model, raster};
use mesonet_service::clock::system_ms;
use mesonet_service::files::FileFault;
use mesonet_service::ingest::refused::RefusedReports;
use mesonet_service::ingest::{
    IngestSummary, Maintain, ModelInlet, ModelProgress, Options, Target, ingest_model, make_model,
    model_named, unmake_model,
};
use mesonet_service::products::{ProductFiles, ProductSink};
use mesonet_service::progress::{show_fields, under_bar};
use mesonet_service::record::{Origin, Record, RecordPlace};

use super::Outcome;

/// The flags of `ingest`.
#[derive(Clone, Debug, Args)]
pub struct IngestFlags {
    /// Files, folders with everything in them, archives (gz, bz2, xz, tar, zip), or - for standard input
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,

    /// Kind of the files [default: detected from name and content]
    #[arg(long, value_name = "KIND")]
    pub feed: Option<feed::Kind>,

    /// Type of the raster product to make of the GRIB2 files; a server may be running [default:
    /// found in the catalogue, field by field]
    #[arg(long, value_name = "TYPE", conflicts_with = "feed")]
    pub product: Option<String>,

    /// Name of the model that the GRIB2 files belong to; their content is published together, and a
    /// server may be running. A model that no catalogue has is made from the files: its table is
    /// printed and kept in made-models/ of the record
    #[arg(long, value_name = "NAME", conflicts_with_all = ["feed", "product", "received"])]
    pub model: Option<String>,

    /// The model is new, although its name is almost that of a known model
    #[arg(long, requires = "model")]
    pub new_model: bool,

    /// When the files were received (some feeds give only the day of the month), an RFC 3339
    /// instant [default: the date in the file's name, or else the time when it was written]
    #[arg(long, value_name = "TIME", value_parser = parse_instant)]
    pub received: Option<i64>,

    /// Print the summary as JSON
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub record: RecordFlags,

    #[command(flatten)]
    pub catalogues: CatalogueFlags,
}

/// Reads files into a record and prints a summary. Returns whether all files were read to the end
/// and everything read was stored.
///
/// # Errors
/// A setting is invalid, or the record cannot be opened.
pub fn ingest(flags: &IngestFlags) -> Outcome {
    let IngestFlags { paths, feed, product, model, received, json, record, catalogues, .. } = flags;
    let (record, catalogues) = (record.clone(), catalogues.clone());
    let config = Config::load(&Flags { record, catalogues, ..Flags::default() })?;
    let options = Options { feed: *feed, received_ms: *received, ..Options::at(system_ms()) };
    let files = ProductFiles::new(&config.data, config.catalogue()?);
    let intake = Intake::new(config.checker()?);

    let summary = if let Some(name) = model {
        read_models(paths, &config, name, options, flags.new_model)?
    } else if let Some(name) = product {
        let catalogue = files.catalogue();
        let only = catalogue.get(name);
        let inlet = ProductSink {
            files: &files,
            only: Some(only.ok_or_else(|| unknown_product(name, &files))?),
        };
        make_record(&config)?;
        // Only GRIB2 is read. Nothing goes into the store, so the record may be in use.
        let (store, alerts) = (MemoryStore::default(), AlertStore::default());
        read(paths, &intake, (&store, &alerts, None), inlet, options)?
    } else {
        let record = Record::open_for_command(&config.record())?;
        let inlet = ProductSink { files: &files, only: None };
        let (store, alerts) = (record.store(), record.alerts());
        let maintain = || record.maintain(None).map(drop);
        // A cluster merges by itself.
        let maintain: Option<&Maintain<'_>> = record.is_on_disk().then_some(&maintain);
        let summary = read(paths, &intake, (&*store, alerts, maintain), inlet, options)?;
        if summary.total(|kind| kind.receipt.added as u64) > 0 {
            if record.origin()? == Origin::Sample {
                eprintln!("the record held the sample; from now on its clock is live by default");
            }
            record.make_own()?;
        }
        if config.data.is_dir() && summary.total(|kind| kind.refused_reports.len() as u64) > 0 {
            let noted = RefusedReports::open(Some(&config.data))
                .and_then(|refused| refused.note(&summary, system_ms()));
            // What could be read is on record all the same.
            if let Err(error) = noted {
                eprintln!("cannot keep the reports that could not be read: {error}");
            }
        }
        record.close();
        summary
    };
    let mut out = io::stdout().lock();
    if *json { writeln!(out, "{}", summary.json()?) } else { write!(out, "{summary}") }
        .map_err(|error| format!("cannot write the result: {error}"))?;
    Ok(summary.is_whole())
}

/// Creates the record in a new folder before anything else goes into the folder. If a server has
/// the record open, it exists already.
fn make_record(config: &Config) -> Result<(), Box<dyn Error>> {
    let RecordPlace::Embedded(folder) = config.record().place else {
        return Ok(create_folder(&config.data)?);
    };
    match Record::on_disk(&folder, config.record().options) {
        Ok(_) | Err(StoreError::Locked { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn unknown_product(name: &str, files: &ProductFiles) -> String {
    let catalogue = files.catalogue();
    let known: Vec<&str> = catalogue.iter().map(raster::RasterProduct::name).collect();
    format!("unknown product \"{name}\"; known are {}", known.join(", "))
}

/// Reads the content of paths, under a progress bar on a terminal.
fn read(
    paths: &[PathBuf],
    intake: &Intake,
    (store, alerts, maintain): (&dyn Store, &AlertStore, Option<&Maintain<'_>>),
    products: ProductSink<'_>,
    options: Options,
) -> Result<IngestSummary, Box<dyn Error>> {
    let target = Target { intake, store, alerts, products: Some(products), maintain };
    let progress = AtomicU64::new(0);
    let show = |bar: &ProgressBar| bar.set_position(progress.load(Ordering::Relaxed));
    let ((), summary) = under_bar(paths, show, || {
        mesonet_service::ingest::ingest(target, options, &progress, |ingest| {
            for path in paths {
                ingest.path(path);
            }
        })
    })?;
    Ok(summary)
}

/// Reads the content of paths into runs of a model.
fn read_models(
    paths: &[PathBuf],
    config: &Config,
    name: &str,
    options: Options,
    is_new: bool,
) -> Result<IngestSummary, Box<dyn Error>> {
    let mut catalogue = config.model_catalogue()?;
    let is_known = catalogue.get(name).is_some();
    let almost = |known: &&model::Source| is_almost(name, known.name());
    if !is_known
        && !is_new
        && let Some(known) = catalogue.iter().find(almost)
    {
        return Err(format!(
            "unknown model \"{name}\"; it is almost {}; to make a model of that name from the files, \
             add --new-model",
            known.name()
        )
        .into());
    }
    let mut made = None;
    if is_new || !is_known {
        make_record(config)?;
        let (with, table, path) = make_model(&config.data, catalogue, name, paths, options)?;
        eprintln!("{table}\nkept in {}", path.display());
        (catalogue, made) = (with, Some(path));
    }
    let runs = model::RunStore::new(config.data.join("models"));
    let inlet = ModelInlet { store: &runs, source: model_named(&catalogue, name)? };
    make_record(config)?;
    let progress = ModelProgress::default();
    let show = |bar: &ProgressBar| match progress.fields.load(Ordering::Relaxed) {
        0 => bar.set_position(progress.bytes.load(Ordering::Relaxed)),
        fields => show_fields(bar, fields, progress.unpacked.load(Ordering::Relaxed)),
    };
    let (_, mut summary) = under_bar(paths, show, || {
        ingest_model(inlet, options, &progress, |files| {
            for path in paths {
                files.path(path);
            }
        })
    });
    if let (Some(table), Some(report)) = (made, &summary.models) {
        // The model was made from these files, so it has a product for each field that can be read.
        let left_out = report.other_fields;
        if left_out > 0 {
            let error = format!(
                "{left_out} of the fields are in no product of the model that was made from them: they \
                 cannot be read, or are on another grid than the first one"
            );
            summary.faults.add(|| FileFault::new(name.to_owned(), &error));
        }
        if report.used == 0 && report.there_already == 0 {
            unmake_model(&table)?;
            eprintln!("nothing was stored, so {} is removed again", table.display());
        }
    }
    Ok(summary)
}
