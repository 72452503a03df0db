//! Any bytes as a document of alerts of api.weather.gov, and as the properties of one: no panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mesonet::alert::Alert;
use mesonet::alert;
use mesonet::feed::read_nws_alerts;

fuzz_target!(|bytes: &[u8]| {
    let inside = [
        br#"{"features": [{"properties": {"id": "1", "sender": "a", "sent": "2026-07-15T19:50:00Z",
        "status": "Actual", "messageType": "Update","#,
        bytes,
        b"}}]}",
    ]
    .concat();
    for document in [bytes, &inside] {
        let mut alerts = Vec::new();
        let _ = read_nws_alerts(document, |alert| alerts.push(alert));
        let messages: Vec<&alert::Message> = alerts.iter().collect();
        let states = alert::resolve(&messages, alert::Clock::live(0));
        for (alert, state) in alerts.iter().zip(&states) {
            serde_json::to_vec(&Alert::new(alert, state, "en")).unwrap();
        }
    }
});
