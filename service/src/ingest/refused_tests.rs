use std::fs;

use mesonet::feed::Kind;

use super::super::RefusedReport;
use super::*;

fn summary(texts: impl Iterator<Item = usize>) -> IngestSummary {
    let mut summary = IngestSummary::default();
    let of_kind = summary.kinds.entry(Kind::MetarBulletin).or_default();
    of_kind.refused_reports = texts
        .map(|number| RefusedReport {
            file: "sa.txt".to_owned(),
            reason: "line 2: no time".to_owned(),
            text: format!("METAR {number}"),
        })
        .collect();
    summary
}

fn texts(refused: &RefusedReports, now_ms: i64) -> Vec<String> {
    refused.of_last_day(now_ms).unwrap().into_iter().map(|of| of.text).collect()
}

#[test]
fn those_of_the_last_day_are_kept_and_never_more_than_the_limit() {
    let refused = RefusedReports::open(None).unwrap();
    refused.note(&summary(0..1), 1_000).unwrap();
    refused.note(&summary(1..2), 2_000).unwrap();
    assert_eq!(texts(&refused, 3_000), ["METAR 1", "METAR 0"]);
    assert_eq!(texts(&refused, DAY_MS + 1_500), ["METAR 1"]);
    refused.note(&summary(0..MOST_REFUSED + 5), DAY_MS + 1_600).unwrap();
    let now = texts(&refused, DAY_MS + 1_700);
    assert_eq!((now.len(), &*now[0]), (MOST_REFUSED, "METAR 1004"));
    let rows = || -> usize {
        let count = "SELECT count(*) FROM report";
        lock(&refused.0).query_row(count, [], |row| row.get(0)).unwrap()
    };
    assert_eq!(rows(), MOST_REFUSED);
    // What is old is gone for good, and so is what a clock that was years ahead noted.
    refused.note(&summary(0..1), 400 * DAY_MS).unwrap();
    assert_eq!(rows(), 1);
    refused.note(&summary(0..2), DAY_MS).unwrap();
    assert_eq!(rows(), 2);
}

#[test]
fn a_file_with_a_damaged_page_is_set_aside() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILE);
    let open = || RefusedReports::open(Some(folder.path())).unwrap();
    open().note(&summary(0..500), 1_000).unwrap();
    let mut bytes = fs::read(&path).unwrap();
    assert!(bytes.len() > 3 * 4096, "{}", bytes.len());
    bytes[4096..3 * 4096].fill(0xA5);
    fs::write(&path, &bytes).unwrap();
    let refused = open();
    assert_eq!(texts(&refused, 1_000).len(), 0);
    refused.note(&summary(0..1), 1_000).unwrap();
    assert_eq!(texts(&refused, 1_000), ["METAR 0"]);
    assert_eq!(fs::read(folder.path().join(format!("{FILE}.damaged-1"))).unwrap(), bytes);
}

#[test]
fn they_survive_a_restart_and_a_second_process_may_add_some() {
    let folder = tempfile::tempdir().unwrap();
    let open = || RefusedReports::open(Some(folder.path())).unwrap();
    let first = open();
    first.note(&summary(0..2), 1_000).unwrap();
    let second = open();
    assert_eq!(texts(&second, 2_000), ["METAR 1", "METAR 0"]);
    second.note(&summary(2..3), 2_000).unwrap();
    assert_eq!(texts(&first, 2_000), ["METAR 2", "METAR 1", "METAR 0"]);
}

#[test]
fn a_damaged_file_is_set_aside() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILE);
    for (round, content) in [vec![0xA5; 4096], b"{}".to_vec()].into_iter().enumerate() {
        fs::write(&path, &content).unwrap();
        let refused = RefusedReports::open(Some(folder.path())).unwrap();
        refused.note(&summary(0..1), 1_000).unwrap();
        assert_eq!(texts(&refused, 1_000), ["METAR 0"]);
        let aside = folder.path().join(format!("{FILE}.damaged-{}", round + 1));
        assert_eq!(fs::read(aside).unwrap(), content);
        drop(refused);
        for suffix in ["", "-wal", "-shm"] {
            let _ = fs::remove_file(folder.path().join(format!("{FILE}{suffix}")));
        }
    }
}
