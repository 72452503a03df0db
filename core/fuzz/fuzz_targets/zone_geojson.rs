//! Any bytes as a file of zones in GeoJSON, and as a single geometry: no panic, and what is read is
//! written and read again as it was; packed too.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mesonet::geo::MultiPolygon;
use mesonet::zone::Zones;
use mesonet::zone;

const HEAD: &[u8] = br#"{"type":"FeatureCollection","features":[{"properties":{"UGC":"OKC001"},"geometry":"#;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(shape) = serde_json::from_slice::<MultiPolygon>(bytes) {
        let json = serde_json::to_vec(&shape).expect("a geometry has JSON");
        let again: MultiPolygon = serde_json::from_slice(&json).expect("what is written is read");
        assert_eq!(again, shape);
        let _ = shape.simplified(0.5).expect("a positive tolerance");
    }
    for file in [bytes, &[HEAD, bytes, b"}]}"].concat()] {
        let Ok(file) = zone::read_geojson(file, None) else { continue };
        let zones = Zones::new(file.zones);
        let packed = zones.to_bundle().expect("zones can be packed");
        let again = Zones::from_bundle(&packed).expect("what is packed is unpacked");
        assert!(again.iter().eq(zones.iter()));
    }
});
