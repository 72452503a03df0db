//! Reads a feed file of any kind into a store and prints the result. Takes the path of an unpacked
//! file; by default hourly reports of Fargo in the test data.

use std::error::Error;
use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;
use std::time::UNIX_EPOCH;

use mesonet::{MemoryStore, intake, store};

const FILE: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/ghcnh/GHCNh_USW00013967_por.psv");

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).map_or_else(|| FILE.into(), PathBuf::from);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let now_ms = UNIX_EPOCH.elapsed()?.as_millis() as i64;
    let (store, alerts) = (MemoryStore::default(), store::AlertStore::default());
    let file = intake::FeedFile { alerts: Some(&alerts), ..intake::FeedFile::new(&name, now_ms) };
    let input = BufReader::new(File::open(&path)?);
    println!("{}", intake::Intake::default().read_file(&store, input, &file)?);
    Ok(())
}
