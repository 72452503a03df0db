//! A model that is in no catalogue. Its table is made from its files and kept beside the data.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;

use mesonet::durable::create_folder;
use mesonet::{grib, model};

use super::copies::Copies;
use super::packing::SourceError;
use super::source::{FileWalker, SourceFile, Visitor};
use super::{Options, read_grib};
use crate::files::{create, entries};

/// The folder of the tables in a data folder.
const FOLDER: &str = "made-models";

/// What keeps a model from being made.
#[derive(Debug, thiserror::Error)]
pub enum NewModelError {
    /// The model exists.
    #[error("the model \"{0}\" is in the catalogue already; leave out --new-model")]
    Known(String),
    /// Standard input cannot be read twice.
    #[error("a new model is made from files that are read twice; standard input cannot be")]
    Stream,
    /// No field can be read to make the model from.
    #[error("no field of the files can be read, so no model can be made from them")]
    NoField,
    /// The name cannot be the name of a model.
    #[error(transparent)]
    Catalogue(#[from] model::ModelCatalogueError),
    /// The table cannot be written.
    #[error("cannot write {}: {error}", .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
}

/// Returns the tables that were made from files, by path. Returns none if their folder does not
/// exist.
///
/// # Errors
/// A table cannot be read.
pub fn made_tables(data: &Path) -> Result<Vec<(PathBuf, String)>, (PathBuf, io::Error)> {
    let folder = data.join(FOLDER);
    let mut paths = entries(&folder).map_err(|error| (folder, error))?;
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "toml"));
    let read = |path: PathBuf| match fs::read_to_string(&path) {
        Ok(text) => Ok((path, text)),
        Err(error) => Err((path, error)),
    };
    paths.into_iter().map(read).collect()
}

/// Makes the table of a model from files, and keeps it in the data folder. Returns the catalogue
/// with it, the table and its file.
///
/// # Errors
/// The catalogue has the model, no field can be read, or the table cannot be written. Nothing is
/// overwritten.
pub fn make_model(
    data: &Path,
    catalogue: model::Catalogue,
    name: &str,
    paths: &[PathBuf],
    options: Options,
) -> Result<(model::Catalogue, String, PathBuf), NewModelError> {
    if catalogue.get(name).is_some() {
        return Err(NewModelError::Known(name.to_owned()));
    }
    if paths.iter().any(|path| path.as_os_str() == "-") {
        return Err(NewModelError::Stream);
    }
    let mut survey = Survey::default();
    let (mut copies, progress) = (Copies::default(), AtomicU64::new(0));
    for path in paths {
        FileWalker::new(&mut survey, options.bounds, &mut copies, &progress).path(path);
    }
    let table = survey.made.toml(name).ok_or(NewModelError::NoField)?;
    let catalogue = catalogue.with(&table)?;
    let folder = data.join(FOLDER);
    let path = folder.join(format!("{name}.toml"));
    let text = format!("# Made from files by ingest; yours to change.\n\n{table}");
    let write = || {
        create_folder(&folder)?;
        create(&path, text.as_bytes())
    };
    write().map_err(|error| NewModelError::Write { path: path.clone(), error })?;
    Ok((catalogue, text, path))
}

/// Removes the table of a model if nothing of the model was stored, and the folder if nothing else
/// is in it.
///
/// # Errors
/// The table cannot be removed.
pub fn unmake_model(path: &Path) -> io::Result<()> {
    fs::remove_file(path)?;
    match path.parent().map(fs::remove_dir) {
        // Other tables may be in the folder.
        Some(Err(error)) if error.kind() != io::ErrorKind::DirectoryNotEmpty => Err(error),
        _ => Ok(()),
    }
}

/// Looks at the fields of files. Faults are named later, when the files are taken in.
#[derive(Default)]
struct Survey {
    made: model::MadeSource,
}

impl Visitor for Survey {
    fn file(&mut self, file: SourceFile<'_>) -> bool {
        let (bytes, cut) = read_grib(file.input);
        for field in grib::fields(&bytes).flatten() {
            let _ = self.made.add(&field);
        }
        cut.is_none()
    }

    fn fault(&mut self, _: &str, _: SourceError) {}

    fn copy(&mut self) {}
}
