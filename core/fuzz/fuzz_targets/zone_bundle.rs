//! Any bytes as a bundle of zones: no panic, and what is unpacked can be packed and unpacked again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mesonet::zone::Zones;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(zones) = Zones::from_bundle(bytes) {
        let packed = zones.to_bundle().expect("zones can be packed");
        let again = Zones::from_bundle(&packed).expect("what is packed is unpacked");
        assert!(again.iter().eq(zones.iter()));
    }
});
