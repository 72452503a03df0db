//! Any bytes as records of the Integrated Surface Data, and as the additional sections of one: no
//! panic, every value finite.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mesonet::feed::read_isd;

fuzz_target!(|bytes: &[u8]| {
    let sections = &bytes[..bytes.len().min(9_000)];
    let inside = [
        format!("{:04}", sections.len() + 3).as_bytes(),
        b"725472949892016010100537+41991-093619FM-15+0291KAMW V030\
          2505N00465027435MN0160935N5-00835-01175102805ADD",
        sections,
    ]
    .concat();
    for records in [bytes, &inside] {
        let _ = read_isd(records, |item| {
            assert!(item.report.readings.iter().all(|reading| reading.value.is_finite()));
        });
    }
});
