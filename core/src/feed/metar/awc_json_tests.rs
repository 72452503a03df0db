use super::*;
use crate::feed::Kind;
use crate::feed::metar::MetarKind;
use crate::geo::LonLat;
use crate::time::parse_instant;

/// A report as the service sent it in January 2026.
const KJFK: &str = r#"{"icaoId":"KJFK","receiptTime":"2026-01-19T18:58:16.068Z","obsTime":1768848660,
    "reportTime":"2026-01-19T19:00:00.000Z","temp":0,"dewp":-6.1,"wdir":240,"wspd":19,"wgst":24,
    "visib":"10+","altim":1014,"slp":1013.7,"qcField":12,"metarType":"METAR",
    "rawOb":"METAR KJFK 191851Z 24019G24KT 10SM SCT039 SCT090 00/M06 A2994 RMK AO2 PK WND 24026/1820 SLP137 T00001061 $",
    "lat":40.6392,"lon":-73.7639,"elev":3,"name":"New York/JF Kennedy Intl, NY, US","cover":"SCT",
    "clouds":[{"cover":"SCT","base":3900},{"cover":"SCT","base":9000}],"fltCat":"VFR"}"#;

#[test]
fn a_report_is_read_from_its_text_with_its_place_and_time() {
    let mut seen = 0;
    let summary = read_awc_json(format!("[{KJFK}]").as_bytes(), |item| {
        assert_eq!((item.native_id, item.kind), ("KJFK", MetarKind::Routine));
        assert_eq!(item.place, LonLat::new(-73.7639, 40.6392).ok());
        assert_eq!(item.altitude_m, Some(3.0));
        assert_eq!(item.ts_ms, parse_instant("2026-01-19T18:51:00Z").unwrap());
        assert!(item.raw_text.starts_with("METAR KJFK"));
        seen += 1;
    });
    assert_eq!((summary.unwrap().read, seen), (1, 1));
}

#[test]
fn a_report_that_cannot_be_read_leaves_the_others() {
    let answer = format!(
        r#"[{{"icaoId":"KBUF","rawOb":"METAR KBUF 191854Z 10SM"}},{KJFK},7,null,
            {{"icaoId":"KALB","obsTime":1768848660,"rawOb":null}},
            {{"icaoId":"KALB","obsTime":1768848660,"rawOb":"METAR KALB"}},
            {{"icaoId":"KALB","obsTime":9223372036854775807,"rawOb":"METAR KALB 191851Z 00/M06"}},
            {{"icaoId":"KALB","obsTime":"2026-01-19","rawOb":"METAR KALB 191851Z 00/M06"}}]"#
    );
    let summary = read_awc_json(answer.as_bytes(), |_| {}).unwrap();
    assert_eq!(summary.read + summary.refused, 8);
    let said: Vec<String> = summary.refusals.iter().map(ToString::to_string).collect();
    assert!(said[0].contains("obsTime") && said[0].contains("KBUF"), "{said:?}");
    assert!(summary.read >= 1, "{said:?}");
}

#[test]
fn a_place_that_is_missing_or_impossible_is_left_out() {
    for place in ["", r#","lat":null,"lon":1"#, r#","lat":0,"lon":0"#, r#","lat":91,"lon":0"#] {
        let answer = format!(
            r#"[{{"icaoId":"KJFK","obsTime":1768848660,"rawOb":"METAR KJFK 191851Z 00/M06","elev":9999{place}}}]"#
        );
        let summary = read_awc_json(answer.as_bytes(), |item| {
            assert_eq!((item.place, item.altitude_m), (None, None), "{place}");
        });
        assert_eq!(summary.unwrap().read, 1);
    }
}

#[test]
fn an_answer_that_is_no_array_or_breaks_off_is_an_error_after_what_was_whole() {
    let mut read = 0;
    let cut = format!("[{KJFK},{}", &KJFK[..200]);
    assert!(read_awc_json(cut.as_bytes(), |_| read += 1).is_err());
    assert_eq!(read, 1);
    for wrong in ["", "{}", "null", "[", "[{}", "[{}] x", r#"{"error":"no data"}"#] {
        assert!(read_awc_json(wrong.as_bytes(), |_| {}).is_err(), "{wrong}");
    }
    assert_eq!(read_awc_json(b"[]".as_slice(), |_| {}).unwrap().read, 0);
}

#[test]
fn a_report_without_end_takes_no_memory() {
    let long = format!(r#"[{{"rawOb":"{}"#, "x".repeat(10 * MAX_REPORT_BYTES));
    let error = read_awc_json(long.as_bytes(), |_| {}).unwrap_err().to_string();
    assert!(error.contains("more than 65536 bytes without the end of a report"), "{error}");
}

#[test]
fn the_kind_is_found_by_the_members() {
    assert_eq!(Kind::detect("metar", format!("\n [{KJFK}]").as_bytes()), Some(Kind::AwcJson));
    // Reports of pilots have the same members and no METAR.
    assert_ne!(Kind::detect("x", br#"{"rawOb":"UA","obsTime":1}"#), Some(Kind::AwcJson));
}
