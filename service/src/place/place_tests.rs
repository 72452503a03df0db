use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::*;

const SHA256: &str = "ab34567890abcdef1234567890abcdef1234567890abcdef1234567890abcdef";

fn place() -> (TempDir, ObjectPlace) {
    let folder = TempDir::new().unwrap();
    let place = ObjectPlace::create(folder.path().to_str().unwrap()).unwrap();
    (folder, place)
}

fn write(folder: &Path, name: &str) {
    let at = folder.join(name);
    fs::create_dir_all(at.parent().unwrap()).unwrap();
    fs::write(at, "of a backup").unwrap();
}

/// An object that somebody has moved or copied is not where it is looked up, so it does not count.
#[test]
fn an_object_in_another_folder_is_not_there() {
    let (folder, place) = place();
    for elsewhere in ["objects/ab.bak", "objects/copy/ab", "objects", "objects/cd", "objects/ab/ab"]
    {
        write(folder.path(), &format!("{elsewhere}/{SHA256}"));
    }
    write(folder.path(), "objects/no/notes.txt");
    assert!(place.objects().unwrap().is_empty());
    write(folder.path(), &object(SHA256));
    let found = place.objects().unwrap();
    assert_eq!(found.iter().map(|object| &*object.name).collect::<Vec<_>>(), [SHA256]);
    write(folder.path(), &object(&format!("{SHA256}.gz")));
    write(folder.path(), &object(&format!("{SHA256}{ZSTD}")));
    assert_eq!(place.objects().unwrap().len(), 2);
}
