//! Model runs that a follower fetches by range, when they are first read.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use tempfile::TempDir;

use crate::follower::{backup, file, run, start};
use crate::process::{Server, data, output};

const FOLLOWS: [&str; 6] = ["--data", "follower", "--follow", "backups", "--follow-every-s", "1"];
const BY_RANGE: [&str; 2] = ["--follow-runs", "by-range"];
/// The levels of a field at a point, those of a wind elsewhere, and a value of a field that is small.
const PATHS: [&str; 3] = [
    "/models/nam211/point?run=20180917T000000Z&hour=0&row=40&col=20&fields=geopotential_height",
    "/models/nam211/point?run=20180917T000000Z&hour=0&row=3&col=80&fields=u_wind,v_wind",
    "/models/nam211/point?run=20180917T000000Z&hour=0&row=40&col=20&fields=pressure_msl",
];

fn follow(folder: &TempDir, more: &[&str]) -> Server {
    start(folder, &[&FOLLOWS[..], more].concat())
}

fn of(server: &Server) -> [(String, Option<String>, Vec<u8>); 3] {
    PATHS.map(|path| file(server, path))
}

/// The length of the largest shard, and the bytes on disk that it takes.
fn shard(folder: &Path) -> (u64, u64) {
    let path = folder.join("follower/models/nam211/20180917T000000Z/geopotential_height/c/0/0/0/0");
    let found = fs::metadata(path).unwrap();
    (found.len(), found.blocks() * 512)
}

fn record() -> TempDir {
    let folder = crate::verify::record();
    let grib = data("grib/nam211_20180917T00Z_f000.grib2.gz");
    run(folder.path(), &["ingest", "--model", "nam211", &grib]);
    backup(&folder);
    folder
}

#[test]
fn a_follower_fetches_what_is_read_of_model_runs() {
    let folder = record();
    let path = folder.path();
    let writer = start(&folder, &[]);
    let expected = of(&writer);
    assert!(expected.iter().all(|answer| answer.0.contains(" 200 ")), "{expected:?}");
    let follower = follow(&folder, &BY_RANGE);
    let (length, empty) = shard(path);
    assert!(empty < length / 4, "{empty} of {length} bytes are on disk before it is read");
    assert_eq!(of(&follower), expected);
    let (_, some) = shard(path);
    assert!(empty < some && some < length, "{some} of {length} bytes are on disk");

    // Without the place, what was read is here, also after a restart.
    let away = path.join("away");
    fs::rename(path.join("backups"), &away).unwrap();
    assert_eq!(of(&follower), expected);
    assert_eq!(follower.stop().0, Some(0));
    let follower = follow(&folder, &BY_RANGE);
    assert_eq!(of(&follower), expected);
    let other = PATHS[0].replace("row=40", "row=0");
    let (status, _, body) = file(&follower, &other);
    assert!(status.contains(" 503 "), "{status}");
    let text = "\"the data cannot be used right now; try again later\"";
    assert_eq!(String::from_utf8(body).unwrap(), text);
    fs::rename(&away, path.join("backups")).unwrap();
    assert_eq!(file(&follower, &other), file(&writer, &other));
    let (status, log) = follower.stop();
    let why = "only parts of it are here, and the others cannot be fetched";
    assert!(status == Some(0) && log.contains(why), "{log}");

    // It is a matter of the setting, not of the folder.
    let follower = follow(&folder, &[]);
    assert_eq!((of(&follower), shard(path).0), (expected.clone(), length - 40));
    assert_eq!(follower.stop().0, Some(0));
    assert_eq!(of(&follow(&folder, &BY_RANGE)), expected);
    assert_eq!(shard(path).0, length - 40, "what is whole stays whole");
}

#[test]
fn a_damaged_object_gives_no_answer_and_what_is_here_in_parts_is_not_promoted() {
    let folder = record();
    let path = folder.path();
    let follower = follow(&folder, &BY_RANGE);
    // Some bytes of all chunks of the largest objects that are shards.
    let objects = fs::read_dir(path.join("backups/objects")).unwrap();
    let files = objects.flat_map(|of| fs::read_dir(of.unwrap().path()).unwrap());
    let mut damaged = 0;
    for file in files {
        let file = file.unwrap().path();
        let mut bytes = fs::read(&file).unwrap();
        if bytes.len() as u64 + 40 == shard(path).0 {
            let end = bytes.len() - 4096;
            bytes[..end].iter_mut().step_by(256).for_each(|byte| *byte ^= 0x55);
            fs::write(file, bytes).unwrap();
            damaged += 1;
        }
    }
    assert!(damaged > 0);
    let (status, ..) = file(&follower, PATHS[0]);
    assert!(status.contains(" 503 "), "{status}");
    let (status, log) = follower.stop();
    assert!(status == Some(0) && log.contains("is not as it was written"), "{log}");

    let (ok, _, error) = output(path, &["promote", "--data", "follower"]);
    assert!(!ok && error.contains("files of model runs are in follower in parts only"), "{error}");
    assert!(path.join("follower/follower").exists(), "it still follows");
    let (ok, out, error) = output(path, &["verify", "--data", "follower"]);
    assert!(ok && !out.contains("damaged"), "{out}{error}");
    run(path, &["promote", "--force", "--data", "follower"]);
    let promoted = start(&folder, &["--data", "follower"]);
    let (status, ..) = file(&promoted, PATHS[0]);
    assert!(status.contains(" 503 "), "{status}");
    let (_, log) = promoted.stop();
    assert!(log.contains("only a follower can fetch them"), "{log}");
}
