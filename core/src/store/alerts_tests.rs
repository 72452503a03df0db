use super::*;
use crate::alert::AlertPart;

fn message(id: &str, sent_ms: i64) -> AlertMessage {
    let part = AlertPart { expires_ms: Some(sent_ms + 10), ..AlertPart::default() };
    AlertMessage { id: id.to_owned(), sent_ms, parts: vec![part], ..AlertMessage::default() }
}

fn ids(store: &AlertStore) -> Vec<String> {
    store.record().messages.iter().map(|message| message.id.clone()).collect()
}

#[test]
fn messages_are_kept_by_the_time_they_were_sent_and_once() {
    let store = AlertStore::default();
    let all = vec![message("b", 20), message("a", 20), message("c", 10), message("b", 20)];
    let receipt = store.append(all.clone()).unwrap();
    assert_eq!(receipt, AlertReceipt { added: 3, replaced: 0, known: 1 });
    assert_eq!(ids(&store), ["c", "a", "b"]);
    let generation = store.record().generation;
    assert_eq!(store.append(all).unwrap(), AlertReceipt { added: 0, replaced: 0, known: 4 });
    assert_eq!(store.record().generation, generation, "nothing has changed");
}

#[test]
fn of_two_messages_of_one_id_the_same_one_stays_whichever_comes_first() {
    let later = message("a", 11);
    let other = AlertMessage { sender: "x".to_owned(), ..message("a", 10) };
    let kept = |order: &[&AlertMessage]| {
        let store = AlertStore::default();
        for message in order {
            store.append(vec![(*message).clone()]).unwrap();
        }
        AlertMessage::clone(&store.record().messages[0])
    };
    let first = message("a", 10);
    assert_eq!(kept(&[&first, &later]), later);
    assert_eq!(kept(&[&later, &first]), later);
    assert_eq!(kept(&[&first, &other]), kept(&[&other, &first]));
}

#[test]
fn what_was_over_long_ago_is_given_up() {
    let store = AlertStore::default();
    let open = AlertMessage { parts: vec![], ..message("open", 0) };
    store.append(vec![message("a", 0), message("b", 10), open]).unwrap();
    assert_eq!(store.expire(10).unwrap(), 0);
    assert_eq!(store.expire(11).unwrap(), 1);
    assert_eq!(ids(&store), ["open", "b"]);
    assert_eq!(store.expire(OPEN_MS).unwrap(), 1);
    assert_eq!(store.expire(OPEN_MS + 1).unwrap(), 1);
    assert_eq!(ids(&store), [""; 0]);
}

#[cfg(feature = "embedded")]
mod on_disk {
    use super::*;
    use crate::store::{EmbeddedOptions, EmbeddedStore};

    fn open(dir: &std::path::Path) -> AlertStore {
        let (store, faults) = AlertStore::open(dir).unwrap();
        assert_eq!(faults, []);
        store
    }

    #[test]
    fn what_was_appended_is_there_when_the_folder_is_opened_again() {
        let folder = tempfile::tempdir().unwrap();
        let store = open(folder.path());
        store.append(vec![message("a", 10), message("b", 0), message("c", 30)]).unwrap();
        // Not closed: as if the process had been killed.
        std::mem::forget(store);
        let store = open(folder.path());
        assert_eq!(ids(&store), ["b", "a", "c"]);
        assert_eq!(*store.record().messages[1], message("a", 10));
        assert_eq!(store.append(vec![message("a", 10)]).unwrap().known, 1);
        assert_eq!(store.expire(15).unwrap(), 1);
        drop(store);
        assert_eq!(ids(&open(folder.path())), ["a", "c"]);
    }

    #[test]
    fn a_damaged_message_is_named_and_the_others_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let embedded = EmbeddedStore::open(folder.path(), EmbeddedOptions::default()).unwrap();
        drop(embedded);
        open(folder.path()).append(vec![message("a", 10), message("b", 0)]).unwrap();
        let path = folder.path().join("alerts.sqlite");
        let database = rusqlite::Connection::open(path).unwrap();
        let sql = "UPDATE alert SET message = x'00' || message WHERE id = 'a'";
        assert_eq!(database.execute(sql, []).unwrap(), 1);
        drop(database);
        let (store, faults) = AlertStore::open(folder.path()).unwrap();
        let [fault] = &*faults else { panic!("{faults:?}") };
        assert_eq!(fault.to_string(), "alerts.sqlite, alert a: it is not as it was written");
        assert_eq!(ids(&store), ["b"]);
        let report = EmbeddedStore::verify(folder.path(), false).unwrap();
        assert_eq!((report.alerts, report.faults), (1, faults));
        // The message comes again.
        assert_eq!(store.append(vec![message("a", 10)]).unwrap().added, 1);
        assert_eq!(EmbeddedStore::verify(folder.path(), false).unwrap().alerts, 2);
    }

    #[test]
    fn a_file_of_another_version_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        drop(open(folder.path()));
        let path = folder.path().join("alerts.sqlite");
        let database = rusqlite::Connection::open(path).unwrap();
        database.pragma_update(None, "user_version", 7).unwrap();
        drop(database);
        let error = AlertStore::open(folder.path()).unwrap_err().to_string();
        assert!(error.ends_with("has schema version 7; this version reads 2"), "{error}");
    }
}
