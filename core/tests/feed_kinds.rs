//! The kind of a file is found from its content and its name, and never another's.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use mesonet::FeedKind;
use mesonet::feed::DETECT_BYTES;

/// Every file of test data: how its path starts, below `tests/data`, and its kind. The first that
/// fits counts; the number is of the files that it counts for.
const KINDS: [(&str, usize, Option<FeedKind>); 25] = [
    ("nws_observation/pynws/alerts", 2, Some(FeedKind::NwsAlerts)),
    // An answer without an observation.
    ("nws_observation/pynws/stations_observations_noprop", 1, None),
    ("nws_observation/", 21, Some(FeedKind::NwsObservation)),
    ("eccc_hourly/eccc_", 5, Some(FeedKind::EcccHourly)),
    // Another schema.
    ("eccc_hourly/moti_cmml", 1, None),
    ("swob/", 170, Some(FeedKind::Swob)),
    ("metar/awc_metars_cache", 7, Some(FeedKind::AwcCsv)),
    ("metar/liveairdata", 6, Some(FeedKind::AwcCsv)),
    ("metar/bulletins/", 9, Some(FeedKind::MetarBulletin)),
    ("metar/ktpa", 1, Some(FeedKind::MetarBulletin)),
    ("ndbc/latest_obs", 2, Some(FeedKind::NdbcLatest)),
    ("ndbc/realtime2", 11, Some(FeedKind::NdbcRealtime2)),
    ("iem_asos/asos_", 5, Some(FeedKind::IemAsos)),
    // Known so as to say why it is not read.
    ("iem_asos/nycflights13", 1, Some(FeedKind::IemAsos)),
    ("isd/", 2, Some(FeedKind::Isd)),
    ("ghcnh/", 4, Some(FeedKind::Ghcnh)),
    ("capcp/", 9, Some(FeedKind::Cap)),
    ("nws_cap/", 7, Some(FeedKind::Cap)),
    ("cap_not_real/", 2, Some(FeedKind::Cap)),
    ("nws_alerts/", 1, Some(FeedKind::NwsAlerts)),
    // Products for people, which are read in tests of alert chains only.
    ("nws_text_vtec/NPW", 2, None),
    ("nws_text_vtec/", 7, None),
    ("zones/", 11, None),
    // Fields of models and radars are no feed of reports or alerts.
    ("grib/", 10, None),
    ("model_grids/", 19, None),
];

fn files(folder: &Path, all: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, all);
        } else if path.file_name().unwrap() != "SOURCES.md" {
            all.push(path);
        }
    }
}

/// The kind of a file, by its name without the ending of its compression and its first bytes.
fn detected(path: &Path) -> Option<FeedKind> {
    let name = path.file_name().unwrap().to_str().unwrap();
    let mut start = Vec::new();
    let file = fs::File::open(path).unwrap();
    let limit = DETECT_BYTES as u64;
    let plain = name.strip_suffix(".gz");
    match plain {
        Some(_) => GzDecoder::new(file).take(limit).read_to_end(&mut start).unwrap(),
        None => file.take(limit).read_to_end(&mut start).unwrap(),
    };
    FeedKind::detect(plain.unwrap_or(name), &start)
}

#[test]
fn every_file_is_of_its_kind_and_of_no_other() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data");
    let mut all = Vec::new();
    files(&root, &mut all);
    let mut counts = [0; KINDS.len()];
    for path in &all {
        let below = path.strip_prefix(&root).unwrap().to_str().unwrap().replace('\\', "/");
        let row = KINDS.iter().position(|(start, ..)| below.starts_with(start));
        let row = row.unwrap_or_else(|| panic!("{below} is in no row"));
        assert_eq!(detected(path), KINDS[row].2, "{below}");
        counts[row] += 1;
    }
    assert_eq!(counts, KINDS.map(|(_, count, _)| count));
}

#[test]
fn what_is_no_feed_is_of_no_kind() {
    for (name, text) in [
        ("41002.txt", "nothing but words\n"),
        ("asos.csv", "station,name\nCLE,Cleveland\n"),
        ("a.xml", "<stations count=\"0\"></stations>"),
        ("a.json", "{}"),
        ("", ""),
    ] {
        assert_eq!(FeedKind::detect(name, text.as_bytes()), None, "{name}");
    }
}
