//! Model runs that a follower fetches by range from a service that speaks S3, which `tests/bucket`
//! starts and names in the environment: `tests/bucket cargo test -p mesonet-tests --test http
//! follower_bucket -- --include-ignored`, with a server that has the feature `s3`.

use std::fs;
use std::thread::sleep;
use std::time::Duration;

use tempfile::TempDir;

use crate::bucket::{ask, endpoint, objects, variable, with_bucket};
use crate::child::Process;
use crate::follower::{file, run, start, wait_until};
use crate::gate::Gate;
use crate::process::{PATIENCE, Server, command, data};

/// The levels of a field at two points, which are in other chunks.
const ONE: &str =
    "/models/nam211/point?run=20180917T000000Z&hour=0&row=40&col=20&fields=geopotential_height";
const OTHER: &str =
    "/models/nam211/point?run=20180917T000000Z&hour=0&row=0&col=80&fields=geopotential_height";
const SHARD: &str = "models/nam211/20180917T000000Z/geopotential_height/c/0/0/0/0";

/// A server with a run, the backup of its record in a bucket, and a gate before that.
struct Backed {
    folder: TempDir,
    writer: Server,
    place: String,
    gate: Gate,
}

impl Backed {
    fn new(prefix: &str) -> Self {
        let folder = crate::verify::record();
        let path = folder.path();
        let grib = data("grib/nam211_20180917T00Z_f000.grib2.gz");
        run(path, &["ingest", "--model", "nam211", &grib]);
        let place = format!("s3://{}/{prefix}", variable("MESONET_TEST_BUCKET"));
        let mut backup = with_bucket(command(path, &["backup", "--to", &place]), &endpoint());
        let (status, said) = Process::start(&mut backup, PATIENCE).wait();
        assert!(status.success(), "{}{}", said.out, said.err);
        let writer = start(&folder, &[]);
        Self { writer, place, gate: Gate::before(&endpoint()), folder }
    }

    /// A follower that looks for backups and keys at its start only.
    fn follow(&self) -> Server {
        let args = [
            ["--listen", "127.0.0.1:0"],
            ["--now", "2024-08-03T17:45:00Z"],
            ["--assume-plan", "commercial"],
            ["--data", "follower"],
            ["--follow", &self.place],
            ["--follow-runs", "by-range"],
            ["--follow-every-s", "3600"],
            ["--follow-keys-every-s", "3600"],
        ];
        let command = command(self.folder.path(), args.as_flattened());
        Server::spawn(with_bucket(command, self.gate.url()))
    }

    /// How many bytes came until nothing has for two seconds: a follower that has started looks for keys
    /// by itself.
    fn came_at_last(&self) -> u64 {
        loop {
            let came = self.gate.came();
            sleep(Duration::from_secs(2));
            if self.gate.came() == came {
                return came;
            }
        }
    }

    fn is_as_of_writer(&self, follower: &Server, path: &str) -> bool {
        let expected = file(&self.writer, path);
        assert!(expected.0.contains(" 200 "), "{}", expected.0);
        file(follower, path) == expected
    }

    /// The length of the largest shard.
    fn length(&self) -> u64 {
        fs::metadata(self.folder.path().join("mesonet-data").join(SHARD)).unwrap().len()
    }
}

#[test]
#[ignore = "needs a bucket: see tests/bucket"]
fn a_follower_fetches_only_what_is_read_of_model_runs_from_a_bucket() {
    let backed = Backed::new("bytes");
    let (follower, gate, length) = (backed.follow(), &backed.gate, backed.length());
    let at_start = backed.came_at_last();
    assert!(backed.is_as_of_writer(&follower, ONE));
    let of_one = gate.came() - at_start;
    // A chunk, the index of the shard, and 64 KiB before that for what it says of its content.
    assert!(of_one > 1 << 16 && of_one < length / 3, "{of_one} of {length} bytes for one place");
    assert!(backed.is_as_of_writer(&follower, ONE));
    assert_eq!(gate.came(), at_start + of_one, "what was read is here");
    assert!(backed.is_as_of_writer(&follower, OTHER));
    // A chunk alone: 256 cells with 19 levels of 2 bytes.
    let of_other = gate.came() - at_start - of_one;
    assert!((9728..2 * 9728).contains(&of_other), "{of_other} of {length} bytes for another place");
    assert_eq!(follower.stop().0, Some(0));
    // They are in the folder.
    let follower = backed.follow();
    let at_start = backed.came_at_last();
    assert!(backed.is_as_of_writer(&follower, ONE) && backed.is_as_of_writer(&follower, OTHER));
    assert_eq!(gate.came(), at_start);
}

#[test]
#[ignore = "needs a bucket: see tests/bucket"]
fn a_damaged_chunk_of_a_bucket_is_a_503_and_is_fetched_anew() {
    let backed = Backed::new("damage");
    let follower = backed.follow();
    assert!(backed.is_as_of_writer(&follower, ONE));
    let shards: Vec<(String, Vec<u8>)> = objects("damage/objects/")
        .into_iter()
        .filter(|(_, length)| *length == backed.length())
        .map(|(path, _)| (path.clone(), ask("GET", &path, b"")))
        .collect();
    assert!(!shards.is_empty());
    for (path, bytes) in &shards {
        let mut damaged = bytes.clone();
        let end = damaged.len() - 4096;
        damaged[..end].iter_mut().step_by(256).for_each(|byte| *byte ^= 0x55);
        ask("PUT", path, &damaged);
    }
    for _ in 0..2 {
        let (status, _, body) = file(&follower, OTHER);
        assert!(status.contains(" 503 "), "{status}{}", String::from_utf8_lossy(&body));
    }
    assert!(backed.is_as_of_writer(&follower, ONE), "what was read before goes on");
    for (path, bytes) in &shards {
        ask("PUT", path, bytes);
    }
    assert!(backed.is_as_of_writer(&follower, OTHER));
    let (status, log) = follower.stop();
    assert!(status == Some(0) && log.contains("is not as it was written"), "{log}");
}

/// Of one that does not answer a request got nothing for a minute, and held its turn as long.
#[test]
#[ignore = "needs a bucket: see tests/bucket"]
fn without_its_bucket_a_follower_serves_what_was_read_and_says_503_of_the_rest() {
    let backed = Backed::new("gone");
    let text = "\"the data cannot be used right now; try again later\"";
    for away in [Gate::close, Gate::fall_silent] {
        let follower = backed.follow();
        assert!(backed.is_as_of_writer(&follower, ONE));
        away(&backed.gate);
        for _ in 0..2 {
            let (status, _, body) = file(&follower, OTHER);
            assert!(status.contains(" 503 "), "{status}");
            assert_eq!(String::from_utf8(body).unwrap(), text);
            assert!(backed.is_as_of_writer(&follower, ONE), "what was read before goes on");
        }
        backed.gate.open();
        wait_until("it fetches again", || backed.is_as_of_writer(&follower, OTHER));
        let (status, log) = follower.stop();
        let why = "only parts of it are here, and the others cannot be fetched";
        assert!(status == Some(0) && log.contains(why), "{log}");
        // The next one has read nothing.
        fs::remove_dir_all(backed.folder.path().join("follower")).unwrap();
    }
}
