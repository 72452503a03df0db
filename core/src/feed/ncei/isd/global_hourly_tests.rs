use super::super::read_isd;
use super::*;
use crate::feed::Kind;

fn reported() -> String {
    let path = "/../tests/data/reported/tables/isd_global_hourly.csv";
    std::fs::read_to_string(format!("{}{path}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn read_text(text: &str) -> (Vec<FeedReport>, Summary) {
    let mut all = Vec::new();
    let summary = read_isd_csv(text.as_bytes(), |item| all.push(item)).unwrap();
    (all, summary)
}

#[test]
fn the_table_that_ncei_offers_is_read() {
    let text = reported();
    assert_eq!(Kind::detect("72509014739.csv", text.as_bytes()), Some(Kind::IsdCsv));
    let (all, summary) = read_text(&text);
    assert_eq!((all.len(), summary.refused), (1, 0));
    let FeedReport { station, report, .. } = &all[0];
    assert_eq!((&*station.native_id, station.name.as_deref()), ("725090-14739", Some("BOSTON")));
    assert_eq!((station.altitude_m, report.readings.len()), (Some(3.7), 7));
    assert!(report.readings.iter().all(|one| one.quality == crate::Quality::GOOD));
}

/// A record in both forms gives the same report.
#[test]
fn a_row_is_what_its_record_is() {
    let sections = [
        ("AA1", "01,0005,9,5"),
        ("AU1", "1,0,02,0,0,1,5"),
        ("GA1", "07,5,+00762,5,99,9"),
        ("KA1", "120,M,+0123,1"),
        ("MA1", "10264,5,09916,5"),
        ("MD1", "7,5,034,5,+999,9"),
        ("OC1", "0150,5"),
        ("AX1", "01,1,24,1"),
    ];
    let names: Vec<_> = sections.iter().map(|(name, _)| *name).collect();
    let cells: Vec<_> = sections.iter().map(|(_, cell)| format!("\"{cell}\"")).collect();
    let table = format!(
        "STATION,DATE,LATITUDE,LONGITUDE,ELEVATION,NAME,REPORT_TYPE,CALL_SIGN,WND,CIG,VIS,TMP,DEW,SLP,{},REM\n\
         72547294989,2016-01-01T00:53:00,41.991,-93.619,291,KAMW,FM-15,KAMW,\"250,5,N,0046,5\",\
         \"02743,5,M,N\",\"016093,5,N,5\",\"-0083,5\",\"-0117,5\",\"10280,5\",{},MET\n",
        names.join(","),
        cells.join(","),
    );
    let added = sections.map(|(name, cell)| [name, cell].concat().replace(',', "")).concat();
    let record = format!(
        "{:04}725472949892016010100537+41991-093619FM-15+0291KAMW V030\
         2505N00465027435MN0160935N5-00835-01175102805ADD{added}",
        added.len() + 3
    );
    let (of_table, in_table) = read_text(&table);
    let mut of_records = Vec::new();
    let in_records = read_isd(record.as_bytes(), |item| of_records.push(item)).unwrap();
    assert_eq!(of_table, of_records);
    assert_eq!(in_table, in_records);
    assert_eq!(of_table[0].report.present_weather, Some(vec!["Light rain".to_owned()]));
}

#[test]
fn rows_that_are_none_are_refused_by_name() {
    let text = reported();
    let refused = |from: &str, to: &str| {
        let (all, summary) = read_text(&text.replace(from, to));
        assert_eq!((all.len(), summary.refused), (0, 1), "{to}");
        summary.refusals[0].reason.to_string()
    };
    assert!(refused("72509014739", "7250901473").contains("station of eleven characters"));
    assert!(refused("2020-01-01T00:54:00", "yesterday").contains("not an instant"));
    assert!(refused("2020-01-01", "0020-01-01").contains("before 1750"));
    assert!(refused("250,5,N,0036,5", "250,5,N,036,5").contains("mandatory section"));
    assert!(refused("+0056,5", "+00X6,5").contains("not a number"));
    assert!(refused(",\"10052,5\"", "").contains("15 fields, but the header has 16"));
    let nowhere =
        text.replace("42.3606", "0").replace("-71.0097", "0").replace("\"3.7\"", "\"9999\"");
    let (all, _) = read_text(&nowhere);
    assert_eq!((all[0].station.place, all[0].station.altitude_m), (None, None));
    assert!(read_isd_csv(&b"STATION,DATE\n"[..], |_| {}).is_err());
    assert!(read_isd_csv(&b""[..], |_| {}).is_err());
}
