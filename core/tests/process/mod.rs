//! Processes that a test starts. Their output is kept, and waiting for them has a deadline: a
//! process that hangs becomes a failure with its name and last output, instead of a test that never
//! ends.

#![allow(dead_code, reason = "each test program uses its part of it")]

use std::fmt::{Display, Formatter};
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};

/// A process that ends with its test.
pub struct Process {
    name: String,
    child: Child,
    lines: Receiver<(Output, String)>,
    said: Said,
    patience: Duration,
}

/// What a process has written.
#[derive(Default)]
pub struct Said {
    pub out: String,
    pub err: String,
}

#[derive(Clone, Copy)]
enum Output {
    Standard,
    Error,
}

impl Process {
    /// `patience` is how long to wait each time: a bound, not a measurement.
    pub fn start(command: &mut Command, patience: Duration) -> Self {
        let name = format!("{command:?}");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{name}: {error}"));
        let (sender, lines) = channel();
        send_lines(child.stdout.take().unwrap(), Output::Standard, sender.clone());
        send_lines(child.stderr.take().unwrap(), Output::Error, sender);
        Self { name, child, lines, said: Said::default(), patience }
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits for a line that contains a text, and returns the output up to it.
    pub fn wait_for(&mut self, text: &str) -> &Said {
        let end = Instant::now() + self.patience;
        loop {
            match self.next_line(end) {
                Some(line) if line.contains(text) => return &self.said,
                Some(_) => {}
                None => panic!("{} ended before it said {text:?}{}", self.name, self.said),
            }
        }
    }

    /// Waits until it ends by itself, and returns all its output.
    pub fn wait(mut self) -> (ExitStatus, Said) {
        let end = Instant::now() + self.patience;
        while self.next_line(end).is_some() {}
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return (status, std::mem::take(&mut self.said));
            }
            self.check_time(end);
            sleep(Duration::from_millis(1));
        }
    }

    /// Kills it (SIGKILL), and returns all its output.
    pub fn kill(mut self) -> Said {
        self.child.kill().unwrap();
        self.wait().1
    }

    /// Returns the next line of either output; `None` once both are closed.
    fn next_line(&mut self, end: Instant) -> Option<String> {
        loop {
            self.check_time(end);
            match self.lines.recv_timeout(Duration::from_millis(100)) {
                Ok((output, line)) => {
                    let said = match output {
                        Output::Standard => &mut self.said.out,
                        Output::Error => &mut self.said.err,
                    };
                    said.push_str(&line);
                    return Some(line);
                }
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    fn check_time(&self, end: Instant) {
        let Self { name, said, patience, .. } = self;
        assert!(Instant::now() < end, "{name} timed out after {patience:?}{said}");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It has already ended if the test waited for that.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Display for Said {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        for (name, text) in [("standard output", &self.out), ("standard error", &self.err)] {
            let lines: Vec<&str> = text.lines().collect();
            let last = &lines[lines.len().saturating_sub(40)..];
            write!(formatter, "\n--- the last of its {name}:\n{}", last.join("\n"))?;
        }
        Ok(())
    }
}

/// Sends the lines of an output, each with its line ending.
fn send_lines<R: Read + Send + 'static>(from: R, output: Output, lines: Sender<(Output, String)>) {
    spawn(move || {
        let mut from = BufReader::new(from);
        let mut line = Vec::new();
        while matches!(from.read_until(b'\n', &mut line), Ok(1..)) {
            if lines.send((output, String::from_utf8_lossy(&line).into_owned())).is_err() {
                break;
            }
            line.clear();
        }
    });
}
