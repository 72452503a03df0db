use proptest::prelude::*;

use super::*;

/// Station, kind, revision, raw text of each report, and the summary.
fn read(text: &str) -> (Vec<(String, MetarKind, u8, String)>, Summary) {
    let mut all = Vec::new();
    let received_ms = parse_instant("2020-07-01T00:35:00Z").unwrap();
    let summary = read_bulletins(text.as_bytes(), received_ms, |item| {
        let text = item.raw_text.to_owned();
        all.push((item.native_id.to_owned(), item.kind, item.metar.revision, text));
    });
    (all, summary.unwrap())
}

fn stations(text: &str) -> Vec<String> {
    read(text).0.into_iter().map(|(station, ..)| station).collect()
}

#[test]
fn the_heading_gives_kind_and_correction() {
    let (all, _) = read("SPUS70 KWBC 010030\nKSPS 010030Z=\nMETAR KALO 010031Z=\n");
    let kinds: Vec<_> = all.iter().map(|report| report.1).collect();
    assert_eq!(kinds, [MetarKind::Special, MetarKind::Routine]);
    let (all, _) = read("SAUS70 KWBC 010030 CCB\nMETAR COR\nKSPS 010030Z=\nKALO 010030Z CCC=\n");
    let revisions: Vec<_> = all.iter().map(|report| (report.1, report.2)).collect();
    assert_eq!(revisions, [(MetarKind::Routine, 2), (MetarKind::Routine, 3)]);
    let (all, _) = read("SAUS70 KWBC 010030 CCB\nKSPS 010030Z=\n\u{3}\nKALO 010030Z=\n");
    assert_eq!((all[0].2, all[1].2), (2, 0), "a heading applies only to its bulletin");
}

#[test]
fn a_product_identifier_is_not_a_report() {
    assert_eq!(stations("SAUS46 KSGX 231401\nMTRNZY\nSPECI KNZY 231401Z=\n"), ["KNZY"]);
}

#[test]
fn reports_on_one_line_and_on_many_are_separated() {
    let (all, _) =
        read("METAR KSPS 010030Z AUTO=METAR KALO 010031Z\n   10SM\n   CLR=  KBUF 010032Z=\n");
    let texts: Vec<_> = all.iter().map(|report| report.3.as_str()).collect();
    assert_eq!(
        texts,
        ["METAR KSPS 010030Z AUTO", "METAR KALO 010031Z    10SM    CLR", "KBUF 010032Z"]
    );
}

#[test]
fn the_start_of_a_report_ends_the_one_before() {
    assert_eq!(
        stations("KSPS 010030Z 10SM\nKALO 010031Z 10SM\n  RMK AO2\nMETAR KBUF 010032Z\n"),
        ["KSPS", "KALO", "KBUF"]
    );
    assert_eq!(
        stations("KSPS 010030Z\n\u{1}\n123\nSAUS70 KWBC 010030\nKALO 010031Z"),
        ["KSPS", "KALO"]
    );
}

#[test]
fn a_forecast_is_not_read_as_a_report() {
    let (all, summary) = read(
        "FTUS80 KWBC 010000\nTAF KALO 010000Z 0100/0124 18010KT=\nKBUF 010000Z 18010KT=\n\u{3}\
         SAUS70 KWBC 010030\nKSPS 010030Z=\n",
    );
    assert_eq!(all.len(), 1);
    assert_eq!(
        summary.refusals[0].to_string(),
        "line 1: a bulletin of type FT; only types SA and SP hold reports \
         (in \"FTUS80 KWBC 010000\")"
    );
}

#[test]
fn the_stamp_beside_a_report_is_its_reference() {
    let text = "2015/02/28 23:54\nKBUF 282354Z 21014KT\n\n202008010053 METAR KTPA 010053Z $=\n";
    let mut times = Vec::new();
    read_bulletins(text.as_bytes(), 0, |item| {
        times.push(crate::time::Iso8601(item.ts_ms).to_string());
    })
    .unwrap();
    assert_eq!(times, ["2015-02-28T23:54:00Z", "2020-08-01T00:53:00Z"]);
}

#[test]
fn an_overlong_report_is_refused_and_the_next_is_read() {
    let on_one_line = format!("KBUF 010030Z {}=KALO 010030Z=\n", "x".repeat(MAX_REPORT_BYTES));
    let on_many = format!("KBUF 010030Z\n{}=\nKALO 010030Z=\n", "  10SM CLR\n".repeat(1000));
    let (all, summary) = read(&(on_one_line + &on_many));
    assert_eq!(all.len(), 1);
    assert_eq!(summary.refused, 2);
    let reason = RefusalReason::TooLong { limit: MAX_REPORT_BYTES };
    assert!(summary.refusals.iter().all(|refusal| refusal.reason == reason));
}

#[test]
fn a_file_without_a_report_is_an_error_that_says_so() {
    let error = |text: &str| read_bulletins(text.as_bytes(), 0, |_| {}).unwrap_err().to_string();
    assert_eq!(error(""), "no METAR or SPECI report that can be read, in 0 lines");
    let forecasts = error("FTUS80 KWBC 010000\nTAF KALO 010000Z 0100/0124 18010KT=\n");
    assert_eq!(
        forecasts,
        "no METAR or SPECI report that can be read, in 2 lines; 1 text was refused: line 1: a \
         bulletin of type FT; only types SA and SP hold reports (in \"FTUS80 KWBC 010000\")"
    );
    assert!(error("To whom it may concern=\n\nAs agreed=\n").starts_with(
        "no METAR or SPECI report that can be read, in 3 lines; 2 texts were refused, the first: \
         line 1: \"To\" is not a station; "
    ));
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..300),
        lines in "(SAUS70 KWBC 010030|METAR|SPECI COR|KBUF 010030Z|2020/01/01 00:00|=|\\x01|\\x03|\n| |202001010000 |é){0,30}",
    ) {
        let _ = read_bulletins(bytes.as_slice(), 0, |_| {});
        let _ = read_bulletins(lines.as_bytes(), i64::MAX, |_| {});
    }
}
