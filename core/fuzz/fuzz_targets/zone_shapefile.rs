//! Any bytes as the parts of a shapefile of zones: no panic, no memory that the bytes do not fill.
//! The first two bytes say where the shapes end and the table begins.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mesonet::zone;

const PRJ: &str = include_str!("../../../tests/data/zones/eccc_zones_bc.prj");

fuzz_target!(|bytes: &[u8]| {
    let Some((head, rest)) = bytes.split_first_chunk::<2>() else { return };
    let at = usize::from(u16::from_le_bytes(*head)).min(rest.len());
    let (shp, dbf) = rest.split_at(at);
    for cpg in [None, Some("1252")] {
        let _ = zone::read_shapefile(zone::Shapefile { shp, dbf, prj: PRJ, cpg }, None);
    }
    let prj = String::from_utf8_lossy(rest);
    let _ = zone::read_shapefile(zone::Shapefile { shp, dbf, prj: &prj, cpg: Some(&prj) }, None);
});
