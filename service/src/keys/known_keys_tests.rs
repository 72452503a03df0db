use super::*;
use crate::keys::Validity;

#[test]
fn a_running_server_knows_what_a_command_changes() {
    let folder = tempfile::tempdir().unwrap();
    let known = KnownKeys::new(folder.path());
    known.renew().unwrap();
    let file = KeyFile::create(folder.path()).unwrap();
    let (key, entry) = file.issue("x", Validity::Year, 0).unwrap();
    assert!(!known.knows(&key, 1));
    known.renew().unwrap();
    assert!(known.knows(&key, 1));
    let year_ms = 365 * 86_400_000;
    assert!(known.knows(&key, year_ms - 1) && !known.knows(&key, year_ms));
    assert!(!known.knows(&format!("{key}0"), 1) && !known.knows("", 1));

    known.close().unwrap();
    assert_eq!(file.list().unwrap()[0].last_used, Some(mesonet::Iso8601(year_ms - 1)));
    file.revoke(&entry.id, 2).unwrap();
    known.renew().unwrap();
    assert!(!known.knows(&key, 3));
}

#[test]
fn keys_of_a_file_that_is_gone_go_on_and_those_of_one_that_is_replaced_end() {
    let folder = tempfile::tempdir().unwrap();
    let known = KnownKeys::new(folder.path());
    let issue =
        || KeyFile::create(folder.path()).unwrap().issue("x", Validity::Never, 0).unwrap().0;
    let first = issue();
    known.renew().unwrap();
    assert!(known.knows(&first, 1));
    std::fs::rename(path_in(folder.path()), folder.path().join("away")).unwrap();
    assert!(known.renew().is_err());
    assert!(known.knows(&first, 1) && !known.is_trusted());
    KeyFile::set_aside(folder.path(), folder.path()).unwrap();
    known.renew().unwrap();
    assert!(!known.knows(&first, 1) && known.is_trusted());
    let second = issue();
    known.renew().unwrap();
    assert!(!known.knows(&first, 1) && known.knows(&second, 1));
}

#[test]
fn a_damaged_file_is_told_and_the_known_keys_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let known = KnownKeys::new(folder.path());
    let (key, _) = KeyFile::create(folder.path()).unwrap().issue("x", Validity::Never, 0).unwrap();
    known.renew().unwrap();
    let path = path_in(folder.path());
    let bytes = std::fs::read(&path).unwrap();
    // In place, as a failing disk would.
    std::fs::write(&path, vec![0x55; bytes.len()]).unwrap();
    assert!(known.renew().is_err());
    assert!(known.knows(&key, 1));
    std::fs::write(&path, bytes).unwrap();
    known.renew().unwrap();
    assert!(known.knows(&key, 1));
}
