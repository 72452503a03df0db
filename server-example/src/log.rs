//! The log, on the standard error.

use std::cell::RefCell;
use std::error::Error;
use std::fmt;
use std::io::{self, BufWriter, Write};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use mesonet::Iso8601;
use mesonet_server::{Config, LogFormat};
use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::FormatTime;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// How long lines may wait for others to be written with.
const GATHER: Duration = Duration::from_millis(5);

/// Starts the log. One thread writes it, as many lines at once as there are: a write for each request
/// would take longer than many a request. No line is left out, and the last ones are written when
/// the guard goes.
///
/// # Errors
/// The level is unknown.
pub fn start(config: &Config) -> Result<WorkerGuard, Box<dyn Error>> {
    let level = config.log.parse::<LevelFilter>()?;
    let of_requests = if config.log_requests { level } else { LevelFilter::OFF };
    let targets = Targets::new().with_default(level).with_target("request", of_requests);
    let lines = NonBlockingBuilder::default().lossy(false).thread_name("log");
    let (lines, guard) = lines.finish(Gathered(BufWriter::new(io::stderr())));
    let log = tracing_subscriber::fmt::layer().with_timer(Microseconds).with_writer(lines);
    let log = match config.log_format {
        LogFormat::Text => log.boxed(),
        LogFormat::Json => log.json().flatten_event(true).boxed(),
    };
    tracing_subscriber::registry().with(log).with(targets).init();
    Ok(guard)
}

/// Writes a first line at once, and those that come soon after it together. Otherwise each of them
/// would wake the thread.
struct Gathered<W: Write>(BufWriter<W>);

impl<W: Write> Write for Gathered<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    /// Called once all lines are here that there are now.
    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()?;
        thread::sleep(GATHER);
        Ok(())
    }
}

/// The time of a line, as [`tracing_subscriber`] writes it, in a fifth of the time: the lines of a
/// second share its text.
struct Microseconds;

impl FormatTime for Microseconds {
    fn format_time(&self, writer: &mut Writer<'_>) -> fmt::Result {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        write_time(now, writer)
    }
}

fn write_time(since_1970: Duration, writer: &mut impl fmt::Write) -> fmt::Result {
    thread_local!(static LAST: RefCell<(u64, String)> = RefCell::default());
    let (second, us) = (since_1970.as_secs(), since_1970.subsec_micros());
    LAST.with_borrow_mut(|(last, text)| {
        if *last != second || text.is_empty() {
            (*last, *text) = (second, Iso8601(second as i64 * 1000).to_string());
        }
        write!(writer, "{}.{us:06}Z", text.trim_end_matches('Z'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_its_microseconds_and_its_own_second() {
        let text = |us| {
            let mut text = String::new();
            write_time(Duration::from_micros(us), &mut text).unwrap();
            text
        };
        assert_eq!(text(0), "1970-01-01T00:00:00.000000Z");
        assert_eq!(text(1_722_719_999_999_999), "2024-08-03T21:19:59.999999Z");
        assert_eq!(text(1_722_719_999_000_040), "2024-08-03T21:19:59.000040Z");
        assert_eq!(text(1_722_720_000_000_000), "2024-08-03T21:20:00.000000Z");
    }

    #[test]
    fn lines_are_written_when_there_are_no_more() {
        let mut lines = Gathered(BufWriter::new(Vec::new()));
        lines.write_all(b"a\n").unwrap();
        lines.write_all(b"b\n").unwrap();
        assert!(lines.0.get_ref().is_empty());
        lines.flush().unwrap();
        assert_eq!(lines.0.get_ref(), b"a\nb\n");
    }
}
