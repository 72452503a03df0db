//! The log, on the standard error.

use std::cell::RefCell;
use std::error::Error;
use std::fmt::Write as _;
use std::io::{self, BufWriter, Write};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::config::{Config, LogFormat};
use crate::http::request_id::RequestId;
use mesonet::Iso8601;
use tracing::{Event, Subscriber};
use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::format::{JsonFields, Writer};
use tracing_subscriber::fmt::time::FormatTime;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, MakeWriter};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, fmt};

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
    let (lines, guard) = lines.finish(BatchWriter(BufWriter::new(io::stderr())));
    tracing_subscriber::registry().with(layer(config.log_format, lines)).with(targets).init();
    Ok(guard)
}

/// What writes the lines.
fn layer<S, W>(form: LogFormat, lines: W) -> Box<dyn Layer<S> + Send + Sync>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let log = fmt::layer().with_writer(lines);
    let event = fmt::format().with_timer(Microseconds);
    match form {
        LogFormat::Text => log.event_format(WithRequest(event, end_of_text)).boxed(),
        LogFormat::Json => {
            let event = event.json().flatten_event(true);
            log.fmt_fields(JsonFields::new()).event_format(WithRequest(event, end_of_json)).boxed()
        }
    }
}

/// Lines with the id of the request that they are logged for. A span would do the same, and takes a
/// tenth of the time of a small request.
struct WithRequest<F>(F, fn(&mut String, RequestId));

impl<S, N, F> FormatEvent<S, N> for WithRequest<F>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
    F: FormatEvent<S, N>,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> std::fmt::Result {
        let Self(format, end) = self;
        let Some(request) = RequestId::current() else {
            return format.format_event(context, writer, event);
        };
        let mut line = String::new();
        format.format_event(context, Writer::new(&mut line), event)?;
        end(&mut line, request);
        writer.write_str(&line)
    }
}

fn end_of_text(line: &mut String, request: RequestId) {
    line.truncate(line.trim_end().len());
    let _ = writeln!(line, " request_id=\"{request}\"");
}

fn end_of_json(line: &mut String, request: RequestId) {
    let members = line.trim_end().strip_suffix('}').map_or(line.len(), str::len);
    line.truncate(members);
    let _ = writeln!(line, ",\"request_id\":\"{request}\"}}");
}

/// Writes a first line at once, and those that come soon after it together. Otherwise each of them
/// would wake the thread.
struct BatchWriter<W: Write>(BufWriter<W>);

impl<W: Write> Write for BatchWriter<W> {
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
    fn format_time(&self, writer: &mut Writer<'_>) -> std::fmt::Result {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        write_time(now, writer)
    }
}

fn write_time(since_1970: Duration, writer: &mut impl std::fmt::Write) -> std::fmt::Result {
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
    use std::sync::{Arc, Mutex};

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

    /// The lines of a layer, shared with the test.
    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_line_that_a_request_causes_has_its_id() {
        let id = RequestId::next();
        for form in [LogFormat::Text, LogFormat::Json] {
            let lines = Lines::default();
            let writer = lines.clone();
            let log = tracing_subscriber::registry().with(layer(form, move || writer.clone()));
            tracing::subscriber::with_default(log, || {
                id.while_working(|| tracing::warn!(path = "a}\n\"", "the disk is full"));
                tracing::warn!("no request");
            });
            let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
            let lines: Vec<&str> = text.lines().collect();
            let [of_request, other] = lines[..] else { panic!("{text}") };
            assert!(!other.contains("request_id"), "{other}");
            match form {
                LogFormat::Text => {
                    assert!(of_request.ends_with(&format!(" request_id=\"{id}\"")), "{of_request}");
                }
                LogFormat::Json => {
                    let line: serde_json::Value = serde_json::from_str(of_request).unwrap();
                    assert_eq!(line["request_id"], id.to_string());
                    assert_eq!(line["path"], "a}\n\"");
                    assert_eq!(line["message"], "the disk is full");
                    serde_json::from_str::<serde_json::Value>(other).unwrap();
                }
            }
        }
    }

    #[test]
    fn lines_are_written_when_there_are_no_more() {
        let mut lines = BatchWriter(BufWriter::new(Vec::new()));
        lines.write_all(b"a\n").unwrap();
        lines.write_all(b"b\n").unwrap();
        assert!(lines.0.get_ref().is_empty());
        lines.flush().unwrap();
        assert_eq!(lines.0.get_ref(), b"a\nb\n");
    }
}
