//! Locked files, which keep two processes from writing the same folder.

use std::fs::{File, TryLockError};
use std::io::Write;
use std::path::Path;
use std::{env, process};

/// A file that this value has locked. The lock is advisory (`flock`, on Windows `LockFileEx`), and
/// even a killed process leaves none behind.
///
/// Dropping the value unlocks the file at once. Closing the file would not be enough: a process
/// that another thread is just starting has a copy of every open file until it runs its program,
/// and a lock lasts as long as a copy.
///
/// ```
/// use mesonet::lock::FileLock;
///
/// # let folder = tempfile::tempdir()?;
/// let path = folder.path().join("lock");
/// let lock = FileLock::exclusive(&path)?;
/// assert!(FileLock::exclusive(&path).is_err());
/// drop(lock);
/// FileLock::exclusive(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FileLock(File);

impl FileLock {
    /// Locks a file for one writer. The file is created if it is missing; its content stays.
    ///
    /// # Errors
    /// [`TryLockError::WouldBlock`] if the file is locked, otherwise the error of opening it.
    pub fn exclusive(path: &Path) -> Result<Self, TryLockError> {
        let file = File::options().create(true).truncate(false).write(true).open(path);
        let file = file.map_err(TryLockError::Error)?;
        file.try_lock()?;
        Ok(Self(file))
    }

    /// Locks an existing file for reading, together with other readers.
    ///
    /// # Errors
    /// [`TryLockError::WouldBlock`] if a writer has locked the file, otherwise the error of opening
    /// it.
    pub fn shared(path: &Path) -> Result<Self, TryLockError> {
        let file = File::open(path).map_err(TryLockError::Error)?;
        file.try_lock_shared()?;
        Ok(Self(file))
    }

    /// Writes into the file which process holds the lock: `process 117 (mesonet-server, a
    /// follower)`. The name only helps a process that is refused, so a failure to write it is
    /// ignored.
    pub fn name_holder(&self, role: Option<&str>) {
        let program = env::current_exe().ok();
        let program = program.as_deref().and_then(Path::file_name);
        let program = program.map(|name| name.display().to_string());
        let known: Vec<&str> = program.as_deref().into_iter().chain(role).collect();
        let known =
            if known.is_empty() { String::new() } else { format!(" ({})", known.join(", ")) };
        let name = format!("process {}{known}", process::id());
        let _ = self.0.set_len(0).and_then(|()| (&self.0).write_all(name.as_bytes()));
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // Closing the file, which comes next, unlocks it where this fails.
        let _ = self.0.unlock();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_ends_with_its_value_though_a_copy_of_the_file_is_open() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        for lock in [FileLock::exclusive, FileLock::shared] {
            let lock = lock(&path).unwrap();
            let copy = lock.0.try_clone().unwrap();
            assert!(matches!(FileLock::exclusive(&path), Err(TryLockError::WouldBlock)));
            drop(lock);
            FileLock::exclusive(&path).unwrap();
            drop(copy);
        }
    }

    #[test]
    fn readers_share_a_lock_and_a_missing_file_has_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        assert!(matches!(FileLock::shared(&path), Err(TryLockError::Error(_))));
        drop(FileLock::exclusive(&path).unwrap());
        let readers = (FileLock::shared(&path).unwrap(), FileLock::shared(&path).unwrap());
        assert!(FileLock::exclusive(&path).is_err());
        drop(readers);
        FileLock::exclusive(&path).unwrap();
    }
}
