//! Files that are written once.

use std::io::{self, Write};
use std::path::Path;

use mesonet::durable::sync_folder;

/// Creates a file, which only its owner can read. It appears with its content; once this returns, it survives a loss of
/// power.
///
/// # Errors
/// [`AlreadyExists`](io::ErrorKind::AlreadyExists) if there is such a file, which stays as it is. The file cannot be
/// written or made durable.
pub fn create(path: &Path, content: &[u8]) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    // Backups leave out names that begin so.
    let mut file =
        tempfile::Builder::new().prefix(".mesonet-").suffix(".tmp").tempfile_in(folder)?;
    file.write_all(content)?;
    file.as_file().sync_all()?;
    file.persist_noclobber(path)?;
    sync_folder(folder)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::ErrorKind;

    use super::create;
    use crate::files::entries;

    #[test]
    fn a_file_is_created_once_and_never_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("writer");
        create(&path, b"one").unwrap();
        assert_eq!(create(&path, b"two").unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).unwrap(), b"one");
        assert_eq!(entries(folder.path()).unwrap(), [path], "no half file stays");
    }

    #[cfg(unix)]
    #[test]
    fn only_its_owner_can_read_it() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        create(&path, b"secret").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
