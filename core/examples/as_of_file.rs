//! Times the as-of grid on arrays from a file, so that other programs can be timed on the same data.
//!
//! Usage: `as_of_file FILE`. The file holds little-endian 64-bit integers: the number of series,
//! readings per series, positions, milliseconds of a step (a whole number of minutes), then the
//! times of each series in turn. Prints the milliseconds of the fastest of 20 runs on one core and
//! the sum of the indices found, which a peer can check.

use std::time::Instant;

use mesonet::query::{Positions, as_of};
use mesonet::time::MINUTE_MS;
use mesonet::{ClosedWindow, Step};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: as_of_file FILE")?;
    let bytes = std::fs::read(path)?;
    let (words, []) = bytes.as_chunks::<8>() else { return Err("not 64-bit integers".into()) };
    let numbers: Vec<i64> = words.iter().map(|&word| i64::from_le_bytes(word)).collect();
    let Some((&[series, readings, count, step_ms], times)) = numbers.split_first_chunk::<4>()
    else {
        return Err("the header is cut off".into());
    };
    let (readings, count) = (usize::try_from(readings)?, usize::try_from(count)?);
    let window = ClosedWindow::new(0, (count as i64 - 1) * step_ms)?;
    let positions = Positions::new(window, Step::from_minutes(step_ms / MINUTE_MS)?);
    let mut out = vec![0_u32; usize::try_from(series)? * count];
    let mut fastest_ms = f64::INFINITY;
    for _ in 0..20 {
        let start = Instant::now();
        for (ts_ms, out) in times.chunks_exact(readings).zip(out.chunks_exact_mut(count)) {
            as_of(ts_ms, positions, out)?;
        }
        fastest_ms = fastest_ms.min(start.elapsed().as_secs_f64() * 1e3);
    }
    let sum: u64 = out.iter().map(|&at| u64::from(at.wrapping_add(1))).sum();
    println!("{fastest_ms:.3} {sum}");
    Ok(())
}
