use super::*;
use crate::alert;

fn message(id: &str, sent_ms: i64) -> alert::Message {
    let part = alert::Part { expires_ms: Some(sent_ms + 10), ..alert::Part::default() };
    alert::Message { id: id.to_owned(), sent_ms, parts: vec![part], ..alert::Message::default() }
}

fn ids(store: &AlertStore) -> Vec<String> {
    store.record().messages.iter().map(|message| message.id.clone()).collect()
}

#[test]
fn messages_are_kept_once_sorted_by_the_time_they_were_sent() {
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
fn of_two_messages_with_one_id_the_same_one_is_kept_in_either_order() {
    let later = message("a", 11);
    let other = alert::Message { sender: "x".to_owned(), ..message("a", 10) };
    let kept = |order: &[&alert::Message]| {
        let store = AlertStore::default();
        for message in order {
            store.append(vec![(*message).clone()]).unwrap();
        }
        alert::Message::clone(&store.record().messages[0])
    };
    let first = message("a", 10);
    assert_eq!(kept(&[&first, &later]), later);
    assert_eq!(kept(&[&later, &first]), later);
    assert_eq!(kept(&[&first, &other]), kept(&[&other, &first]));
}

#[test]
fn alerts_that_ended_long_ago_are_dropped() {
    let store = AlertStore::default();
    let open = alert::Message { parts: vec![], ..message("open", 0) };
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
    fn appended_alerts_survive_reopening_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let store = open(folder.path());
        store.append(vec![message("a", 10), message("b", 0), message("c", 30)]).unwrap();
        // Not closed, as if the process had been killed.
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
    fn a_damaged_message_is_reported_and_the_others_are_read() {
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
        assert_eq!(fault.to_string(), "alerts.sqlite, alert a: it is corrupt");
        assert_eq!(ids(&store), ["b"]);
        let report = EmbeddedStore::verify(folder.path(), false).unwrap();
        assert_eq!((report.alerts, report.faults), (1, faults));
        // The message comes again.
        assert_eq!(store.append(vec![message("a", 10)]).unwrap().added, 1);
        assert_eq!(EmbeddedStore::verify(folder.path(), false).unwrap().alerts, 2);
    }

    /// A row as it was written before onset, severity, codes and the link were read.
    #[test]
    fn an_older_row_is_read_without_the_newer_fields_and_completed_when_it_comes_again() {
        let folder = tempfile::tempdir().unwrap();
        let text = alert::Text { web: Some("https://a.org".into()), ..alert::Text::default() };
        let part = alert::Part {
            texts: vec![text],
            onset_ms: Some(5),
            severity: Some(alert::Severity::Severe),
            urgency: Some(alert::Urgency::Expected),
            certainty: Some(alert::Certainty::Likely),
            impact: alert::Impact::High,
            alert_type: alert::Type::Watch,
            event_codes: [("SAME".to_owned(), vec!["SVA".to_owned()])].into(),
            same_codes: ["039063".to_owned()].into(),
            ..message("a", 10).parts[0].clone()
        };
        let full = alert::Message { parts: vec![part], ..message("a", 10) };
        let mut row = serde_json::to_value(&full).unwrap();
        let part = row["parts"][0].as_object_mut().unwrap();
        for name in ["onset_ms", "severity", "urgency", "certainty", "event_codes", "same_codes"] {
            assert!(part.remove(name).is_some(), "{name}");
        }
        part["impact"] = "Unknown".into();
        part["alert_type"] = "Unknown".into();
        assert!(part["texts"][0].as_object_mut().unwrap().remove("web").is_some());
        let older: alert::Message = serde_json::from_value(row.clone()).unwrap();
        open(folder.path()).append(vec![older.clone()]).unwrap();
        // The very bytes of the older row, under its checksum.
        let path = folder.path().join("alerts.sqlite");
        let database = rusqlite::Connection::open(path).unwrap();
        let bytes = crate::store::embedded::alert_file::checked(serde_json::to_vec(&row).unwrap());
        assert_eq!(database.execute("UPDATE alert SET message = ?", [bytes]).unwrap(), 1);
        drop(database);

        let store = open(folder.path());
        assert_eq!(*store.record().messages[0], older);
        assert_eq!(older.parts[0].severity, None);
        assert_eq!(store.append(vec![full.clone()]).unwrap().replaced, 1);
        // A newer message is not replaced by an older one.
        assert_eq!(store.append(vec![older]).unwrap().known, 1);
        drop(store);
        assert_eq!(*open(folder.path()).record().messages[0], full);
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
        assert!(error.ends_with("has schema version 7; this version reads 3"), "{error}");
    }
}
