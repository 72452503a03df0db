//! The clock of the machine.

use std::time::{SystemTime, UNIX_EPOCH};

/// Real time, milliseconds since 1970 (UTC); 0 if the machine's clock is set before 1970.
pub fn system_ms() -> i64 {
    let passed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(passed.as_millis()).unwrap_or(i64::MAX)
}
