//! Writes a GRIB2 file of a model as a run and prints the forecast at a place, hour by hour. Takes
//! the path of a file of the model safrica; by default that of the sample.

use std::error::Error;
use std::time::UNIX_EPOCH;

use mesonet::{LonLat, model};

const FILE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../server-example/sample/safrica_ps_20100308T12Z_25hours.grib2"
);

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).unwrap_or_else(|| FILE.to_owned());
    let (catalogue, folder) = (model::Catalogue::default(), tempfile::tempdir()?);
    let store = model::RunStore::new(folder.path());
    let source = catalogue.get("safrica").ok_or("the catalogue has no model safrica")?;
    let mut delivery = model::Delivery::in_memory(source, &store);
    delivery.add(&path, &std::fs::read(&path)?);
    delivery.write(UNIX_EPOCH.elapsed()?.as_millis() as i64, || ());
    let run = store.newest_run("safrica")?;
    let (johannesburg, fields) = (LonLat::new(28.05, -26.2)?, ["precipitable_water"]);
    let query = model::SeriesQuery::at(&run, johannesburg, &fields)?;
    for (name, entry) in model::series(&run, &query)?.fields.0 {
        for item in entry.series {
            println!("{name}, {}: {} {}", item.valid_time, item.value, entry.unit);
        }
    }
    Ok(())
}
