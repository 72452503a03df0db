//! Any bytes as SWOB-ML, alone and as the elements of an observation: no panic, every value finite.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mesonet::feed::read_swob;

fuzz_target!(|bytes: &[u8]| {
    let inside = [
        b"<ObservationCollection xmlns='http://dms.ec.gc.ca/schema/point-observation/2.0'><Observation>\
          <identification-elements><element name='date_tm' value='2020-07-14T00:52:00Z'/>\
          <element name='data_pvdr' value='MSC'/><element name='msc_id' value='1'/>\
          </identification-elements><elements>",
        bytes,
        b"</elements></Observation></ObservationCollection>",
    ]
    .concat();
    for document in [bytes, &inside] {
        let _ = read_swob(document, |item| {
            assert!(item.report.readings.iter().all(|reading| reading.value.is_finite()));
        });
    }
});
