use super::*;
use crate::feed::metar::MetarKind;
use crate::feed::text::csv_row::MAX_FIELDS;
use crate::geo::LonLat;

/// Station, raw text, place and kind of an item.
type Item = (String, String, Option<LonLat>, MetarKind);

fn read(table: &str) -> (Vec<Item>, Summary) {
    let mut all = Vec::new();
    let summary = read_awc_csv(table.as_bytes(), |item| {
        all.push((item.native_id.to_owned(), item.raw_text.to_owned(), item.place, item.kind));
    });
    (all, summary.unwrap())
}

#[test]
fn the_header_is_found_by_name_behind_other_lines() {
    let (all, summary) = read(
        "No errors\nNo warnings\n309 ms\ndata source=metars\n1 results\n\
         metar_type,longitude,latitude,observation_time,raw_text\r\n\
         SPECI,-78.74,42.94,2019-12-31T23:54:00Z,KBUF 312354Z AUTO\r\n\r\n",
    );
    let place = LonLat::new(-78.74, 42.94).ok();
    let text = "KBUF 312354Z AUTO".to_owned();
    assert_eq!(all, [("KBUF".to_owned(), text, place, MetarKind::Special)]);
    assert_eq!((summary.read, summary.refused), (1, 0));
}

#[test]
fn a_table_without_its_columns_is_an_error_that_names_them() {
    let error = read_awc_csv(&b"raw_text,time\nKBUF 312354Z,x\n"[..], |_| {}).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no header line with the columns raw_text and observation_time, in 2 lines"
    );
}

#[test]
fn the_word_of_the_report_wins_over_the_column() {
    let (all, _) = read(
        "raw_text,observation_time,metar_type\n\
         METAR KBUF 312354Z,2019-12-31T23:54:00Z,SPECI\n",
    );
    assert_eq!(all[0].3, MetarKind::Routine);
}

#[test]
fn an_open_quote_loses_only_its_line() {
    let (all, summary) = read(
        "raw_text,observation_time\n\
         \"KBUF 312354Z RMK \"\"A, B\"\" $\",2019-12-31T23:54:00Z\n\
         \"KBUF 312354Z,2019-12-31T23:54:00Z\n\
         KALB 312351Z,2019-12-31T23:51:00Z\n",
    );
    assert_eq!(all[0].1, "KBUF 312354Z RMK \"A, B\" $");
    assert_eq!(all[1].0, "KALB");
    assert_eq!((summary.read, summary.refused), (2, 1));
    assert_eq!(summary.refusals[0].place, FilePlace::Line(3));
}

#[test]
fn lines_that_are_too_long_or_not_text_are_refused() {
    let long = "x".repeat(MAX_LINE_BYTES);
    let wide = ",".repeat(MAX_FIELDS);
    let mut table =
        format!("raw_text,observation_time\nKBUF 312354Z {long}\n{wide}\n").into_bytes();
    table.extend_from_slice(b"KBUF 312354Z \xff,2019-12-31T23:54:00Z\n");
    table.extend_from_slice(b"KBUF 312354Z,yesterday\n");
    let summary = read_awc_csv(table.as_slice(), |_| {}).unwrap();
    let reasons: Vec<_> =
        summary.refusals.iter().map(|refusal| refusal.reason.to_string()).collect();
    assert_eq!(
        reasons,
        [
            "longer than 16384 bytes, the most that is read",
            "more than 256 fields in a row",
            "not UTF-8 text",
            "\"yesterday\" is not an instant; allowed is RFC 3339 with Z or an offset, years 0000 \
             to 9999, for example 2024-08-03T21:00:00Z",
        ]
    );
    assert!(summary.refusals.iter().all(|refusal| refusal.excerpt.len() < 200));
}

#[test]
fn a_row_whose_report_has_no_readable_time_takes_that_of_its_column() {
    let (all, summary) = read(
        "raw_text,observation_time\n\
         KBUF COR 312354Z 21014KT,2019-12-31T23:54:00Z\n\
         HUEN 1018Z 10004KT 9999 26/21 Q1018,2022-10-23T10:18:00Z\n\
         \"FMSD 231100Z,Z 10021KT 9999 30/20 Q1014\",2022-10-23T10:14:00Z\n\
         UTO8 M M M 822/02/00/1318+24/M/ PK WND 1226 0149Z,2022-10-22T02:08:10Z\n",
    );
    assert_eq!(
        all.iter().map(|item| item.0.as_str()).collect::<Vec<_>>(),
        ["KBUF", "HUEN", "FMSD"]
    );
    assert_eq!((summary.read, summary.refused), (3, 1));
}

#[test]
fn groups_that_cannot_be_read_are_counted() {
    let (_, summary) = read(
        "raw_text,observation_time\n\
         KJFK 281851Z 15012KT 17/00 RMK T00720000,2020-04-28T18:51:00Z\n\
         FJDG 231055Z 12010KT 26/23 RMK T025602333 SLP12,2022-10-23T10:55:00Z\n\
         KALB 312351Z 10SM,2019-12-31T23:51:00Z\n",
    );
    assert_eq!(summary.unread_values.iter().collect::<Vec<_>>(), [("METAR groups", 3)]);
    assert_eq!((summary.read, summary.refused), (3, 0));
}

#[test]
fn a_place_off_the_globe_is_ignored() {
    let (all, _) = read(
        "raw_text,observation_time,latitude,longitude\n\
         KBUF 312354Z,2019-12-31T23:54:00Z,942.94,-78.74\n\
         KBUF 312354Z,2019-12-31T23:54:00Z,,\n\
         KBUF 312354Z,2019-12-31T23:54:00Z\n",
    );
    assert_eq!(all.iter().map(|item| item.2).collect::<Vec<_>>(), [None, None, None]);
}

#[test]
fn refusals_are_counted_past_those_that_are_kept() {
    use crate::feed::MAX_REFUSALS;
    let table = format!("raw_text,observation_time\n{}", "nothing,at all\n".repeat(300));
    let (_, summary) = read(&table);
    assert_eq!((summary.refused, summary.refusals.len()), (300, MAX_REFUSALS));
}
