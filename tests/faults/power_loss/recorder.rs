//! Runs a program and records its changes: see `record_writes.c`.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};
use std::time::{Duration, Instant};

/// How long a program may take: a few seconds are normal.
const PATIENCE: Duration = Duration::from_secs(300);

/// One change, or one step that made changes durable.
#[derive(Clone, Debug)]
pub enum Record {
    Made {
        inode: u64,
        path: PathBuf,
    },
    FolderMade {
        path: PathBuf,
    },
    Renamed {
        from: PathBuf,
        to: PathBuf,
    },
    Linked {
        from: PathBuf,
        to: PathBuf,
    },
    /// The name of a file or a folder.
    Removed {
        path: PathBuf,
    },
    Written {
        inode: u64,
        offset: usize,
        bytes: Arc<[u8]>,
    },
    Length {
        inode: u64,
        length: usize,
    },
    Synced {
        inode: u64,
    },
    FolderSynced {
        path: PathBuf,
    },
    /// What the program reported.
    Mark(#[allow(dead_code, reason = "shown if a check fails")] String),
}

impl Record {
    /// Returns whether it is more than bytes of a file.
    pub fn is_turning_point(&self) -> bool {
        !matches!(self, Self::Written { .. })
    }
}

/// Returns a pseudo-random number from a seed (SplitMix64).
pub fn chance(seed: u64) -> u64 {
    let mut x = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Runs this program's test `child` and returns what it did in a folder. It is given `call`, and
/// reports what it has done by writing to `marks`.
pub fn record(work: &Path, root: &Path, marks: &Path, variable: &str, call: &str) -> Vec<Record> {
    let recorder = work.join("record_writes");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("faults/record_writes.c");
    let mut compiler = Command::new("cc");
    compiler.arg("-O1").arg("-o").arg(&recorder).arg(source).stderr(Stdio::piped());
    let compiler = start(&mut compiler).expect("a C compiler is needed: cc");
    let built = compiler.wait_with_output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));

    let (log, said) = (work.join("log"), work.join("said"));
    let out = std::fs::File::create(&said).unwrap();
    let mut command = Command::new(recorder);
    command
        .args([&*log, root, marks, &std::env::current_exe().unwrap()])
        .args(["child", "--exact", "--ignored", "--nocapture", "--test-threads=1"])
        .env(variable, call)
        .stdout(out.try_clone().unwrap())
        .stderr(out)
        .stdin(Stdio::null());
    let mut child = start(&mut command).unwrap();
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if begun.elapsed() > PATIENCE {
            child.kill().unwrap();
            break child.wait().unwrap();
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    assert!(status.success(), "{status}: {}", std::fs::read_to_string(said).unwrap());
    parse(&std::fs::read(log).unwrap())
}

/// Until a child becomes the other program, it holds the files that are open here, and their locks.
/// So no child is started while a folder that will be opened again is open.
static STARTING: RwLock<()> = RwLock::new(());

fn start(command: &mut Command) -> std::io::Result<Child> {
    let _alone = STARTING.write().unwrap_or_else(PoisonError::into_inner);
    command.spawn()
}

/// No child is started while this lock is held.
pub fn no_child_starts() -> RwLockReadGuard<'static, ()> {
    STARTING.read().unwrap_or_else(PoisonError::into_inner)
}

fn parse(mut log: &[u8]) -> Vec<Record> {
    let mut records = Vec::new();
    while let Some(end) = log.iter().position(|&byte| byte == b'\n') {
        let line = std::str::from_utf8(&log[..end]).unwrap();
        let (kind, numbers) = line.split_at(1);
        let numbers: Vec<u64> =
            numbers.split_whitespace().map(|number| number.parse().unwrap()).collect();
        let [number, offset, one, two] = *numbers else { panic!("{line}") };
        let (first, rest) = log[end + 1..].split_at(one as usize);
        let (second, rest) = rest.split_at(two as usize);
        log = rest;
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let path = |bytes: &[u8]| PathBuf::from(text(bytes));
        records.push(match kind {
            "c" => Record::Made { inode: number, path: path(first) },
            "t" => Record::Length { inode: number, length: offset as usize },
            "w" => Record::Written { inode: number, offset: offset as usize, bytes: first.into() },
            "s" => Record::Synced { inode: number },
            "d" => Record::FolderSynced { path: path(first) },
            "r" => Record::Renamed { from: path(first), to: path(second) },
            "l" => Record::Linked { from: path(first), to: path(second) },
            "u" | "x" => Record::Removed { path: path(first) },
            "m" => Record::FolderMade { path: path(first) },
            "a" => Record::Mark(text(first)),
            _ => panic!("a change that cannot be replayed: {}{}", text(first), text(second)),
        });
    }
    assert!(log.is_empty());
    records
}
