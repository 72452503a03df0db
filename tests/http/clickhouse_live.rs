//! `/live` of servers whose record is in ClickHouse.

use tempfile::TempDir;

use crate::in_clickhouse::{own_database, place, server};
use crate::listener::{Listener, numbers, push_report, start};
use crate::live::{TEMPERATURE, kill_often};

#[test]
fn servers_tell_what_comes_and_go_on_after_a_restart() {
    let Some(url) = server() else { return };
    let (folder, store) = (TempDir::new().unwrap(), place(&own_database(&url)));
    // It keeps what it has told in a folder of its own, if there is one.
    std::fs::create_dir(folder.path().join("reader")).unwrap();
    let writes = ["--store", &*store];
    let reads = [&writes[..], &["--read-only", "true", "--data", "reader"]].concat();
    let (writer, reader) = (start(&folder, &writes), start(&folder, &reads));
    let listen = |of, id: Option<&str>| {
        let mut listener = Listener::of(of, TEMPERATURE, id).unwrap();
        assert_eq!(listener.next().unwrap().name, "position");
        listener
    };
    let mut listeners = [writer.address(), reader.address()].map(|of| listen(of, None));
    push_report(writer.address(), 0).unwrap();
    push_report(writer.address(), 1).unwrap();
    let mut ids = Vec::new();
    for listener in &mut listeners {
        let events = [(); 2].map(|()| listener.next().unwrap());
        assert_eq!(events.each_ref().map(numbers), [[0], [1]]);
        ids.push(events[0].id.clone());
    }
    // The reader has its own ids, and goes on when another writer takes over.
    let [_, mut of_reader] = listeners;
    writer.kill();
    let writer = start(&folder, &writes);
    push_report(writer.address(), 2).unwrap();
    assert_eq!(numbers(&of_reader.next().unwrap()), [2]);
    assert_eq!(reader.stop().0, Some(0));
    let reader = start(&folder, &reads);
    push_report(writer.address(), 3).unwrap();
    for (of, id) in [writer.address(), reader.address()].into_iter().zip(&ids) {
        let mut listener = listen(of, Some(id));
        assert_eq!([(); 3].map(|()| numbers(&listener.next().unwrap())), [[1], [2], [3]]);
    }
}

#[test]
fn kills_of_the_writer_lose_and_double_no_event() {
    let Some(url) = server() else { return };
    let store = place(&own_database(&url));
    kill_often(&TempDir::new().unwrap(), &["--store", &store], 150, 5);
}
