//! Writes a GRIB2 file of a model as a run and prints the forecast at a place, hour by hour.

use std::error::Error;

use mesonet::{LonLat, model};

const FILE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../server-example/sample/safrica_ps_20100308T12Z_25hours.grib2"
);

/// When the run is written, 2010-03-08T18:00:00Z.
const NOW_MS: i64 = 1_268_071_200_000;

fn main() -> Result<(), Box<dyn Error>> {
    let (catalogue, folder) = (model::Catalogue::default(), tempfile::tempdir()?);
    let store = model::RunStore::new(folder.path());
    let source = catalogue.get("safrica").ok_or("the catalogue has no model safrica")?;
    let mut delivery = model::Delivery::in_memory(source, &store);
    delivery.add(FILE, &std::fs::read(FILE)?);
    delivery.write(NOW_MS, || ());
    let (run, johannesburg) = (store.newest_run("safrica")?, LonLat::new(28.05, -26.2)?);
    let query = model::SeriesQuery::at(&run, johannesburg, &["precipitable_water"])?;
    let answer = model::series(&run, &query)?;
    for item in &answer.fields.get("precipitable_water").ok_or("no values")?.series {
        println!("{}: {} kg/m²", item.valid_time, item.value);
    }
    Ok(())
}
