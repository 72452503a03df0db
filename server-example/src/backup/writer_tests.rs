use std::fs;
use std::path::PathBuf;
use std::thread;

use tempfile::TempDir;

use super::*;

/// A place and the folders of two records.
fn two_records() -> (TempDir, Place, PathBuf, PathBuf) {
    let folder = TempDir::new().unwrap();
    let place = Place::create(folder.path().join("place").to_str().unwrap()).unwrap();
    let [one, other] = ["one", "other"].map(|name| folder.path().join(name));
    for data in [&one, &other] {
        fs::create_dir(data).unwrap();
    }
    (folder, place, one, other)
}

fn refusal<T: std::fmt::Debug>(result: Result<T, BackupError>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn a_record_keeps_its_name_and_its_place() {
    let (_folder, place, one, _) = two_records();
    let first = turn(&place, &one).unwrap();
    assert_eq!((first.epoch, first.number, first.writer.len()), (1, 1, 16));
    assert_eq!(turn(&place, &one).unwrap(), first);
    check_turn(&place, &first).unwrap();
    assert_eq!(take_over(&place, &one).unwrap(), 1);
    assert_eq!(fs::read_to_string(one.join(FILE)).unwrap(), format!("{}\n", first.writer));
}

/// A record that was replaced writes nothing to the place any more, and is told by whom.
#[test]
fn a_record_that_was_replaced_is_refused_by_name() {
    let (_folder, place, one, other) = two_records();
    let first = turn(&place, &one).unwrap();
    let text = refusal(turn(&place, &other));
    assert!(text.contains(&format!("that of {}, since 2", one.display())), "{text}");
    assert!(text.contains("(epoch 1)") && text.contains("--take-over"), "{text}");
    assert_eq!(take_over(&place, &other).unwrap(), 2);
    let second = turn(&place, &other).unwrap();
    assert_eq!((second.epoch, second.number), (2, 1));
    for text in [refusal(turn(&place, &one)), refusal(check_turn(&place, &first))] {
        assert!(text.contains(&format!("that of {}, since 2", other.display())), "{text}");
        assert!(text.contains("(epoch 2)"), "{text}");
    }
    assert_eq!(take_over(&place, &one).unwrap(), 3);
}

#[test]
fn of_two_that_take_over_at_once_one_wins() {
    let (folder, place, one, other) = two_records();
    turn(&place, &one).unwrap();
    for round in 0..8 {
        let racers = [0, 1, 2].map(|racer| folder.path().join(format!("{round}-{racer}")));
        let won: Vec<bool> = thread::scope(|scope| {
            let runs = racers.each_ref().map(|data| {
                fs::create_dir(data).unwrap();
                let place = &place;
                scope.spawn(move || claim(place, data, &of_folder(data).unwrap(), round + 2))
            });
            runs.into_iter().map(|run| run.join().unwrap().is_ok()).collect()
        });
        assert_eq!(won.iter().filter(|&&won| won).count(), 1, "{won:?}");
    }
    assert!(refusal(turn(&place, &other)).contains("(epoch 9)"));
}

/// Two first backups of one record at once are of one name.
#[test]
fn a_name_is_made_once() {
    let (_folder, place, one, _) = two_records();
    let turns: Vec<Turn> = thread::scope(|scope| {
        let runs: Vec<_> = (0..8).map(|_| scope.spawn(|| turn(&place, &one).unwrap())).collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    });
    assert!(turns.iter().all(|turn| *turn == turns[0]), "{turns:?}");
}

/// Damage to what tells them apart lets nobody write by mistake.
#[test]
fn a_claim_that_is_damaged_or_deleted_is_nobodys() {
    let (folder, place, one, _) = two_records();
    turn(&place, &one).unwrap();
    let claim = folder.path().join("place/writers/0001");
    fs::write(&claim, "{").unwrap();
    assert!(
        refusal(turn(&place, &one)).contains("one that is not known: writers/0001 is damaged: ")
    );
    fs::remove_file(&claim).unwrap();
    let name = Name { epoch: 1, number: 1, time_ms: 0, random: 0 };
    place.put_new(&format!("backups/{name}"), Vec::new()).unwrap();
    let text = refusal(turn(&place, &one));
    assert!(text.contains("one that is not known: writers/0001 is missing"), "{text}");
    assert_eq!(take_over(&place, &one).unwrap(), 2);
    fs::write(one.join(FILE), "not ours").unwrap();
    assert!(refusal(turn(&place, &one)).contains("writer: it is damaged; delete it"));
}

/// A folder that was unmounted, or moved away and made anew: what was sent to it is not there.
#[test]
fn a_place_that_was_exchanged_for_an_empty_one_is_not_written_to() {
    let (folder, place, one, _) = two_records();
    let first = turn(&place, &one).unwrap();
    fs::rename(place.address(), folder.path().join("away")).unwrap();
    fs::create_dir(place.address()).unwrap();
    let text = refusal(check_turn(&place, &first));
    assert!(text.contains("nobody has claimed it any more"), "{text}");
}

/// Such a file was put there by somebody else: after it there would be epoch 0, older than all.
#[test]
fn no_record_takes_over_after_the_last_epoch() {
    let (folder, data) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let place = Place::create(folder.path().to_str().unwrap()).unwrap();
    std::fs::create_dir(folder.path().join("writers")).unwrap();
    std::fs::write(folder.path().join("writers/4294967295"), "{}").unwrap();
    let error = take_over(&place, data.path()).unwrap_err().to_string();
    assert!(error.contains("writers/4294967295 or a backup of its number is the last"), "{error}");
    assert_eq!(std::fs::read_dir(folder.path().join("writers")).unwrap().count(), 1);
}
