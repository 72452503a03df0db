//! The rows of a table as series: the rows that belong together, and their order.

use super::RaggedError;

/// Returns where the series of a table begin and end, for [`Ragged`](super::Ragged): a series is a
/// run of rows with the same key. Keys are numbers from 0 up, such as the codes of a dictionary;
/// memory is taken for the greatest of them.
///
/// # Errors
/// If a key appears again after other keys.
///
/// ```
/// use mesonet::query::{RaggedError, offsets_of_keys};
/// assert_eq!(offsets_of_keys(&[5, 5, 0, 2, 2, 2]), Ok(vec![0, 2, 3, 6]));
/// assert_eq!(offsets_of_keys(&[]), Ok(vec![0]));
/// let split = offsets_of_keys(&[7, 7, 3, 7]);
/// assert_eq!(split, Err(RaggedError::Split { row: 3, before: 1 }));
/// ```
pub fn offsets_of_keys(keys: &[u32]) -> Result<Vec<i64>, RaggedError> {
    // For each key, the row behind its run; 0 for a key that has not appeared.
    let mut ends = vec![0; keys.iter().max().map_or(0, |&most| most as usize + 1)];
    let mut offsets = vec![0];
    let mut begin = 0;
    for run in keys.chunk_by(|a, b| a == b) {
        let end = &mut ends[run[0] as usize];
        if *end > 0 {
            return Err(RaggedError::Split { row: begin, before: *end - 1 });
        }
        begin += run.len();
        *end = begin;
        offsets.push(begin as i64);
    }
    Ok(offsets)
}

/// Returns the rows of a table in the order of series: by key, then by time; rows of the same key
/// and time keep their order. `keys` and `ts_ms` have the same length.
///
/// ```
/// use mesonet::query::order_of_rows;
/// assert_eq!(order_of_rows(&[1, 0, 1, 1], &[30, 5, 10, 10]), [1, 2, 3, 0]);
/// ```
pub fn order_of_rows(keys: &[u32], ts_ms: &[i64]) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..keys.len().min(ts_ms.len())).collect();
    rows.sort_by_key(|&row| (keys[row], ts_ms[row]));
    rows
}
