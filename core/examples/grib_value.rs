//! Prints the values of the fields of a GRIB2 file at a place, in the unit of each parameter: a
//! forecast of precipitable water over southern Africa.

use std::error::Error;

use mesonet::{Iso8601, LonLat, grib};

const FILE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../server-example/sample/safrica_ps_20100308T12Z_25hours.grib2"
);

fn main() -> Result<(), Box<dyn Error>> {
    let johannesburg = LonLat::new(28.05, -26.2)?;
    for field in grib::fields(&std::fs::read(FILE)?) {
        let field = field?;
        let (parameter, product) = (field.parameter()?, field.product()?);
        let (level, valid) = (product.level, Iso8601(product.valid_ms));
        let value =
            field.value_at(johannesburg)?.map_or("no value".into(), |at| format!("{at:.1}"));
        println!("{parameter} at level {level}, {valid}: {value}");
    }
    Ok(())
}
