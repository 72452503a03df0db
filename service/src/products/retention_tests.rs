use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::LazyLock;

use flate2::read::GzDecoder;
use mesonet::raster::{Raster, RasterCatalogue};
use mesonet::time::{DAY_MS, HOUR_MS, parse_instant};
use mesonet::{Iso8601, grib};
use proptest::prelude::*;
use tempfile::TempDir;

use super::*;

/// 2024-08-03T12:00:00Z
const NOON_MS: i64 = 1_722_686_400_000;

/// A catalogue with pressure as an instant and over an hour, and settings.
fn catalogue(keep: &str) -> RasterCatalogue {
    let text = format!(
        "[pressure]\ntitle = \"Pressure\"\nunit = \"Pa\"\nscale = 0.5\noffset = 100000\n{keep}\n\
         fields = [{{ parameter = \"7:0.3.1\" }}, {{ parameter = \"7:0.3.2\", duration = \"1h\" }}]\n"
    );
    RasterCatalogue::from_toml(&text).unwrap()
}

/// A data folder with files of pressure.
struct Folder {
    data: TempDir,
    files: ProductFiles,
}

fn folder(keep: &str, hours: &[i64]) -> Folder {
    let data = TempDir::new().unwrap();
    let files = ProductFiles::new(data.path(), catalogue(keep));
    let folder = Folder { data, files };
    for &hour in hours {
        folder.put(hour);
    }
    folder
}

impl Folder {
    fn path(&self, hour: i64) -> PathBuf {
        let stamp = Iso8601(NOON_MS + hour * HOUR_MS).to_string().replace(['-', ':'], "");
        self.data.path().join("products/pressure/instant").join(stamp + ".tif")
    }

    /// Writes the file of an hour after noon.
    fn put(&self, hour: i64) {
        let path = self.path(hour);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, pressure(NOON_MS + hour * HOUR_MS)).unwrap();
    }

    /// The hours of the files that are there.
    fn hours(&self) -> Vec<i64> {
        let catalogue = self.files.catalogue();
        let times = self.files.times(catalogue.get("pressure").unwrap(), None).unwrap();
        times.into_iter().rev().map(|ts_ms| (ts_ms - NOON_MS) / HOUR_MS).collect()
    }

    fn expire(&self, now_ms: i64) -> RetentionOutcome {
        let catalogue = self.files.catalogue();
        self.files.expire(catalogue.get("pressure").unwrap(), now_ms, &|| false).unwrap()
    }
}

/// A file of pressure as an instant, of a time.
fn pressure(ts_ms: i64) -> Vec<u8> {
    static FILE: LazyLock<Vec<u8>> = LazyLock::new(|| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../tests/data/grib/nam211_prmsl_simple.grib2.gz");
        let mut bytes = Vec::new();
        GzDecoder::new(File::open(path).unwrap()).read_to_end(&mut bytes).unwrap();
        let field = grib::fields(&bytes).next().unwrap().unwrap();
        let catalogue = catalogue("");
        let product = catalogue.get("pressure").unwrap();
        let raster = Raster::new(&field, product, grib::MAX_POINTS).unwrap().covering(None);
        let mut file = Vec::new();
        raster.write_cog(&mut file).unwrap();
        file
    });
    let mut bytes = FILE.clone();
    let item = b"VALID_TIME\">";
    let at = bytes.windows(item.len()).position(|part| part == item).unwrap() + item.len();
    bytes[at..][..20].copy_from_slice(Iso8601(ts_ms).to_string().as_bytes());
    let end = bytes.len() - 12;
    let checksum = crc32c::crc32c(&bytes[..end]).to_le_bytes();
    bytes[end + 8..].copy_from_slice(&checksum);
    bytes
}

fn length() -> u64 {
    pressure(NOON_MS).len() as u64
}

#[test]
fn nothing_is_deleted_unless_a_setting_says_so() {
    let folder = folder("", &[-9000, -5, 0]);
    assert_eq!(folder.expire(NOON_MS + 100_000 * HOUR_MS), RetentionOutcome::default());
    assert_eq!(folder.hours(), [-9000, -5, 0]);
}

#[test]
fn files_older_than_keep_are_deleted_oldest_first_and_counted() {
    let folder = folder("keep = \"1d\"", &[-60, -30, -25, -24, -5, 0]);
    let done = folder.expire(NOON_MS);
    assert_eq!(folder.hours(), [-24, -5, 0]);
    let times_ms = Some((NOON_MS - 60 * HOUR_MS, NOON_MS - 25 * HOUR_MS));
    assert_eq!(
        done,
        RetentionOutcome { files: 3, bytes: 3 * length(), times_ms, ..RetentionOutcome::default() }
    );
    assert_eq!(folder.expire(NOON_MS), RetentionOutcome::default());
    // A file that comes too late is deleted too.
    folder.put(-48);
    assert_eq!((folder.expire(NOON_MS).files, folder.hours()), (1, vec![-24, -5, 0]));
}

#[test]
fn the_example_of_the_documentation_says_what_it_means() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/operate/products.md");
    let text = fs::read_to_string(path).unwrap();
    let example = text.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let catalogue = RasterCatalogue::from_toml(example).unwrap();
    let product = catalogue.get("reflectivity").unwrap();
    assert_eq!(
        (product.keep_ms(None), product.keep_bytes()),
        (Some(7 * DAY_MS), Some(20_000_000_000))
    );
    let shipped = RasterCatalogue::default();
    let shipped = shipped.get("reflectivity").unwrap();
    assert_eq!((product.title(), product.fields()), (shipped.title(), shipped.fields()));
}

#[test]
fn the_span_is_that_of_the_duration() {
    let folder = folder("keep = { 1h = \"1d\" }", &[-60, -30, 0]);
    assert_eq!(folder.expire(NOON_MS), RetentionOutcome::default());
}

#[test]
fn a_clock_deletes_nothing_by_itself() {
    for now_ms in [i64::MIN, 0, NOON_MS - 400 * DAY_MS] {
        let folder = folder("keep = \"1d\"", &[-60, -30, -24, -5, 0]);
        // A clock that is behind keeps more.
        assert_eq!(folder.expire(now_ms), RetentionOutcome::default(), "{now_ms}");
    }
    for now_ms in [NOON_MS + 1, NOON_MS + 400 * DAY_MS, i64::MAX] {
        let folder = folder("keep = \"1d\"", &[-60, -30, -24, -5, 0]);
        folder.expire(now_ms);
        assert_eq!(folder.hours(), [-24, -5, 0], "{now_ms}");
    }
}

#[test]
fn a_file_of_a_wrong_time_deletes_nothing_even_with_a_clock_that_is_ahead() {
    let folder = folder("keep = \"1d\"", &[-24, -5, 0, 9000]);
    for now_ms in [NOON_MS, NOON_MS + 9001 * HOUR_MS, i64::MAX] {
        assert_eq!(folder.expire(now_ms), RetentionOutcome::default(), "{now_ms}");
    }
    // Once another one follows it, it counts.
    folder.put(9001);
    assert_eq!((folder.expire(NOON_MS).files, folder.hours().len()), (0, 5));
    folder.expire(NOON_MS + 9001 * HOUR_MS);
    assert_eq!(folder.hours(), [9000, 9001]);
}

#[test]
fn where_files_are_rarer_than_keep_the_newest_two_stay() {
    let folder = folder("keep = \"1h\"", &[-48, -24, 0]);
    folder.expire(NOON_MS);
    assert_eq!(folder.hours(), [-24, 0]);
}

#[test]
fn the_newest_stays_however_few_bytes_are_kept() {
    for (keep_bytes, hours) in [
        (0, &[0][..]),
        (length() - 1, &[0]),
        (2 * length() - 1, &[0]),
        (2 * length(), &[-1, 0]),
        (3 * length(), &[-2, -1, 0]),
        (u64::MAX >> 1, &[-2, -1, 0]),
    ] {
        let folder = folder(&format!("keep_bytes = {keep_bytes}"), &[-2, -1, 0]);
        folder.expire(NOON_MS);
        assert_eq!(folder.hours(), hours, "{keep_bytes}");
    }
}

/// Only what this store wrote is deleted.
#[test]
fn what_is_damaged_or_somebodys_stays() {
    let hours: Vec<i64> = (-60..=-50).chain([-1, 0]).collect();
    let folder = folder("keep = \"1d\"", &hours);
    let write = |hour: i64, bytes: &[u8]| fs::write(folder.path(hour), bytes).unwrap();
    // Cut, changed, empty, text, of another time, without a checksum, a folder, a link.
    let without_checksum = |bytes: &[u8]| {
        let mut bytes = bytes[..bytes.len() - 12].to_vec();
        let at = bytes.windows(8).position(|part| part == b"CHECKSUM").unwrap();
        bytes[at..][..8].copy_from_slice(b"REMARKED");
        bytes
    };
    let whole = pressure(NOON_MS - 59 * HOUR_MS);
    write(-60, &whole[..whole.len() / 2]);
    let mut changed = whole.clone();
    changed[whole.len() / 2] ^= 1;
    write(-59, &changed);
    write(-58, b"");
    write(-57, b"a map of mine");
    write(-56, &whole);
    write(-55, &without_checksum(&pressure(NOON_MS - 55 * HOUR_MS)));
    fs::remove_file(folder.path(-54)).unwrap();
    fs::create_dir(folder.path(-54)).unwrap();
    fs::remove_file(folder.path(-53)).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(folder.path(-52), folder.path(-53)).unwrap();
    for name in ["20240801T000000Z.TIF", "20240801T000000Z.tif.bak", "notes.txt"] {
        fs::write(folder.path(0).with_file_name(name), &whole).unwrap();
    }
    let before = names(&folder);
    let done = folder.expire(NOON_MS);
    assert_eq!((done.files, done.stay, done.failed.len()), (3, 6, 0));
    let gone: BTreeSet<_> = before.difference(&names(&folder)).cloned().collect();
    assert_eq!(gone, [-52, -51, -50].map(|hour| name(&folder.path(hour))).into());
    // They are counted once more, and nothing else happens.
    assert_eq!(folder.expire(NOON_MS), RetentionOutcome { stay: 6, ..RetentionOutcome::default() });
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

fn names(folder: &Folder) -> BTreeSet<String> {
    let entries = fs::read_dir(folder.path(0).parent().unwrap()).unwrap();
    entries.map(|entry| name(&entry.unwrap().path())).collect()
}

#[test]
fn the_newest_that_can_be_served_stays() {
    let folder = folder("keep_bytes = 0", &[-3, -2, -1, 0]);
    for hour in [-1, 0] {
        fs::write(folder.path(hour), "torn").unwrap();
    }
    let done = folder.expire(NOON_MS);
    assert_eq!((done.files, done.stay), (1, 1));
    assert_eq!(folder.hours(), [-2, -1, 0]);
}

#[test]
fn many_files_go_in_several_looks_and_a_stop_ends_one() {
    let hours: Vec<i64> = (-250..=0).collect();
    let folder = folder("keep_bytes = 0", &hours);
    let catalogue = folder.files.catalogue();
    let product = catalogue.get("pressure").unwrap();
    let stopped = folder.files.expire(product, NOON_MS, &|| true).unwrap();
    assert_eq!(stopped, RetentionOutcome { has_more: true, ..RetentionOutcome::default() });
    let looks: Vec<_> = (0..4).map(|_| folder.expire(NOON_MS)).collect();
    let looks: Vec<_> = looks.iter().map(|done| (done.files, done.has_more)).collect();
    assert_eq!(looks, [(100, true), (100, true), (50, false), (0, false)]);
    assert_eq!(folder.hours(), [0]);
}

#[test]
fn two_servers_on_one_folder_delete_each_file_once() {
    let hours: Vec<i64> = (-60..=0).collect();
    let folder = folder("keep_bytes = 0", &hours);
    let other = ProductFiles::new(folder.data.path(), catalogue("keep_bytes = 0"));
    let catalogue = other.catalogue();
    let product = catalogue.get("pressure").unwrap();
    let (one, two) = std::thread::scope(|scope| {
        let other = scope.spawn(|| other.expire(product, NOON_MS, &|| false).unwrap());
        (folder.expire(NOON_MS), other.join().unwrap())
    });
    assert_eq!((one.files + two.files, one.failed.len() + two.failed.len()), (60, 0));
    assert_eq!(folder.hours(), [0]);
}

#[cfg(unix)]
#[test]
fn a_file_that_cannot_be_read_or_deleted_is_named_and_the_others_go() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder("keep = \"1d\"", &[-60, -50, 0]);
    fs::set_permissions(folder.path(-60), fs::Permissions::from_mode(0o0)).unwrap();
    if File::open(folder.path(-60)).is_ok() {
        // The superuser reads everything.
        return;
    }
    let done = folder.expire(NOON_MS);
    assert_eq!((done.files, done.failed.len()), (1, 1));
    assert_eq!(done.failed[0].0, folder.path(-60));
}

fn listed(span: Option<ProductDuration>, times: &[(i64, u64)]) -> Vec<DatedFile> {
    let mut times = times.to_vec();
    times.sort_unstable_by_key(|one| std::cmp::Reverse(one.0));
    times.dedup_by_key(|one| one.0);
    let path = PathBuf::new();
    times
        .iter()
        .map(|&(ts_ms, bytes)| DatedFile { span, ts_ms, bytes, path: path.clone() })
        .collect()
}

proptest! {
    /// Whatever the clock says and whatever is there, the newest of each duration stays, nothing goes
    /// that is within `keep` of the newest or of the clock, and the oldest goes first.
    #[test]
    fn no_clock_and_no_file_deletes_what_is_kept(
        instants in prop::collection::vec((-10_000..10_000_i64, 0..50_u64), 0..30),
        hourly in prop::collection::vec((-10_000..10_000_i64, 0..50_u64), 0..30),
        now_ms in prop_oneof![-20_000..20_000_i64, any::<i64>()],
        keep_bytes in prop::option::of(0..1000_u64),
    ) {
        let limit = keep_bytes.map(|bytes| format!("\nkeep_bytes = {bytes}")).unwrap_or_default();
        let catalogue = catalogue(&format!("keep = \"1h\"{limit}"));
        let product = catalogue.get("pressure").unwrap();
        let scaled = |times: &[(i64, u64)]| -> Vec<(i64, u64)> {
            times.iter().map(|&(minute, bytes)| (minute * HOUR_MS / 60, bytes)).collect()
        };
        let hour = "1h".parse().ok();
        let all = [listed(None, &scaled(&instants)), listed(hour, &scaled(&hourly))];
        let now_ms = now_ms.saturating_mul(HOUR_MS / 60);
        let due = due(product, &all, now_ms);
        prop_assert!(due.is_sorted_by_key(|one| one.ts_ms));
        let stays = |one: &&DatedFile| !due.contains(one);
        for of_span in &all {
            let Some(newest) = of_span.first() else { continue };
            prop_assert!(stays(&newest));
            if keep_bytes.is_none() {
                let from_ms = newest.ts_ms.min(now_ms).saturating_sub(HOUR_MS);
                for one in of_span {
                    prop_assert!(one.ts_ms < from_ms || stays(&one));
                }
            }
        }
        if let Some(keep_bytes) = keep_bytes {
            let first: u64 = all.iter().filter_map(|of_span| of_span.first()).map(|one| one.bytes).sum();
            let bytes: u64 = all.iter().flatten().filter(stays).map(|one| one.bytes).sum();
            prop_assert!(bytes <= keep_bytes.max(first));
        }
    }
}

#[test]
fn the_cutoff_is_counted_from_the_earlier_of_clock_and_newest() {
    let at = |text: &str| parse_instant(text).unwrap();
    let times = ["2026-11-22T12:00:00Z", "2026-11-22T11:58:00Z", "2026-11-01T00:00:00Z"].map(at);
    for (now, expected) in [
        ("2026-11-22T12:01:00Z", "2026-11-19T12:00:00Z"),
        ("2030-01-01T00:00:00Z", "2026-11-19T12:00:00Z"),
        ("2026-11-20T12:00:00Z", "2026-11-17T12:00:00Z"),
    ] {
        assert_eq!(Iso8601(cutoff_ms(&times, 3 * DAY_MS, at(now))), Iso8601(at(expected)), "{now}");
    }
    assert_eq!(cutoff_ms(&times, i64::MAX, i64::MIN), i64::MIN);
}
