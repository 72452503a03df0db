use tempfile::TempDir;

use super::*;

fn month(text: &str, files: usize) -> ArchivedMonth {
    let month: Month = text.parse().unwrap();
    let file = |at: usize| ArchivedFile {
        path: format!("{}/{at}.parquet", month.folder()),
        readings: 7,
        first: StationId::new("TEST", "A"),
        last: StationId::new("TEST", "B"),
        bytes: 1000,
        sha256: "ab".repeat(32),
        tail: 100,
        tail_sha256: "cd".repeat(32),
    };
    let from = month.start_ms();
    let files: Vec<_> = (0..files).map(file).collect();
    ArchivedMonth { month, from, readings: 7 * files.len() as u64, damaged: 0, files }
}

fn manifest(months: &[&str]) -> Manifest {
    let months = months.iter().map(|text| month(text, 1)).collect();
    Manifest { record: "0123456789abcdef".to_owned(), months }
}

#[test]
fn a_manifest_is_read_as_it_was_written_and_damage_is_found_wherever_it_is() {
    let manifest = manifest(&["2024-07", "2024-08"]);
    let bytes = manifest.encode();
    assert_eq!(Manifest::decode(&bytes, Number(3)).unwrap(), manifest);
    for at in 0..bytes.len() {
        let mut bytes = bytes.clone();
        bytes[at] ^= 1;
        match Manifest::decode(&bytes, Number(3)) {
            Err(_) => {}
            // White space, or the number of the format, which is checked by itself.
            Ok(read) => assert_eq!(read, manifest, "{at}"),
        }
        assert!(Manifest::decode(&bytes[..at], Number(3)).is_err());
    }
}

#[test]
fn other_programs_find_the_files() {
    let json: serde_json::Value = serde_json::from_slice(&manifest(&["2024-08"]).encode()).unwrap();
    assert_eq!(json["format"], 1);
    let month = &json["archive"]["months"][0];
    assert_eq!(month["month"], "2024-08");
    assert_eq!(month["from"], "2024-08-01T00:00:00.000Z");
    assert_eq!(month["files"][0]["path"], "year=2024/month=08/0.parquet");
}

#[test]
fn a_month_takes_its_place_among_the_others() {
    let mut of = manifest(&["2024-06", "2024-08"]);
    of = of.with(month("2024-07", 1)).with(month("2024-08", 2));
    let months: Vec<String> = of.months.iter().map(|known| known.month.to_string()).collect();
    assert_eq!(months, ["2024-06", "2024-07", "2024-08"]);
    assert_eq!(of.month("2024-08".parse().unwrap()).unwrap().files.len(), 2);
    assert_eq!(of.month("2024-09".parse().unwrap()), None);
}

#[test]
fn an_archive_is_whole_until_its_first_gap() {
    let until = |months: &[&str]| {
        let until_ms = manifest(months).whole_until_ms();
        until_ms.map(|until_ms| Month::of(until_ms).to_string())
    };
    assert_eq!(until(&[]), None);
    assert_eq!(until(&["2024-06", "2024-07"]).unwrap(), "2024-08");
    assert_eq!(until(&["2024-06", "2024-08"]).unwrap(), "2024-07");
    // Only a part of a month that is not the first is a gap, too.
    let mut part = manifest(&["2024-06", "2024-07"]);
    part.months[1].from += 1;
    assert_eq!(part.whole_until_ms(), Some(part.months[1].month.start_ms()));
    let mut part = manifest(&["2024-06", "2024-07"]);
    part.months[0].from += 1;
    assert_eq!(Month::of(part.whole_until_ms().unwrap()).to_string(), "2024-08");
}

#[test]
fn of_two_who_write_after_the_same_manifest_one_is_refused() {
    let folder = TempDir::new().unwrap();
    let place = Place::create(&folder.path().display().to_string()).unwrap();
    let (none, empty) = Manifest::newest(&place).unwrap();
    assert_eq!((none, empty), (Number(0), Manifest::default()));
    let one = manifest(&["2024-06"]);
    assert_eq!(one.put_after(&place, none).unwrap(), Some(Number(1)));
    assert_eq!(manifest(&["2024-07"]).put_after(&place, none).unwrap(), None);
    assert_eq!(Manifest::newest(&place).unwrap(), (Number(1), one.clone()));
    let two = one.with(month("2024-07", 1));
    assert_eq!(two.put_after(&place, Number(1)).unwrap(), Some(Number(2)));
    // A number that was deleted meanwhile is free, and yet nothing that counts.
    delete_before(&place, Number(2), i64::MAX).unwrap();
    assert_eq!(one.put_after(&place, none).unwrap(), None);
    assert_eq!(Manifest::newest(&place).unwrap(), (Number(2), two));
}
