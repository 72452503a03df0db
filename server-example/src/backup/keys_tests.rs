use tempfile::TempDir;

use super::super::writer::take_over;
use super::*;
use crate::credentials::{KeyRecord, Validity};

/// A place, the folder of a record whose turn it is, and the folder of a follower.
struct Shared {
    folder: TempDir,
    place: Place,
    data: PathBuf,
}

impl Shared {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let place = Place::create(folder.path().join("place").to_str().unwrap()).unwrap();
        let data = folder.path().join("data");
        for name in ["data", "follower", "other"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        Self { folder, place, data }
    }

    fn issue(&self) -> String {
        KeyFile::create(&self.data).unwrap().issue("a", Validity::Never, 0).unwrap().1.id
    }

    fn revoke(&self, id: &str) {
        KeyFile::open(&self.data).unwrap().unwrap().revoke(id, 1).unwrap();
    }

    fn send(&self) -> bool {
        send_keys(self.place.address(), &self.data).unwrap()
    }

    fn follower(&self) -> PathBuf {
        self.folder.path().join("follower")
    }

    fn mirror(&self) -> KeyMirror {
        KeyMirror::open(self.place.address(), &self.follower()).unwrap()
    }

    /// How many keys the follower takes for valid.
    fn valid(&self) -> usize {
        KeyFile::open(&self.follower()).unwrap().map_or(0, |file| file.valid().unwrap().len())
    }

    fn objects(&self) -> Vec<PathBuf> {
        let folder = Path::new(self.place.address()).join(FOLDER);
        let mut found: Vec<PathBuf> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        found.sort();
        found
    }
}

fn name(mirror: &KeyMirror) -> Option<KeysName> {
    mirror.held.map(|held| held.name)
}

#[test]
fn a_follower_has_the_keys_as_soon_as_they_are_sent() {
    let shared = Shared::new();
    let mut mirror = shared.mirror();
    assert!(!mirror.look().unwrap());
    assert!(!shared.send(), "no key was ever issued");
    let id = shared.issue();
    assert!(shared.send());
    assert!(!shared.send(), "nothing has changed");
    assert!(mirror.look().unwrap());
    assert!(!mirror.look().unwrap());
    assert_eq!(shared.valid(), 1);
    shared.revoke(&id);
    assert!(shared.send() && mirror.look().unwrap());
    assert_eq!(shared.valid(), 0);
    // After a restart it knows which they are.
    assert!(!shared.mirror().look().unwrap());
    // When they were used is nothing that followers need to know.
    shared.issue();
    shared.send();
    let file = KeyFile::open(&shared.data).unwrap().unwrap();
    let used = file.valid().unwrap().into_keys().map(|digest| (digest, 5)).collect();
    file.used(&used).unwrap();
    assert!(!shared.send());
}

/// What was put back, cut short or deleted changes nothing of what is known.
#[test]
fn an_older_or_damaged_object_is_not_taken() {
    let shared = Shared::new();
    let id = shared.issue();
    shared.send();
    let old = fs::read(&shared.objects()[0]).unwrap();
    let mut mirror = shared.mirror();
    mirror.look().unwrap();
    shared.revoke(&id);
    shared.send();
    mirror.look().unwrap();
    let [first, second] = <[PathBuf; 2]>::try_from(shared.objects()).unwrap();

    // The newer one is deleted, and the older one put back.
    let whole = fs::read(&second).unwrap();
    fs::remove_file(&second).unwrap();
    let refused = mirror.look().unwrap_err().to_string();
    assert!(
        refused.contains("are 0001-00000001; those here are 0001-00000002 and stay"),
        "{refused}"
    );
    fs::remove_file(&first).unwrap();
    let refused = shared.mirror().look().unwrap_err().to_string();
    assert!(refused.contains("are gone; those here are 0001-00000002 and stay"), "{refused}");
    assert_eq!(shared.valid(), 0);

    // Half of one, another one under its name, or none.
    let third = second.with_file_name("0001-00000003");
    let other = [&whole[..=FIRST_LINE.len()], &old[FIRST_LINE.len() + 1..whole.len() / 2]].concat();
    for bad in [&whole[..whole.len() / 2], &whole[..20], b"", b"mesonet-keys 2\n\n\n", &other] {
        fs::write(&third, bad).unwrap();
        let refused = mirror.look().unwrap_err().to_string();
        assert!(refused.contains("cannot be used: keys/0001-00000003 "), "{refused}");
        assert_eq!(shared.valid(), 0);
    }
    // The next one replaces it, also if nothing has changed.
    assert!(shared.send() && mirror.look().unwrap());
    assert_eq!((shared.valid(), mirror.held.unwrap().name.number), (0, 4));
}

/// A record that was replaced can give followers no key and keep none valid, whatever the clocks say
/// and however high its numbers are.
#[test]
fn the_keys_of_a_record_that_was_replaced_are_not_taken() {
    let shared = Shared::new();
    let id = shared.issue();
    shared.send();
    let mut mirror = shared.mirror();
    mirror.look().unwrap();
    let old = fs::read(&shared.objects()[0]).unwrap();

    let other = shared.folder.path().join("other");
    assert_eq!(take_over(&shared.place, &other).unwrap(), 2);
    shared.issue();
    let refused = send_keys(shared.place.address(), &shared.data).unwrap_err().to_string();
    assert!(refused.contains("(epoch 2)"), "{refused}");
    // One that was under way all the same.
    fs::write(shared.objects()[0].with_file_name("0001-00000099"), &old).unwrap();
    assert!(!mirror.look().unwrap(), "those here stay until the new record has put some there");
    assert_eq!((shared.valid(), name(&mirror)), (1, Some(KeysName { epoch: 1, number: 1 })));

    // The new record has issued no key: none is valid.
    let turn = turn(&shared.place, &other).unwrap();
    assert!(put_keys(&shared.place, &other, &turn).unwrap());
    assert!(mirror.look().unwrap());
    assert_eq!((shared.valid(), shared.follower().join(KEYS).exists()), (0, false));
    assert_eq!(name(&mirror), Some(KeysName { epoch: 2, number: 1 }));
    shared.revoke(&id);
    assert!(!mirror.look().unwrap());
}

#[test]
fn a_follower_that_takes_over_takes_the_newest_keys_of_the_record_before() {
    let shared = Shared::new();
    let id = shared.issue();
    shared.send();
    shared.mirror().look().unwrap();
    shared.revoke(&id);
    shared.send();
    assert_eq!(shared.valid(), 1);
    assert_eq!(take_over(&shared.place, &shared.follower()).unwrap(), 2);
    assert!(shared.mirror().take_over(2).unwrap());
    assert_eq!(shared.valid(), 0);
}

/// Two processes of one record: each number is taken once, and the last one has all keys.
#[test]
fn of_many_that_send_at_once_the_newest_has_all_keys() {
    let shared = Shared::new();
    shared.issue();
    shared.send();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..5 {
                    shared.issue();
                    // Ten that come first in a row are one too many: the next round sends it.
                    let _ = send_keys(shared.place.address(), &shared.data);
                }
            });
        }
    });
    shared.send();
    shared.mirror().look().unwrap();
    assert_eq!(shared.valid(), 21);
    assert!(shared.objects().len() <= KEPT + 4, "{:?}", shared.objects());
}

#[test]
fn a_name_is_read_in_one_spelling_only() {
    let name = KeysName { epoch: 2, number: 42 };
    assert_eq!(name.to_string(), "0002-00000042");
    assert_eq!(KeysName::parse("0002-00000042"), Some(name));
    for other in ["", "2-42", "0002-42", "0002-+0000042", "0002-00000042-1", "0002"] {
        assert_eq!(KeysName::parse(other), None, "{other}");
    }
    assert!(name < KeysName { epoch: 3, number: 1 });
}

/// The newest keys are deleted, and a revocation is sent under their name: a follower takes it, also one
/// that was started anew, and of a folder of before.
#[test]
fn keys_that_were_made_anew_under_one_name_are_taken() {
    let shared = Shared::new();
    let id = shared.issue();
    shared.send();
    let mut mirror = shared.mirror();
    mirror.look().unwrap();
    assert_eq!(shared.valid(), 1);
    let [object] = <[PathBuf; 1]>::try_from(shared.objects()).unwrap();
    let of_before = fs::read(&object).unwrap();
    fs::remove_file(&object).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(5));
    shared.revoke(&id);
    assert!(shared.send());
    assert_eq!(shared.objects(), std::slice::from_ref(&object), "the name is that of before");
    assert!(shared.mirror().look().unwrap());
    assert_eq!(shared.valid(), 0);
    assert!(!shared.mirror().look().unwrap());
    // A follower of before has noted the name only.
    fs::write(&object, of_before).unwrap();
    fs::write(shared.follower().join(HELD), "0001-00000001\n").unwrap();
    assert!(shared.mirror().look().unwrap());
    assert!(!shared.mirror().look().unwrap());
}
