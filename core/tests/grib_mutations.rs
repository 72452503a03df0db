//! Real GRIB2 files, changed at random: whatever they are, reading them ends, without a panic and in
//! memory that is bounded by the limit on points.
//!
//! A mutation flips bits, cuts the file, overwrites part of it, or puts a part of one file into
//! another. `MESONET_MUTATIONS` sets how many there are; the default is 2,000. The number of a
//! mutation determines it.

#![allow(unsafe_code, reason = "it counts what is allocated")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Read;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use flate2::read::GzDecoder;
use mesonet::{grib, model};

/// The most points of a field: most of the fields have less.
const MAX_POINTS: usize = 1 << 20;

/// What reading a file may take at once: for each point two values of a codec, and the file itself a
/// few times.
const MAX_BYTES: usize = 32 << 20;

/// Counts the bytes that are allocated, and the most of them at once.
struct Counting;

static ALLOCATED: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: everything is left to the allocator of the system.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let allocated = ALLOCATED.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST.fetch_max(allocated, Ordering::Relaxed);
        // SAFETY: the layout is the caller's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        ALLOCATED.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: it was allocated above, with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// A sequence of numbers (xorshift) that its seed determines.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }
}

/// Small messages in every packing, and parts of large ones.
fn messages() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/grib");
    let mut messages = Vec::new();
    for name in [
        "nam211_20180917T00Z_f000",
        "nam211_prmsl_simple",
        "nam211_prmsl_as_mercator",
        "gfs2p5_20110110T12Z_f120_gh10",
        "safrica_20100308T12Z_f000_ps",
        "arome_20260413T21Z_f001_tcdc_ccsds",
        "hrrr_20240101T00Z_f000_refc",
    ] {
        let packed = std::fs::File::open(folder.join(format!("{name}.grib2.gz"))).unwrap();
        let mut bytes = Vec::new();
        GzDecoder::new(packed).read_to_end(&mut bytes).unwrap();
        messages.extend(grib::fields(&bytes).map(|field| field.unwrap().to_message()));
    }
    messages.sort_by_key(Vec::len);
    messages
}

fn mutated(messages: &[Vec<u8>], number: u64) -> Vec<u8> {
    let mut random = Random((number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    // The large ones, which are last, take long.
    let few = if random.below(50) == 0 { messages.len() } else { messages.len() - 2 };
    let mut file = messages[random.below(few)].clone();
    if random.below(4) == 0 {
        file.extend(&messages[random.below(few)]);
    }
    for _ in 0..=random.below(3) {
        // The sections before the data are short, and all of the structure is in them.
        let reach = if random.below(2) == 0 { file.len().min(260) } else { file.len() };
        let at = random.below(reach);
        match random.below(5) {
            0 => file[at] ^= 1 << random.below(8),
            1 => file[at] = random.next() as u8,
            2 => {
                let end = (at + 1 + random.below(16)).min(file.len());
                let byte = [0, 0xff, 0x7f, 0x80][random.below(4)];
                file[at..end].fill(byte);
            }
            3 => file.truncate(at + 1),
            _ => {
                let other = &messages[random.below(few)];
                let from = random.below(other.len());
                let length = random.below(512).min(other.len() - from);
                let end = (at + random.below(512)).min(file.len());
                file.splice(at..end, other[from..from + length].iter().copied());
            }
        }
        if file.is_empty() {
            return file;
        }
    }
    file
}

/// Reads everything of a file, and returns how many fields could be unpacked.
fn read(file: &[u8]) -> usize {
    let mut unpacked = 0;
    for field in grib::fields(file).flatten() {
        let _ = (field.parameter(), field.reference_ms(), field.product(), field.grid());
        let _ = (field.work_cells(), field.one_value(MAX_POINTS));
        if let Ok(values) = field.values(MAX_POINTS) {
            assert!(values.len() <= MAX_POINTS && values.iter().all(|value| !value.is_infinite()));
            unpacked += 1;
        }
    }
    unpacked
}

#[test]
fn changed_files_are_read_without_a_panic_and_in_bounded_memory() {
    let mutations = std::env::var("MESONET_MUTATIONS").map_or(2_000, |text| text.parse().unwrap());
    let messages = messages();
    let catalogue = model::Catalogue::default();
    let source = catalogue.get("nam211").unwrap();
    let (mut unpacked, mut most) = (0, 0);
    for number in 0..mutations {
        let file = mutated(&messages, number);
        let before = ALLOCATED.load(Ordering::Relaxed);
        MOST.store(before, Ordering::Relaxed);
        let read = std::panic::catch_unwind(|| read(&file));
        let taken = MOST.load(Ordering::Relaxed) - before;
        assert!(taken <= MAX_BYTES, "mutation {number} takes {taken} bytes");
        most = most.max(taken);
        unpacked += read.unwrap_or_else(|_| panic!("mutation {number} panics"));
        // To be written, some of them: each is a run on disk.
        if number % 20 == 0 {
            let folder = tempfile::tempdir().unwrap();
            let store = model::RunStore::new(folder.path());
            let mut delivery = model::Delivery::in_memory(source, &store);
            delivery.add("mutated", &file);
            let report = delivery.write(4_000_000_000_000, || ());
            for run in store.runs("nam211").unwrap() {
                assert_eq!(store.run("nam211", run).unwrap().verify(), [], "mutation {number}");
            }
            assert!(report.used + report.refused + report.other_fields <= report.fields);
        }
    }
    println!(
        "{mutations} mutations: {unpacked} fields were unpacked, at most {most} bytes at once"
    );
    assert!(unpacked > mutations as usize / 10);
}
