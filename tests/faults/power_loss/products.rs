//! Raster products: files that are written, and some that are replaced.

use std::io::Read;
use std::path::Path;

use mesonet::raster::Raster;
use mesonet::{grib, raster};
use mesonet_service::products::ProductFiles;

use crate::Work;

/// The product that each step writes, and how finely.
const STEPS: [(&str, f64); 4] =
    [("pressure", 1.0), ("other", 1.0), ("pressure", 2.0), ("other", 0.5)];

pub struct Products {
    dir: std::path::PathBuf,
    grib: Vec<u8>,
}

fn catalogue(scale: f64) -> raster::RasterCatalogue {
    let product = |name: &str| {
        format!(
            "[{name}]\ntitle = \"Pressure\"\nunit = \"Pa\"\nscale = {scale:?}\noffset = 100000\n\
             fields = [{{ parameter = \"7:0.3.1\" }}]\n"
        )
    };
    raster::RasterCatalogue::from_toml(&(product("pressure") + &product("other"))).unwrap()
}

impl Work for Products {
    const NAME: &'static str = "raster products";
    const STEPS: usize = STEPS.len();
    /// The product, time and bytes of each file.
    type Seen = Vec<(String, i64, Vec<u8>)>;

    fn open(dir: &Path) -> Self {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("data/grib/nam211_prmsl_simple.grib2.gz");
        let mut grib = Vec::new();
        let file = std::fs::File::open(path).unwrap();
        flate2::read::GzDecoder::new(file).read_to_end(&mut grib).unwrap();
        Self { dir: dir.to_owned(), grib }
    }

    fn step(&mut self, number: usize) {
        let (name, scale) = STEPS[number];
        let files = ProductFiles::new(&self.dir, catalogue(scale));
        let catalogue = files.catalogue();
        let product = catalogue.get(name).unwrap();
        let field = grib::fields(&self.grib).next().unwrap().unwrap();
        let raster = Raster::new(&field, product, grib::MAX_POINTS).unwrap();
        files.put(product, None, &raster).unwrap();
    }

    fn expected(steps: usize) -> Self::Seen {
        let dir = tempfile::tempdir().unwrap();
        let mut products = Self::open(dir.path());
        (0..steps).for_each(|step| products.step(step));
        Self::seen(dir.path())
    }

    fn seen(dir: &Path) -> Self::Seen {
        let files = ProductFiles::new(dir, catalogue(1.0));
        let mut seen = Vec::new();
        let catalogue = files.catalogue();
        for product in ["pressure", "other"].map(|name| catalogue.get(name).unwrap()) {
            for ts_ms in files.times(product, None).unwrap() {
                let path = files.find(product, None, ts_ms).unwrap().unwrap();
                seen.push((product.name().to_owned(), ts_ms, std::fs::read(path).unwrap()));
            }
        }
        seen
    }
}
