//! Checks the sea-level pressures of a buoy and explains the worst verdict: the checks that ran, what
//! they looked at and their limits. Takes the path of a gzipped feed file of buoy 41002; by default
//! 45 days in the test data.

use std::error::Error;
use std::fs::File;
use std::io::BufReader;

use flate2::read::GzDecoder;
use mesonet::time::DAY_MS;
use mesonet::{Variable, intake, query};

const FILE: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/ndbc/realtime2_41002.txt.gz");

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).unwrap_or_else(|| FILE.to_owned());
    let input = BufReader::new(GzDecoder::new(File::open(path)?));
    // The file does not say where the buoy is.
    let place = mesonet::LonLat::new(-74.95, 31.76)?;
    let buoy = mesonet::feed::FeedStation::new("NDBC", "41002").at(place);
    let known = |_| Some(buoy.clone());
    let file = intake::FeedFile { known: &known, ..intake::FeedFile::new("41002.txt", 0) };
    let (intake, store) = (intake::Intake::default(), mesonet::MemoryStore::default());
    intake.read_file(&store, input, &file)?;
    let window = mesonet::ClosedWindow::new(0, DAY_MS * 365 * 100)?;
    let series = query::observation_series(&store, buoy.id, &Variable::Mslp.into(), window)?;
    let series = series.ok_or("no pressures")?;
    let worst = series.worst().ok_or("no pressures")?;
    let found = intake.explain(&store, buoy.id, series.series_of(worst).id, worst.ts_ms)?;
    println!("{}", found.ok_or("no such reading")?.explanation);
    Ok(())
}
