//! A gate between a server and another service, such as ClickHouse or a bucket. It counts what
//! passes, and can block or change it.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// A gate in front of another service.
pub struct Gate {
    url: String,
    state: Arc<AtomicUsize>,
    came: Arc<AtomicU64>,
}

const CLOSED: usize = usize::MAX;
const NONSENSE: usize = usize::MAX - 1;
const SILENT: usize = usize::MAX - 2;
/// Below this it is the number of requests that are still let through.
const OPEN: usize = usize::MAX - 3;

impl Gate {
    pub fn before(url: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let own = format!("http://{}", listener.local_addr().unwrap());
        let behind = url.strip_prefix("http://").unwrap().to_owned();
        let state = Arc::new(AtomicUsize::new(OPEN));
        let came = Arc::new(AtomicU64::new(0));
        let (shared, counter) = (Arc::clone(&state), Arc::clone(&came));
        // The thread ends with the tests.
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (state, came) = (Arc::clone(&shared), Arc::clone(&counter));
                let behind = behind.clone();
                thread::spawn(move || pass(stream, &behind, &state, came));
            }
        });
        Self { url: own, state, came }
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    /// How many bytes have come from the service so far.
    pub fn came(&self) -> u64 {
        self.came.load(Ordering::SeqCst)
    }

    pub fn open(&self) {
        self.state.store(OPEN, Ordering::SeqCst);
    }

    pub fn close(&self) {
        self.state.store(CLOSED, Ordering::SeqCst);
    }

    /// Accepts requests and answers none, like a machine that is cut off.
    pub fn fall_silent(&self) {
        self.state.store(SILENT, Ordering::SeqCst);
    }

    #[cfg(feature = "clickhouse")]
    pub fn talk_nonsense(&self) {
        self.state.store(NONSENSE, Ordering::SeqCst);
    }

    /// Closes after this many pieces of what the server sends.
    #[cfg(feature = "clickhouse")]
    pub fn cut_after(&self, pieces: usize) {
        self.state.store(pieces, Ordering::SeqCst);
    }
}

/// Passes one piece of the traffic on, if allowed.
fn may_pass(state: &AtomicUsize) -> bool {
    let one_less = |left| match left {
        OPEN => Some(OPEN),
        0 | CLOSED | NONSENSE | SILENT => None,
        left => Some(left - 1),
    };
    state.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less).is_ok()
}

fn pass(mut from: TcpStream, behind: &str, state: &Arc<AtomicUsize>, came: Arc<AtomicU64>) {
    let mut to = TcpStream::connect(behind).unwrap();
    let (mut back, mut answers) = (from.try_clone().unwrap(), to.try_clone().unwrap());
    let of_answers = Arc::clone(state);
    thread::spawn(move || {
        let mut bytes = vec![0; 1 << 16];
        while let Ok(count @ 1..) = answers.read(&mut bytes) {
            came.fetch_add(count as u64, Ordering::SeqCst);
            if of_answers.load(Ordering::SeqCst) > OPEN || back.write_all(&bytes[..count]).is_err()
            {
                break;
            }
        }
        let _ = back.shutdown(Shutdown::Both);
    });
    let mut bytes = vec![0; 1 << 16];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        if !may_pass(state) {
            if state.load(Ordering::SeqCst) == NONSENSE {
                let _ = from.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello");
            }
            while state.load(Ordering::SeqCst) == SILENT {
                thread::sleep(Duration::from_millis(20));
            }
            break;
        }
        if to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}
