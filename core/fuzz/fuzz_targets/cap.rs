//! Any bytes as a CAP document, and as the content of a message: no panic, and what is read has a
//! state whatever its references are.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mesonet::alert::Alert;
use mesonet::alert;
use mesonet::feed::read_cap;

fuzz_target!(|bytes: &[u8]| {
    let inside = [
        br#"<alert xmlns="urn:oasis:names:tc:emergency:cap:1.2"><identifier>1</identifier>
        <sender>a</sender><sent>2026-08-12T23:07:41Z</sent><status>Actual</status>
        <msgType>Update</msgType><scope>Public</scope>"#,
        bytes,
        b"</alert>",
    ]
    .concat();
    for document in [bytes, &inside] {
        let mut alerts = Vec::new();
        let _ = read_cap(document, |alert| alerts.push(alert));
        let messages: Vec<&alert::Message> = alerts.iter().collect();
        let states = alert::resolve(&messages, alert::Clock::live(0));
        for (alert, state) in alerts.iter().zip(&states) {
            let again = serde_json::to_vec(alert).unwrap();
            assert_eq!(&serde_json::from_slice::<alert::Message>(&again).unwrap(), alert);
            serde_json::to_vec(&Alert::new(alert, state, "fr")).unwrap();
        }
    }
});
