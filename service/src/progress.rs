//! The progress bar of commands.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// How often the progress is shown.
const TICK: Duration = Duration::from_millis(100);

const BYTES: &str = "{bar:40} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} to go";
const FIELDS: &str = "{bar:40} {pos} of {len} fields, {per_sec}, {eta} to go";

/// Does work under a progress bar over the bytes of files, if the output is a terminal. `show`
/// updates the bar.
pub fn under_bar<T>(
    paths: &[PathBuf],
    show: impl Fn(&ProgressBar) + Sync,
    work: impl FnOnce() -> T,
) -> T {
    let bar = bar(BYTES, || paths.iter().map(|path| length(path)).sum());
    let done = AtomicBool::new(false);
    let outcome = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) && !bar.is_hidden() {
                show(&bar);
                std::thread::sleep(TICK);
            }
        });
        let outcome = work();
        done.store(true, Ordering::Relaxed);
        outcome
    });
    bar.finish_and_clear();
    outcome
}

/// Changes the bar to count fields instead, once.
pub fn show_fields(bar: &ProgressBar, fields: u64, unpacked: u64) {
    if bar.length() != Some(fields) {
        bar.reset();
        bar.set_length(fields);
        if let Ok(style) = ProgressStyle::with_template(FIELDS) {
            bar.set_style(style);
        }
    }
    bar.set_position(unpacked);
}

/// A progress bar over a number of bytes, if the output is a terminal.
pub fn bar_of_bytes(length: u64) -> ProgressBar {
    bar(BYTES, || length)
}

/// A progress bar of this form, if the output is a terminal.
pub fn bar(template: &str, length: impl FnOnce() -> u64) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(length());
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// Bytes of a file, or of the files of a folder. What cannot be read counts as 0.
fn length(path: &Path) -> u64 {
    let Ok(metadata) = std::fs::metadata(path) else { return 0 };
    if !metadata.is_dir() {
        return metadata.len();
    }
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let lengths = entries.map(|entry| match entry.file_type() {
        Ok(kind) if kind.is_symlink() => entry.metadata().map_or(0, |metadata| metadata.len()),
        _ => length(&entry.path()),
    });
    lengths.sum()
}
