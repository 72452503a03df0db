use super::*;
use crate::feed::metar::MetarKind;
use crate::feed::text::xml::MAX_DEPTH;
use crate::geo::LonLat;
use crate::time::parse_instant;

#[test]
fn a_report_is_read_from_its_children() {
    let document = "<?xml version=\"1.0\"?><response><data><METAR>\
        <raw_text>KBUF 312354Z RMK A&amp;B &#36; <![CDATA[<X>]]></raw_text>\
        <station_id>KBUF</station_id><observation_time>2019-12-31T23:54:00Z</observation_time>\
        <latitude>42.94</latitude><longitude>-78.74</longitude>\
        <sky_condition sky_cover=\"CLR\"/><quality_control_flags><auto>TRUE</auto>\
        </quality_control_flags><metar_type>METAR</metar_type><elevation_m>218.0</elevation_m>\
        </METAR></data></response>";
    let summary = read_awc_xml(document.as_bytes(), |item| {
        assert_eq!(item.raw_text, "KBUF 312354Z RMK A&B $ <X>");
        assert_eq!((item.native_id, item.kind), ("KBUF", MetarKind::Routine));
        assert_eq!(item.place, LonLat::new(-78.74, 42.94).ok());
        assert_eq!(item.altitude_m, Some(218.0));
        assert_eq!(item.ts_ms, parse_instant("2019-12-31T23:54:00Z").unwrap());
    });
    assert_eq!(summary.unwrap().read, 1);
}

#[test]
fn a_report_that_cannot_be_read_leaves_the_others() {
    let document = "<data><METAR><raw_text>KBUF</raw_text></METAR><METAR/><METAR></METAR>\
        <METAR><raw_text>KALB 312351Z</raw_text>\
        <observation_time>2019-12-31T23:51:00Z</observation_time></METAR></data>";
    let summary = read_awc_xml(document.as_bytes(), |_| {}).unwrap();
    assert_eq!((summary.read, summary.refused), (1, 2));
    assert_eq!(summary.refusals[0].place, FilePlace::Byte(6));
    assert_eq!(summary.refusals[0].excerpt, "KBUF");
}

#[test]
fn faults_of_the_document_are_errors_that_say_where() {
    let fault = |document: &str| read_awc_xml(document.as_bytes(), |_| {}).unwrap_err().to_string();
    assert!(fault("<data><METAR></data>").starts_with("not well-formed XML at byte 13: "));
    assert_eq!(
        fault("<data><METAR>"),
        "not well-formed XML at byte 13: it ends with 2 elements open"
    );
    let deep = "<a>".repeat(MAX_DEPTH + 1);
    assert!(fault(&deep).ends_with("more than 32 levels of elements"));
    let long = format!("<data>{}", "x".repeat(10 * MAX_EVENT_BYTES));
    assert!(fault(&long).ends_with("more than 16384 bytes between two tags"));
}

#[test]
fn a_field_in_many_pieces_is_bounded() {
    let pieces = "&amp;".repeat(MAX_EVENT_BYTES + 1);
    let document = format!("<METAR><raw_text>{pieces}</raw_text></METAR>");
    let summary = read_awc_xml(document.as_bytes(), |_| {}).unwrap();
    let reason = RefusalReason::TooLong { limit: MAX_EVENT_BYTES };
    assert_eq!(summary.refusals[0].reason, reason);
}
