use std::collections::HashMap;

use mesonet::Iso8601;

use super::super::known_keys::KnownKeys;
use super::*;
use crate::keys::{KeysError, Validity};

#[test]
fn a_key_is_issued_listed_and_revoked() {
    let folder = tempfile::tempdir().unwrap();
    assert!(KeyFile::open(folder.path()).unwrap().is_none());
    let file = KeyFile::create(folder.path()).unwrap();
    let (key, entry) = file.issue("a network", Validity::Year, 1_000).unwrap();
    let (_, endless) = file.issue("another", Validity::Never, 2_000).unwrap();
    let digest = KeyDigest::of(&key).unwrap();
    assert_eq!((entry.id, entry.expires), (digest.id(), Some(Iso8601(1_000 + 365 * 86_400_000))));
    assert_eq!(endless.expires, None);
    let bytes = std::fs::read(path_in(folder.path())).unwrap();
    let holds = |text: &str| bytes.windows(text.len()).any(|part| part == text.as_bytes());
    assert!(!holds(&key) && !holds(&key[12..76]), "the file holds the key");

    file.used(&HashMap::from([(digest, 5_000)])).unwrap();
    file.used(&HashMap::from([(digest, 4_000)])).unwrap();
    let listed = file.list().unwrap();
    assert_eq!(listed.len(), 2);
    assert_eq!(listed[0].last_used, Some(Iso8601(5_000)));

    let revoked = file.revoke(&digest.id(), 6_000).unwrap();
    assert_eq!(revoked.revoked, Some(Iso8601(6_000)));
    assert_eq!(file.revoke(&digest.id(), 7_000).unwrap().revoked, Some(Iso8601(6_000)));
    assert!(matches!(file.revoke("unknown", 7_000), Err(KeysError::Unknown(_))));
    assert_eq!(file.valid().unwrap().len(), 1);
}

#[test]
fn a_label_is_short_and_plain() {
    let folder = tempfile::tempdir().unwrap();
    let file = KeyFile::create(folder.path()).unwrap();
    for bad in ["", "  ", "two\nlines", "a\u{202e}b", "\u{200b}", &"x".repeat(201)] {
        assert!(matches!(file.issue(bad, Validity::Never, 0), Err(KeysError::Label(_))), "{bad:?}");
    }
    file.issue("Réseau météo 気象", Validity::Never, 0).unwrap();
}

#[test]
fn two_commands_at_once_lose_no_key() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    std::thread::scope(|scope| {
        for number in 0..4 {
            scope.spawn(move || {
                for _ in 0..5 {
                    let file = KeyFile::create(data).unwrap();
                    file.issue(&format!("of {number}"), Validity::Never, 0).unwrap();
                }
            });
        }
    });
    assert_eq!(KeyFile::open(data).unwrap().unwrap().list().unwrap().len(), 20);
}

#[test]
fn a_file_of_another_kind_or_version_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = path_in(folder.path());
    std::fs::write(&path, "no database, but somebody's data").unwrap();
    assert!(matches!(KeyFile::create(folder.path()), Err(KeysError::Database { .. })));
    assert_eq!(std::fs::read(&path).unwrap(), b"no database, but somebody's data");
    std::fs::remove_file(&path).unwrap();
    KeyFile::create(folder.path()).unwrap();
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 2).unwrap();
    assert!(matches!(KeyFile::open(folder.path()), Err(KeysError::Version { got: 2, .. })));
}

/// A disk that was full when the first key was issued left such files.
#[test]
fn a_file_without_a_table_holds_no_keys_and_takes_the_first_one() {
    for is_database in [false, true] {
        let (folder, into) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let data = folder.path();
        std::fs::write(path_in(data), "").unwrap();
        if is_database {
            let file = Connection::open(path_in(data)).unwrap();
            file.execute_batch("CREATE TABLE a (b); DROP TABLE a; VACUUM").unwrap();
            assert!(std::fs::metadata(path_in(data)).unwrap().len() > 0);
        }
        assert!(KeyFile::open(data).unwrap().is_none());
        assert!(!KeyFile::copy(data, into.path()).unwrap());
        assert_eq!(KeyFile::check(data), Some(Ok(())));
        let keys = KeyFolder(data.to_owned());
        assert_eq!(keys.list().unwrap().len(), 0);
        assert!(matches!(keys.revoke("unknown", 0), Err(KeysError::Unknown(_))));
        keys.issue("a network", Validity::Never, 0).unwrap();
        assert_eq!(keys.list().unwrap().len(), 1);
    }
}

#[cfg(unix)]
#[test]
fn only_the_owner_can_read_the_file() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    KeyFile::create(folder.path()).unwrap();
    let mode = std::fs::metadata(path_in(folder.path())).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

/// A folder with two keys, the second one revoked, and the key file from before the revocation.
fn issued() -> (tempfile::TempDir, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    let keys = KeyFolder(folder.path().to_owned());
    keys.issue("a network", Validity::Never, 0).unwrap();
    let (_, second) = keys.issue("another", Validity::Never, 0).unwrap();
    let before = std::fs::read(path_in(folder.path())).unwrap();
    keys.revoke(&second.id, 1).unwrap();
    (folder, before)
}

fn is_lost(data: &Path, text: &str) {
    let error = KeyFile::open(data).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains(text), "{error}");
    assert!(matches!(error, KeysError::Lost { .. }));
    assert!(KeyFile::check(data).unwrap().unwrap_err().contains(text));
    // No key is issued while keys are lost.
    let keys = KeyFolder(data.to_owned());
    assert!(keys.issue("a third", Validity::Never, 2).is_err());
    assert!(KnownKeys::new(data).renew().is_err());
}

/// An older copy once made a revoked key valid, and a deleted file went unnoticed.
#[test]
fn keys_that_are_lost_exchanged_or_damaged_are_found_out() {
    let (folder, before) = issued();
    let data = folder.path();
    let newest = std::fs::read(path_in(data)).unwrap();
    assert_eq!(KeyFile::check(data), Some(Ok(())));

    std::fs::write(path_in(data), before).unwrap();
    is_lost(data, "keys or revocations are missing: 3 were counted, 2 are there");
    std::fs::remove_file(path_in(data)).unwrap();
    is_lost(data, "keys or revocations are missing: 3 were counted, 0 are there");
    std::fs::write(path_in(data), &newest).unwrap();
    let file = Connection::open(path_in(data)).unwrap();
    file.execute("UPDATE keys SET expires_ms = 9 WHERE revoked_ms IS NULL", []).unwrap();
    drop(file);
    is_lost(data, "the keys do not match their checksum");
    std::fs::write(path_in(data), &newest).unwrap();
    assert_eq!(KeyFolder(data.to_owned()).list().unwrap().len(), 2);

    let count = super::super::key_count::path_in(data);
    let text = std::fs::read(&count).unwrap();
    for damaged in [&text[..0], &text[..10], &[&text[..], b"0"].concat()] {
        std::fs::write(&count, damaged).unwrap();
        is_lost(data, "keys.count: its checksum does not match");
    }
    // Uses are not changes, and neither is a count that is behind after a kill.
    std::fs::write(&count, &text).unwrap();
    let keys = KeyFolder(data.to_owned());
    keys.issue("a third", Validity::Never, 2).unwrap();
    std::fs::write(&count, &text).unwrap();
    assert_eq!(keys.list().unwrap().len(), 3);
    // A running server updates the count, and notices if keys of that count are lost.
    KnownKeys::new(data).renew().unwrap();
    std::fs::write(path_in(data), &newest).unwrap();
    is_lost(data, "4 were counted, 3 are there");
}

#[test]
fn what_is_left_of_the_keys_is_taken_for_all_by_order() {
    let aside = |data: &Path| data.join("damaged");
    let (folder, before) = issued();
    let data = folder.path();
    std::fs::write(path_in(data), &before).unwrap();
    KeyFile::set_aside(data, &aside(data)).unwrap();
    assert_eq!(KeyFile::check(data), Some(Ok(())));
    assert!(!aside(data).exists());

    std::fs::write(path_in(data), "no database").unwrap();
    assert!(KeyFile::check(data).unwrap().is_err());
    KeyFile::set_aside(data, &aside(data)).unwrap();
    assert_eq!(KeyFile::check(data), None);
    assert_eq!(std::fs::read(aside(data).join(FILE)).unwrap(), b"no database");
    KeyFolder(data.to_owned()).issue("a new beginning", Validity::Never, 0).unwrap();
}

/// While the record cannot be read, a credential that looks like a key may be one.
#[test]
fn a_key_is_not_taken_for_none_while_the_record_cannot_be_read() {
    let (folder, _) = issued();
    let data = folder.path();
    let (key, _) = KeyFolder(data.to_owned()).issue("a third", Validity::Never, 2).unwrap();
    let known = KnownKeys::new(data);
    known.renew().unwrap();
    std::fs::remove_file(path_in(data)).unwrap();
    assert!(known.renew().is_err());
    assert!(known.knows(&key, 3) && !known.is_trusted(), "what is known goes on");
    let begun = KnownKeys::new(data);
    assert!(begun.renew().is_err());
    assert!(begun.may_be(&key) && !begun.may_be("something else"));
}
