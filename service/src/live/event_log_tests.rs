use std::fs;

use super::*;

fn item(name: &str, state: &str) -> Item {
    Item { name: name.to_owned(), state: state.to_owned() }
}

fn numbers(items: &[NumberedItem]) -> Vec<(u64, &str)> {
    items.iter().map(|item| (item.number, &*item.name)).collect()
}

fn at(batch: u64, item: u64) -> Position {
    Position { batch: (batch, 0), item }
}

#[test]
fn each_change_has_a_number_that_never_comes_again() {
    let folder = tempfile::tempdir().unwrap();
    let log = EventLog::open(folder.path(), 0, "").unwrap();
    let changed = log.update(Topic::Alerts, &[item("a", "1"), item("b", "1")]).unwrap();
    assert_eq!(numbers(&changed), [(1, "a"), (2, "b")]);
    assert_eq!(log.update(Topic::Alerts, &[item("a", "1"), item("b", "1")]).unwrap(), []);
    // Names of different topics are different items.
    let changed = log.update(Topic::Runs, &[item("a", "1")]).unwrap();
    assert_eq!(numbers(&changed), [(3, "a")]);
    drop(log);
    let log = EventLog::open(folder.path(), 0, "").unwrap();
    assert_eq!(log.last(), 3);
    let changed = log.update(Topic::Alerts, &[item("a", "2"), item("b", "1")]).unwrap();
    assert_eq!(numbers(&changed), [(4, "a")]);
    // The last change of each counts; what is gone is forgotten.
    let (after, last) = log.items_after(1);
    assert_eq!((numbers(&after), last), (vec![(2, "b"), (3, "a"), (4, "a")], 4));
    assert_eq!(log.update(Topic::Alerts, &[]).unwrap(), []);
    let (after, last) = log.items_after(0);
    assert_eq!((numbers(&after), last), (vec![(3, "a")], 4));
    drop(log);
    assert_eq!(EventLog::open(folder.path(), 0, "").unwrap().last(), 4);
}

#[test]
fn an_id_is_known_up_to_where_the_next_server_began() {
    let folder = tempfile::tempdir().unwrap();
    let first = EventLog::open(folder.path(), 10, "r").unwrap();
    let start = first.id(at(0, 0)).start;
    let id = |batch, item| EventId { start, position: at(batch, item) };
    assert_eq!(first.reach(id(12, 0), &at(12, 0)).unwrap(), Reach::Known);
    assert_eq!(first.reach(id(13, 0), &at(12, 0)).unwrap(), Reach::Undone);
    assert_eq!(first.reach(id(12, 1), &at(12, 0)).unwrap(), Reach::Undone);
    drop(first);
    let second = EventLog::open(folder.path(), 12, "r").unwrap();
    let third = EventLog::open(folder.path(), 20, "r").unwrap();
    for log in [&second, &third] {
        assert_eq!(log.reach(id(12, 0), &at(20, 0)).unwrap(), Reach::Known);
        let part = EventId { start, position: Position { batch: (11, 7), item: 0 } };
        assert_eq!(log.reach(part, &at(20, 0)).unwrap(), Reach::Known);
        // The first one told more than the second one found: a copy of the folder was put back.
        assert_eq!(log.reach(id(13, 0), &at(20, 0)).unwrap(), Reach::Undone);
    }
    let unknown = EventId { start: start ^ 1, position: at(0, 0) };
    assert_eq!(third.reach(unknown, &at(20, 0)).unwrap(), Reach::OfAnother);
    // A record that went back while the server runs begins anew.
    let before = third.id(at(20, 0));
    third.begin(15, "r").unwrap();
    assert_eq!(third.reach(before, &at(30, 0)).unwrap(), Reach::Undone);
    assert_eq!(third.reach(third.id(at(15, 0)), &at(30, 0)).unwrap(), Reach::Known);
    // Another record has numbers of its own.
    let other = EventLog::open(folder.path(), 20, "another").unwrap();
    assert_eq!(other.reach(id(12, 0), &at(20, 0)).unwrap(), Reach::OfAnother);
}

#[test]
fn old_starts_are_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let first = EventLog::open(folder.path(), 0, "").unwrap().id(at(0, 0)).start;
    let log = EventLog::open(folder.path(), 0, "").unwrap();
    {
        let inner = lock(&log.inner);
        let sql = "INSERT INTO start (id, name, batch, item, record) VALUES (?, 5, 0, 0, '')";
        inner.connection.execute(sql, [STARTS + 1]).unwrap();
    }
    let id = EventId { start: first, position: at(0, 0) };
    assert_eq!(log.reach(id, &at(0, 0)).unwrap(), Reach::Known);
    let last = EventLog::open(folder.path(), 0, "").unwrap();
    assert_eq!(last.reach(id, &at(0, 0)).unwrap(), Reach::OfAnother);
}

#[test]
fn notes_that_cannot_be_used_are_set_aside() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILE);
    for round in 1..=2 {
        fs::write(&path, "no database, but longer than the head of one".repeat(10)).unwrap();
        let log = EventLog::open(folder.path(), 0, "").unwrap();
        assert_eq!(log.last(), 0);
        let aside = folder.path().join(format!("{FILE}.damaged-{round}"));
        assert!(fs::read_to_string(aside).unwrap().starts_with("no database"));
        drop(log);
    }
    // A later version is not ours to change.
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let log = EventLog::open(folder.path(), 0, "").unwrap();
    assert_eq!(log.last(), 0);
    assert!(folder.path().join(format!("{FILE}.damaged-3")).exists());
    let missing = folder.path().join("missing");
    assert!(EventLog::open(&missing, 0, "").is_err());
    assert!(!missing.exists());
    assert_eq!(EventLog::in_memory(3).unwrap().last(), 0);
}
