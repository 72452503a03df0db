use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::super::list::manifests;
use super::*;

const SHA256: &str = "ab34567890abcdef1234567890abcdef1234567890abcdef1234567890abcdef";
const NAME: &str = "0001-00000042-20240803T190000.123Z-1a2b3c4d";

fn place() -> (TempDir, Place) {
    let folder = TempDir::new().unwrap();
    let place = Place::create(folder.path().to_str().unwrap()).unwrap();
    (folder, place)
}

fn write(folder: &Path, name: &str) {
    let at = folder.join(name);
    fs::create_dir_all(at.parent().unwrap()).unwrap();
    fs::write(at, "of a backup").unwrap();
}

/// What somebody has moved or copied is not where it is looked for, so it does not count as there.
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
}

#[test]
fn a_backup_in_a_folder_of_its_own_is_not_there() {
    let (folder, place) = place();
    write(folder.path(), &format!("backups/attic/{NAME}"));
    assert_eq!(manifests(&place).unwrap(), []);
    write(folder.path(), &format!("backups/{NAME}"));
    assert_eq!(manifests(&place).unwrap()[0].to_string(), NAME);
}
