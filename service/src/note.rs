//! Small JSON files beside a record that say what was delivered.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use mesonet::durable::replace;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Length of the longest file that is read.
const MAX_BYTES: u64 = 1 << 20;

const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Versioned<T> {
    version: u32,
    #[serde(flatten)]
    content: T,
}

/// Loads a file; `None` if there is none. One that is damaged or of another version is renamed to
/// `NAME.damaged`, or `NAME.damaged-2` and so on if that is taken, and the log says so.
///
/// # Errors
/// Why the file is not used.
pub fn load<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, String> {
    let read = || -> io::Result<Versioned<T>> {
        let mut bytes = Vec::new();
        File::open(path)?.take(MAX_BYTES).read_to_end(&mut bytes)?;
        Ok(serde_json::from_slice(&bytes)?)
    };
    let cause = match read() {
        Ok(Versioned { version: VERSION, content }) => return Ok(Some(content)),
        Ok(Versioned { version, .. }) => {
            format!("it is of version {version}; allowed is {VERSION}")
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => error.to_string(),
    };
    let mut aside = path.with_extension("damaged");
    let mut number = 1;
    while aside.exists() {
        number += 1;
        aside = path.with_extension(format!("damaged-{number}"));
    }
    let (path_text, aside_text) = (path.display(), aside.display());
    tracing::error!("{path_text} is not used: {cause}; the file is {aside_text} now");
    // If it stays, the next save replaces it.
    let _ = fs::rename(path, &aside);
    Err(cause)
}

/// Writes a file atomically.
///
/// # Errors
/// It cannot be written; the earlier one stays.
pub fn save<T: Serialize>(path: &Path, content: &T) -> io::Result<()> {
    replace(path, &serde_json::to_vec(&Versioned { version: VERSION, content })?)
}
