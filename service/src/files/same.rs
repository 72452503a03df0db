//! Whether two files are the same.

use std::io;
use std::io::Read;

const BLOCK_BYTES: usize = 1 << 16;

/// Whether two readers give the same bytes.
///
/// # Errors
/// One of the readers fails.
pub fn are_the_same(one: &mut impl Read, other: &mut impl Read) -> io::Result<bool> {
    let mut blocks = [Vec::new(), Vec::new()];
    loop {
        blocks.iter_mut().for_each(Vec::clear);
        one.take(BLOCK_BYTES as u64).read_to_end(&mut blocks[0])?;
        other.take(BLOCK_BYTES as u64).read_to_end(&mut blocks[1])?;
        if blocks[0] != blocks[1] {
            return Ok(false);
        }
        if blocks[0].is_empty() {
            return Ok(true);
        }
    }
}
