//! Reads a table of METAR reports of the Aviation Weather Center into a store and prints the latest
//! temperatures of ten stations.

use std::error::Error;
use std::fs::File;
use std::io::BufReader;

use flate2::read::GzDecoder;
use mesonet::{Reader, intake, query};

const FILE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../tests/data/metar/liveairdata_metars_20240803T1732Z.csv.gz"
);

/// 2024-08-03T18:00:00Z, when the table was fetched.
const NOW_MS: i64 = 1_722_708_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let input = BufReader::new(GzDecoder::new(File::open(FILE)?));
    let (intake, store) = (intake::Intake::default(), mesonet::MemoryStore::default());
    let file = intake::FeedFile::new("metars.csv", NOW_MS);
    println!("{}", intake.read_file(&store, input, &file)?);
    let latest = query::ReadingsQuery::latest(vec!["airTemperature".parse()?], NOW_MS, NOW_MS)?;
    let snapshot = query::readings(&store, &latest, query::Caps::default())?;
    for (id, cells) in snapshot.by_station().take(10) {
        println!("{}: {} °C", store.directory()?.get(id).ok_or("?")?.station.name, cells[0].value);
    }
    Ok(())
}
