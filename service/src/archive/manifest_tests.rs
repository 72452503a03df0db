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

fn manifest(months: &[&str]) -> ArchiveManifest {
    let months = months.iter().map(|text| month(text, 1)).collect();
    ArchiveManifest { record: "0123456789abcdef".to_owned(), months }
}

#[test]
fn a_manifest_is_read_as_it_was_written_and_damage_is_found_wherever_it_is() {
    let manifest = manifest(&["2024-07", "2024-08"]);
    let bytes = manifest.encode();
    assert_eq!(ArchiveManifest::decode(&bytes, Number(3)).unwrap(), manifest);
    for at in 0..bytes.len() {
        let mut bytes = bytes.clone();
        bytes[at] ^= 1;
        match ArchiveManifest::decode(&bytes, Number(3)) {
            Err(_) => {}
            // White space, or the number of the format, which is checked separately.
            Ok(read) => assert_eq!(read, manifest, "{at}"),
        }
        assert!(ArchiveManifest::decode(&bytes[..at], Number(3)).is_err());
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
fn of_two_who_write_after_the_same_manifest_one_is_refused() {
    let folder = TempDir::new().unwrap();
    let place = ObjectPlace::create(&folder.path().display().to_string()).unwrap();
    let (none, empty) = ArchiveManifest::newest(&place).unwrap();
    assert_eq!((none, empty), (Number(0), ArchiveManifest::default()));
    let one = manifest(&["2024-06"]);
    assert_eq!(one.put_after(&place, none).unwrap(), Some(Number(1)));
    assert_eq!(manifest(&["2024-07"]).put_after(&place, none).unwrap(), None);
    assert_eq!(ArchiveManifest::newest(&place).unwrap(), (Number(1), one.clone()));
    let two = one.with(month("2024-07", 1));
    assert_eq!(two.put_after(&place, Number(1)).unwrap(), Some(Number(2)));
    // A deleted number is free, but a manifest under it is not valid.
    std::fs::remove_file(folder.path().join(FOLDER).join("0000000001.json")).unwrap();
    assert_eq!(one.put_after(&place, none).unwrap(), None);
    assert_eq!(ArchiveManifest::newest(&place).unwrap(), (Number(2), two));
}

/// However old they are: if the newest is damaged, there is one to go back to.
#[test]
fn the_last_manifests_stay() {
    let folder = TempDir::new().unwrap();
    let place = ObjectPlace::create(&folder.path().display().to_string()).unwrap();
    let mut number = Number::default();
    for _ in 0..KEPT + 3 {
        number = manifest(&["2024-06"]).put_after(&place, number).unwrap().unwrap();
    }
    delete_before(&place, number, i64::MAX).unwrap();
    let left = std::fs::read_dir(folder.path().join(FOLDER)).unwrap().count() as u64;
    assert_eq!(left, KEPT + 1);
    assert_eq!(ArchiveManifest::newest(&place).unwrap().0, number);
}

/// Somebody has moved old manifests to a subfolder, or a disk has a folder of snapshots. Only
/// manifests directly in the folder are valid.
#[test]
fn a_manifest_elsewhere_does_not_count() {
    let folder = TempDir::new().unwrap();
    let place = ObjectPlace::create(&folder.path().display().to_string()).unwrap();
    let one = manifest(&["2024-06"]).put_after(&place, Number::default()).unwrap().unwrap();
    let two = manifest(&["2024-07"]).put_after(&place, one).unwrap().unwrap();
    let manifests = folder.path().join(FOLDER);
    std::fs::create_dir(manifests.join("old")).unwrap();
    let name = two.to_string();
    let name = name.strip_prefix("manifests/").unwrap();
    std::fs::rename(manifests.join(name), manifests.join("old").join(name)).unwrap();
    assert_eq!(ArchiveManifest::newest(&place).unwrap().0, one);
}
