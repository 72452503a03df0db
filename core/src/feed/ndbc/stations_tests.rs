use super::*;
use crate::observation::{IdScheme, Identifiers};

#[test]
fn a_station_without_id_or_place_is_refused_and_the_others_read() {
    let document = r#"<?xml version="1.0"?>
        <stations count="5">
        <station lat="1" lon="2" name="no id"/>
        <station id="41001" lat="91" lon="2"/>
        <station id="41002" lat="x" lon="2"/>
        <station id="4 1003" lat="1" lon="2"/>
        <station id="41004" lat="32.5" lon="-79.1" elev="tall" name="  " type="other"></station>
        <ship id="41005" lat="32.5" lon="-79.1"/>
        </stations>"#;
    let mut stations = Vec::new();
    let summary = read_ndbc_stations(document.as_bytes(), |station| stations.push(station));
    let summary = summary.unwrap();
    let place = LonLat::new(-79.1, 32.5).ok();
    let identifiers = Identifiers::default().with(IdScheme::Wmo, "41004");
    let expected = FeedStation { place, identifiers, ..FeedStation::new("NDBC", "41004") };
    assert_eq!(stations, [expected]);
    let reasons: Vec<_> =
        summary.refusals.iter().map(|refusal| refusal.reason.to_string()).collect();
    assert_eq!(
        reasons,
        [
            "\"\" is not a valid station id",
            "no place",
            "no place",
            "\"4 1003\" is not a valid station id"
        ]
    );
    assert_eq!((summary.read, summary.refused), (1, 4));
}

#[test]
fn entities_in_names_are_replaced() {
    let document = "<stations><station id='yrsv2' lat='1' lon='2' name='Zeke&apos;s &amp; co'/>\
                    </stations>";
    read_ndbc_stations(document.as_bytes(), |station| {
        assert_eq!(station.name.as_deref(), Some("Zeke's & co"));
    })
    .unwrap();
}

#[test]
fn another_document_is_an_error() {
    for (document, message) in [
        ("<METAR/>", "the root element is METAR; a table of stations has stations"),
        ("", "no stations element"),
        ("<stations>", "not well-formed XML at byte 10: it ends with 1 elements open"),
    ] {
        let error = read_ndbc_stations(document.as_bytes(), |_| {}).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
}
