use proptest::prelude::*;

use super::*;

fn entry(path: &str) -> ManifestEntry {
    let sha256 = hex_sha256(path.as_bytes());
    ManifestEntry {
        path: path.to_owned(),
        length: path.len() as u64,
        sha256,
        zstd_bytes: None,
        mark: "7-8-9".to_owned(),
        modified_ns: Some(1_722_711_600_123_456_789),
    }
}

fn manifest() -> BackupManifest {
    let mut files: Vec<ManifestEntry> =
        ["mesonet.sqlite", "segments/00000001.arrow", "fetch/a b.json"].map(entry).to_vec();
    files.sort_by(|one, other| one.path.cmp(&other.path));
    files[1].zstd_bytes = Some(12);
    files[0].mark = String::new();
    files[0].modified_ns = None;
    BackupManifest {
        time: 1_722_711_600_123,
        version: "0.1.0".to_owned(),
        folder: "/srv/mesonet".to_owned(),
        writer: "0123456789abcdef".to_owned(),
        files,
        left_out: vec![],
    }
}

#[test]
fn a_manifest_is_read_as_it_was_written() {
    let text = manifest().encode();
    assert_eq!(BackupManifest::decode(&text), Ok(manifest()));
    assert!(text.starts_with(b"mesonet-backup 2\n{\"time\":\"2024-08-03T19:00:00.123Z\","));
    let held_back = BackupManifest { left_out: vec!["models/hrrr".to_owned()], ..manifest() };
    assert_eq!(BackupManifest::decode(&held_back.encode()), Ok(held_back));
}

/// Programs before the second version wrote the same, without compressed objects.
#[test]
fn a_manifest_of_the_first_version_is_read() {
    let text = concat!(
        "mesonet-backup 1\n",
        r#"{"time":"2024-08-03T19:00:00.123Z","version":"0.1.0","folder":"/srv","writer":"0123456789abcdef","#,
        r#""files":[{"path":"mesonet.count","length":30,"#,
        r#""sha256":"3b28b1663a084f36110eaa7c0d3c38bcb53e4ab45d4b7f47b1768ee2f33514f7"}]}"#,
        "\n",
    );
    let text = format!("{text}{}\n", hex_sha256(text.as_bytes()));
    let manifest = BackupManifest::decode(text.as_bytes()).unwrap();
    let file = &manifest.files[0];
    assert_eq!((file.object_name(), file.object_bytes()), (file.sha256.clone(), 30));
    let packed = ManifestEntry { zstd_bytes: Some(39), ..file.clone() };
    let name = format!("{}.zst", file.sha256);
    assert_eq!((packed.object_name(), packed.object_bytes()), (name, 39));
}

/// Every change of a byte, and every cut, is found.
#[test]
fn a_changed_or_cut_manifest_is_refused() {
    let whole = manifest().encode();
    for at in 0..whole.len() {
        for bit in [1, 0x10, 0x80] {
            let mut changed = whole.clone();
            changed[at] ^= bit;
            assert!(BackupManifest::decode(&changed).is_err(), "byte {at}");
        }
        assert!(BackupManifest::decode(&whole[..at]).is_err(), "cut at {at}");
    }
    let longer = [&whole[..], b"\n"].concat();
    assert!(BackupManifest::decode(&longer).is_err());
    let cause = BackupManifest::decode(&whole[..whole.len() - 40]).unwrap_err().to_string();
    assert!(cause.starts_with("is damaged: it "), "{cause}");
}

#[test]
fn a_newer_format_is_named_even_if_nothing_else_is_known_of_it() {
    let text = b"mesonet-backup 12\nwhatever";
    assert_eq!(BackupManifest::decode(text), Err(ManifestError::Newer { got: 12 }));
    assert_eq!(
        ManifestError::Newer { got: 12 }.to_string(),
        "has format 12; this version reads formats up to 2: use a newer mesonet-server"
    );
}

/// A manifest whose checksum is right may still have been made by someone else.
#[test]
fn a_manifest_cannot_name_files_outside_the_folder() {
    for path in [
        "../a",
        "/etc/passwd",
        "a/../../b",
        "a//b",
        "a/",
        "",
        ".",
        "a\\..\\b",
        "c:/a",
        "a/./b",
        "a\0b",
    ] {
        let bad = BackupManifest { files: vec![entry(path)], ..manifest() };
        let error = BackupManifest::decode(&bad.encode()).unwrap_err();
        assert!(
            error.to_string().ends_with("is not the path of a file in a data folder"),
            "{path}"
        );
    }
    let twice = BackupManifest { files: vec![entry("a"), entry("a")], ..manifest() };
    assert!(
        BackupManifest::decode(&twice.encode()).unwrap_err().to_string().contains("named twice")
    );
    let mut no_checksum = manifest();
    no_checksum.files[1].sha256 = "../../../x".to_owned();
    assert!(
        BackupManifest::decode(&no_checksum.encode())
            .unwrap_err()
            .to_string()
            .contains("no SHA-256")
    );
}

proptest! {
    #[test]
    fn any_bytes_are_refused_or_read(bytes: Vec<u8>) {
        let _ = BackupManifest::decode(&bytes);
        let _ = BackupManifest::decode(&[b"mesonet-backup 1\n", &bytes[..]].concat());
    }

    #[test]
    fn any_files_are_read_as_they_were_written(
        paths in prop::collection::btree_set("[a-z0-9.]{1,8}(/[a-zA-Z0-9._ é-]{1,8}){0,3}", 0..6),
        time in 0_i64..4_102_444_800_000,
    ) {
        let files: Vec<ManifestEntry> = paths.iter().map(|path| entry(path)).collect();
        let are_inside = paths.iter().all(|path| is_inside(path));
        let one = BackupManifest { time, files, ..manifest() };
        let read = BackupManifest::decode(&one.encode());
        if are_inside {
            prop_assert_eq!(read, Ok(one));
        } else {
            prop_assert!(read.is_err());
        }
    }
}
