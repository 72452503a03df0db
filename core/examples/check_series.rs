//! Checks the sea-level pressures of a buoy and explains the worst verdict: the checks that ran,
//! their inputs and their limits. The file has 45 days of the test data.

use std::error::Error;
use std::fs::File;
use std::io::BufReader;

use flate2::read::GzDecoder;
use mesonet::{LonLat, feed, intake};

const FILE: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/ndbc/realtime2_41002.txt.gz");

/// 2018-08-01T12:00:00Z, after the last report.
const NOW_MS: i64 = 1_533_124_800_000;

fn main() -> Result<(), Box<dyn Error>> {
    let input = BufReader::new(GzDecoder::new(File::open(FILE)?));
    // The file does not say where the buoy is.
    let buoy = feed::FeedStation::new("NDBC", "41002").at(LonLat::new(-74.95, 31.76)?);
    let known = |_| Some(buoy.clone());
    let file = intake::FeedFile { known: &known, ..intake::FeedFile::new("41002.txt", NOW_MS) };
    let (intake, store) = (intake::Intake::default(), mesonet::MemoryStore::default());
    intake.read_file(&store, input, &file)?;
    let (mslp, window) = (mesonet::Variable::Mslp.into(), mesonet::ClosedWindow::new(0, NOW_MS)?);
    let series = mesonet::query::observation_series(&store, buoy.id, &mslp, window)?;
    let series = series.ok_or("no pressures")?;
    let worst = series.worst().ok_or("no pressures")?;
    let found = intake.explain(&store, buoy.id, series.series_of(worst).id, worst.ts_ms)?;
    println!("{}", found.ok_or("no such reading")?.explanation);
    Ok(())
}
