//! Reads a table of METAR reports into a store and prints the latest temperatures of
//! ten stations. Takes the path of
//! a gzipped table of the Aviation Weather Center; by default one of the test data.

use std::error::Error;
use std::fs::File;
use std::io::BufReader;
use std::time::UNIX_EPOCH;

use flate2::read::GzDecoder;
use mesonet::{MemoryStore, Reader, query};

const FILE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../tests/data/metar/liveairdata_metars_20240803T1732Z.csv.gz"
);

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).unwrap_or_else(|| FILE.to_owned());
    let now_ms = UNIX_EPOCH.elapsed()?.as_millis() as i64;
    let file = mesonet::intake::FeedFile::new("metars.csv", now_ms);
    let input = BufReader::new(GzDecoder::new(File::open(path)?));
    let store = MemoryStore::default();
    println!("{}", mesonet::Intake::default().read_file(&store, input, &file)?);
    let latest = query::ReadingsQuery::latest(vec!["airTemperature".parse()?], now_ms, now_ms)?;
    let snapshot = query::readings(&store, &latest, query::Caps::default())?;
    for (id, cells) in snapshot.by_station().take(10) {
        let name = store.directory()?.get(id).map(|record| record.station.name.clone());
        println!("{}: {} °C", name.unwrap_or_default(), cells[0].value);
    }
    Ok(())
}
