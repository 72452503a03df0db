//! The commands `grib ls` and `models`, and models that are made from files.

use std::fs;
use std::io::Read;

use bzip2::Compression;
use bzip2::read::BzEncoder;
use flate2::read::GzDecoder;
use liblzma::read::XzEncoder;
use serde_json::Value;
use tempfile::TempDir;

use crate::process::{Server, data, output};

/// Places of points of the grid, and what ecCodes reads there.
const PLACES: [(&str, f64); 4] = [
    ("lat=87.8638&lon=0.0000", 250.9861),
    ("lat=18.1390&lon=147.0000", 297.6013),
    ("lat=-1.3953&lon=0.0000", 300.2302),
    ("lat=-87.8638&lon=-36.0000", 228.2868),
];

const NAM: &str = "grib/nam211_20180917T00Z_f000.grib2.gz";

#[test]
fn grib_ls_has_a_line_for_each_field_and_says_where_a_file_breaks() {
    let folder = TempDir::new().unwrap();
    let (ok, out, error) = output(folder.path(), &["grib", "ls", "--model", "nam211", &data(NAM)]);
    assert!(ok && error.is_empty(), "{error}");
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines.len(), 7, "{out}");
    assert_eq!(
        lines[0],
        "1  PRMSL/prmsl [Pa]  7:0.3.1  level 101:0  2018-09-17T00:00:00Z (+0 h)  deterministic  65×93 \
         Lambert 81271 m  packing 5.3  min 100071.48 mean 101493.77 max 102821.88  pressure_msl of nam211"
    );
    assert!(lines[3].contains("UGRD/u [m/s]  7:0.2.2  level 100:10000  "), "{out}");

    // A cut message, after three whole ones.
    let mut bytes = Vec::new();
    GzDecoder::new(fs::File::open(data(NAM)).unwrap()).read_to_end(&mut bytes).unwrap();
    let cut = folder.path().join("cut.grib2");
    fs::write(&cut, &bytes[..bytes.len() - 100]).unwrap();
    let (ok, out, error) = output(folder.path(), &["grib", "ls", cut.to_str().unwrap()]);
    assert!(!ok && out.lines().count() == 5, "{out}");
    assert!(error.contains(": after 5 fields: the message is cut short: got "), "{error}");

    // Packed in every way that `ingest` reads. For xz and for archives the answer was once "no GRIB
    // message in it".
    let mut tar = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_gnu();
    header.set_size(bytes.len() as u64);
    tar.append_data(&mut header, "nam.grib2", &*bytes).unwrap();
    let tar = tar.into_inner().unwrap();
    let (mut xz, mut bzip2) = (Vec::new(), Vec::new());
    XzEncoder::new(&*bytes, 1).read_to_end(&mut xz).unwrap();
    BzEncoder::new(&*bytes, Compression::fast()).read_to_end(&mut bzip2).unwrap();
    for (name, packed) in [("nam.grib2.xz", xz), ("nam.grib2.bz2", bzip2), ("nam.tar", tar)] {
        let path = folder.path().join(name);
        fs::write(&path, packed).unwrap();
        let (ok, out, error) = output(folder.path(), &["grib", "ls", path.to_str().unwrap()]);
        let fields = out.lines().filter(|line| line.contains("  packing 5.")).count();
        assert!(ok && fields == 7 && error.is_empty(), "{name}: {out}{error}");
    }
    let text = folder.path().join("letter.txt");
    fs::write(&text, "Dear reader").unwrap();
    let (ok, _, error) = output(folder.path(), &["grib", "ls", text.to_str().unwrap()]);
    assert!(!ok && error.ends_with("letter.txt: there is no GRIB message in it\n"), "{error}");

    let refused = ["refused_edition_1.grib", "refused_icosahedral_icon.grib2"]
        .map(|name| data(&format!("grib/grids/{name}")));
    let (ok, out, _) = output(folder.path(), &["grib", "ls", &refused[0], &refused[1]]);
    assert!(ok, "{out}");
    assert!(out.contains("1  refused: unsupported GRIB edition 1: it must be 2\n"), "{out}");
    assert!(out.contains("refused: unsupported grid template (unstructured, "), "{out}");
}

#[test]
fn models_are_listed_shown_and_checked() {
    let folder = TempDir::new().unwrap();
    let run = |args: &[&str]| output(folder.path(), args);
    let (ok, out, _) = run(&["models", "list"]);
    assert!(ok && out.lines().count() == 37, "{out}");
    assert!(out.contains("\nhrdps                 15 products  HRDPS, Canada's High Resolution"));
    let (ok, table, _) = run(&["models", "show", "hrdpa"]);
    assert!(ok && table.starts_with("[hrdpa]\ntitle = \"HRDPA, "), "{table}");
    let (ok, _, error) = run(&["models", "show", "hrpda"]);
    assert!(
        !ok && error.starts_with("error: unknown model \"hrpda\"; known are aifs, "),
        "{error}"
    );
    let (ok, out, _) = run(&["models", "help"]);
    assert!(ok && out.starts_with("# Models: the catalogue, the commands, the endpoints\n"));

    let own = folder.path().join("own.toml");
    let check = |text: &str| {
        fs::write(&own, text).unwrap();
        run(&["models", "check", own.to_str().unwrap()])
    };
    let (ok, out, _) = check(&table.replace("[hrdpa]", "[mine]"));
    assert!(ok);
    assert_eq!(out, "mine: valid, 4 products\n");
    let (ok, _, error) = check(&table.replace("unit = \"kg/m²\"", "unt = 1"));
    assert!(!ok && error.contains("own.toml: ") && error.contains("unt"), "{error}");
}

/// A reduced Gaussian grid that no catalogue knows.
#[test]
fn a_model_is_made_from_its_file_and_served_by_the_next_start() {
    let folder = TempDir::new().unwrap();
    let file = data("grib/grids/gaussian_o32_ecmwf.grib2");
    let ingest = |more: &[&str]| {
        output(folder.path(), &[&["ingest", &*file, "--model", "o32"], more].concat())
    };
    let (ok, out, error) = ingest(&[]);
    assert!(ok && out.contains("fields: 1 used of 1"), "{out}{error}");
    let table = folder.path().join("mesonet-data/made-models/o32.toml");
    let table = fs::read_to_string(table).unwrap();
    assert!(error.starts_with(&table), "{error}");
    assert!(
        table.contains("name = \"tmp_level105_137\", unit = \"K\", packing = \"auto\""),
        "{table}"
    );
    // A second time: the table is read back, and what is there stays.
    let (ok, out, _) = ingest(&[]);
    assert!(ok && out.contains("1 unchanged"), "{out}");
    let (ok, _, error) = ingest(&["--new-model"]);
    assert!(!ok && error.contains("\"o32\" is in the catalogue already"), "{error}");

    // A made model needs an account, like all models that are not open.
    let server = Server::start(&folder, &["--now", "live"]);
    assert!(server.get("/models/o32/runs").0.starts_with("HTTP/1.1 401 "));
    server.stop();
    let server = Server::start(&folder, &["--now", "live", "--assume-plan", "free"]);
    let get = |path: &str| -> Value { serde_json::from_str(&server.get(path).1).unwrap() };
    let run = get("/models/o32/runs")["runs"][0].as_str().unwrap().to_owned();
    let grid = get(&format!("/models/o32/grid?run={run}"));
    assert_eq!((&grid["projection"], &grid["parallels"]), (&"gaussian".into(), &32.into()));
    let point = format!("/models/o32/point?run={run}&hour=0&fields=tmp_level105_137");
    let value = |place: &str| {
        get(&format!("{point}&{place}"))["fields"]["tmp_level105_137"]["value"].as_f64().unwrap()
    };
    // ecCodes' nearest points (golden.json): the first and the last of the message.
    for (place, expected) in PLACES {
        assert!((value(place) - expected).abs() < 2.6e-3, "{place}: {}", value(place));
    }
    let products = get(&format!("/models/o32/products?run={run}"));
    assert_eq!(products["products"].as_array().unwrap().len(), 1);
    server.stop();
}
