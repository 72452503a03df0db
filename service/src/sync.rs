//! Locks, and values that are made when they are first asked for.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Locks a value. A thread that panicked while it held the lock keeps no other one out.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the value of a cell, which is made if there is none. After a failure, the next caller
/// tries again.
///
/// # Errors
/// Those of `make`.
pub fn get_or_try_init<T, E>(
    cell: &OnceLock<T>,
    make: impl FnOnce() -> Result<T, E>,
) -> Result<&T, E> {
    if let Some(value) = cell.get() {
        return Ok(value);
    }
    let value = make()?;
    Ok(cell.get_or_init(|| value))
}
