//! Any bytes as a provincial summary, alone and as the elements of an observation: no panic,
//! every value finite.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mesonet::feed::read_eccc_hourly;

fuzz_target!(|bytes: &[u8]| {
    let inside = [
        b"<ObservationCollection xmlns='http://dms.ec.gc.ca/schema/point-observation/2.1'><Observation>\
          <dataset name='hour/wxo_dd_hour_summary'/>\
          <identification-elements><element name='observation_date_utc' value='2020-07-14T00:52:00Z'/>\
          <element name='climate_station_number' value='1'/>\
          </identification-elements><elements>",
        bytes,
        b"</elements></Observation></ObservationCollection>",
    ]
    .concat();
    for document in [bytes, &inside] {
        let _ = read_eccc_hourly(document, |item| {
            assert!(item.report.readings.iter().all(|reading| reading.value.is_finite()));
        });
    }
});
