//! Prints the headlines of the alerts in force at a place as of the newest message of a file of
//! api.weather.gov.

use std::error::Error;
use std::fs::File;
use std::io::Read;

use flate2::read::GzDecoder;
use mesonet::{alert, feed, zone};

const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../server-example/sample");

fn main() -> Result<(), Box<dyn Error>> {
    let mut messages: Vec<alert::Message> = Vec::new();
    let file = unpacked("alerts_active_2026-07-15T200045Z.geojson.gz")?;
    feed::read_nws_alerts(&*file, |message| messages.push(message))?;
    let zones = zone::Zones::from_bundle(&unpacked("zones.bin.gz")?)?;
    let now_ms = messages.iter().map(|message| message.sent_ms).max().unwrap_or_default();
    let st_elmo = mesonet::LonLat::new(-106.35, 38.70)?;
    let here = alert::Query::default().at(st_elmo).is_active(true);
    for (message, _) in here.select(&messages, alert::Clock::live(now_ms), &zones) {
        println!("{}", message.headline("en").unwrap_or(&message.id));
    }
    Ok(())
}

/// A file of the server's sample.
fn unpacked(name: &str) -> Result<Vec<u8>, std::io::Error> {
    let mut bytes = Vec::new();
    GzDecoder::new(File::open(format!("{SAMPLE}/{name}"))?).read_to_end(&mut bytes)?;
    Ok(bytes)
}
