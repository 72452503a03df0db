//! The kind of a file is found from its content and its name, and is never confused with another.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use mesonet::feed;
use mesonet::feed::DETECT_BYTES;

/// Every file of the test data: the start of its path below `tests/data`, and its kind. The first
/// match counts; the number is how many files it matches.
const KINDS: [(&str, usize, Option<feed::Kind>); 36] = [
    ("nws_observation/pynws/alerts", 2, Some(feed::Kind::NwsAlerts)),
    // An answer without an observation.
    ("nws_observation/pynws/stations_observations_noprop", 1, None),
    ("nws_observation/", 21, Some(feed::Kind::NwsObservation)),
    ("eccc_hourly/eccc_", 5, Some(feed::Kind::EcccHourly)),
    // Another schema.
    ("eccc_hourly/moti_cmml", 1, None),
    ("swob/", 173, Some(feed::Kind::Swob)),
    ("geomet_swob/", 9, Some(feed::Kind::GeometSwob)),
    ("metar/awc_metars_cache", 7, Some(feed::Kind::AwcCsv)),
    ("metar/liveairdata", 6, Some(feed::Kind::AwcCsv)),
    ("metar/bulletins/", 9, Some(feed::Kind::MetarBulletin)),
    ("metar/ktpa", 1, Some(feed::Kind::MetarBulletin)),
    ("ndbc/latest_obs", 2, Some(feed::Kind::NdbcLatest)),
    ("ndbc/realtime2", 11, Some(feed::Kind::NdbcRealtime2)),
    ("iem_asos/asos_", 5, Some(feed::Kind::IemAsos)),
    // Recognised only to explain why it is not read.
    ("iem_asos/nycflights13", 1, Some(feed::Kind::IemAsos)),
    // A table made of several files.
    ("isd/isd_network", 1, None),
    ("isd/", 2, Some(feed::Kind::Isd)),
    ("ghcnh/", 4, Some(feed::Kind::Ghcnh)),
    ("capcp/", 9, Some(feed::Kind::Cap)),
    ("reported/alerts/cap_", 4, Some(feed::Kind::Cap)),
    ("reported/alerts/partial_update", 1, Some(feed::Kind::NwsAlerts)),
    ("nws_cap/", 7, Some(feed::Kind::Cap)),
    ("cap_not_real/", 2, Some(feed::Kind::Cap)),
    // A table of names.
    ("nws_alerts/event_names", 1, None),
    ("nws_alerts/", 1, Some(feed::Kind::NwsAlerts)),
    // Products for people, which are read only in tests of alert chains.
    ("nws_text_vtec/NPW", 2, None),
    ("nws_text_vtec/", 7, None),
    ("zones/", 14, None),
    ("reported/metar/", 7, Some(feed::Kind::MetarBulletin)),
    ("reported/tables/iem", 1, Some(feed::Kind::IemAsos)),
    ("reported/tables/isd_global_hourly", 1, Some(feed::Kind::IsdCsv)),
    ("reported/tables/isd_lite", 1, Some(feed::Kind::IsdLite)),
    ("reported/tables/isd", 1, Some(feed::Kind::Isd)),
    ("reported/tables/", 4, Some(feed::Kind::AwcCsv)),
    // Fields of models and radars are not feeds of reports or alerts.
    ("grib/", 32, None),
    ("reported/grib/", 6, None),
];

/// Folders of the test data that mesonet's own stores wrote: none of their files is delivered.
const STORES: [&str; 3] = ["archive", "model_grids", "version_6"];

fn files(folder: &Path, all: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            if !STORES.contains(&name) {
                files(&path, all);
            }
        } else if name != "SOURCES.md" {
            all.push(path);
        }
    }
}

/// Returns the kind of a file, from its name without the compression extension and its first bytes.
fn detected(path: &Path) -> Option<feed::Kind> {
    let name = path.file_name().unwrap().to_str().unwrap();
    let mut start = Vec::new();
    let file = fs::File::open(path).unwrap();
    let limit = DETECT_BYTES as u64;
    let plain = name.strip_suffix(".gz");
    match plain {
        Some(_) => GzDecoder::new(file).take(limit).read_to_end(&mut start).unwrap(),
        None => file.take(limit).read_to_end(&mut start).unwrap(),
    };
    feed::Kind::detect(plain.unwrap_or(name), &start)
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
        let row = row.unwrap_or_else(|| panic!("no row matches {below}"));
        assert_eq!(detected(path), KINDS[row].2, "{below}");
        counts[row] += 1;
    }
    assert_eq!(counts, KINDS.map(|(_, count, _)| count));
}

#[test]
fn a_file_that_is_not_a_feed_has_no_kind() {
    for (name, text) in [
        ("41002.txt", "nothing but words\n"),
        ("asos.csv", "station,name\nCLE,Cleveland\n"),
        ("a.xml", "<stations count=\"0\"></stations>"),
        ("a.json", "{}"),
        ("", ""),
    ] {
        assert_eq!(feed::Kind::detect(name, text.as_bytes()), None, "{name}");
    }
}
