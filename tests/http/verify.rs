//! Every file of a data folder, damaged in every way: `verify` names it, and after `--set-aside`
//! finds no faults. A file whose kind is not in the table fails the test.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use mesonet::grid::{Encoding, GridProjection, LatLonGlobe};
use mesonet::model::{ProductDefinition, RunDefinition};
use mesonet::{grid, model};
use serde_json::Value;
use tempfile::TempDir;

use crate::process::{command, data, output};

const OWN: &str = "[pressure]\ntitle = \"Pressure\"\nunit = \"Pa\"\nscale = 1\noffset = 100000\n\
                   fields = [{ parameter = \"7:0.3.1\" }]\n";

/// The expected result for a damaged file.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// Every change is reported, and the file is set aside.
    SetAside,
    /// Every change of a byte that matters is reported. The file cannot be set aside alone.
    Catalogue,
    /// The same, and the readable alerts are saved.
    Alerts,
    /// The file is empty.
    Lock,
}

#[allow(clippy::case_sensitive_file_extension_comparisons, reason = "the names are ours")]
fn kind(file: &str) -> Kind {
    match file {
        "lock" => Kind::Lock,
        "mesonet.sqlite" => Kind::Catalogue,
        "alerts.sqlite" => Kind::Alerts,
        "mesonet.count" | "alerts.count" => Kind::SetAside,
        _ if file.ends_with(".lock") => Kind::Lock,
        _ if file.starts_with("segments/") && file.ends_with(".arrow") => Kind::SetAside,
        _ if file.starts_with("products/") && file.ends_with(".tif") => Kind::SetAside,
        _ if file.starts_with("models/demo/20180917T000000Z/") => Kind::SetAside,
        _ => panic!("the kind of {file} is not in this table"),
    }
}

/// A folder with sealed readings, alerts, a product for two times, and a model run.
pub fn record() -> TempDir {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    fs::write(path.join("own.toml"), OWN).unwrap();
    let run = |args: &[&str]| {
        let (ok, out, error) = output(path, args);
        assert!(ok, "{out}{error}");
    };
    let alerts = data("nws_alerts/alerts_active_2026-05-14T163524Z.geojson.gz");
    run(&["ingest", &alerts]);
    let metar = "METAR CYYZ 032000Z 24012G20KT 15SM FEW060 29/17 A2991=\n";
    fs::write(path.join("20240803.txt"), metar).unwrap();
    fs::write(path.join("mesonet.toml"), "seal_readings = 1\n").unwrap();
    run(&["ingest", "20240803.txt"]);
    let field = data("grib/nam211_prmsl_simple.grib2.gz");
    run(&["ingest", "--product", "pressure", "--products", "own.toml", &field]);
    // Sealed by the maintenance command.
    run(&["retention", "--retention", "40000d", "--config", "mesonet.toml"]);

    let store = model::RunStore::new(path.join("mesonet-data/models"));
    let product = |name: &str| ProductDefinition {
        name: name.to_owned(),
        unit: "K".to_owned(),
        levels_hpa: None,
        member: None,
        attributes: std::collections::BTreeMap::new(),
        encoding: Encoding::new(0.01, 273.15, i16::MIN).unwrap(),
    };
    let mut writer = store
        .write_run(RunDefinition {
            model: "demo".to_owned(),
            run: "20180917T000000Z".parse().unwrap(),
            grid: grid::Definition {
                rows: 20,
                columns: 30,
                projection: GridProjection::Globe(LatLonGlobe::LatLon),
                first_lon: -80.0,
                first_lat: 43.0,
                column_step: 1.0,
                row_step: 1.0,
                grid_relative_winds: false,
            },
            valid_ms: vec![1_537_142_400_000],
            products: vec![product("t"), product("td")],
        })
        .unwrap();
    for (name, value) in [("t", 1), ("td", 2)] {
        writer.write(0, name, &[value; 600]).unwrap();
    }
    writer.publish(&[0], 42).unwrap();
    folder
}

/// Returns every file below a folder, relative to it.
pub fn files(folder: &Path) -> Vec<String> {
    let mut all = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                all.push(path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    all.sort_unstable();
    all
}

fn copied(from: &Path) -> TempDir {
    let to = TempDir::new().unwrap();
    for file in files(from) {
        let path = to.path().join(&file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::copy(from.join(&file), path).unwrap();
    }
    to
}

/// Returns whether `verify` finds everything intact, and its faults.
fn verify(folder: &Path, more: &[&str]) -> (bool, Vec<Value>) {
    let (ok, out, error) = output(folder, &[&["verify", "--json"], more].concat());
    let told: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}{error}"));
    (ok, told["faults"].as_array().unwrap().clone())
}

/// Returns the ways in which a file is damaged.
fn harms(path: &Path) -> Vec<(&'static str, Option<Vec<u8>>)> {
    let whole = fs::read(path).unwrap();
    let flipped = |at: usize| {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        Some(bytes)
    };
    let noise: Vec<u8> =
        (0..whole.len() as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    vec![
        ("flipped at the beginning", flipped(0)),
        ("flipped in the middle", flipped(whole.len() / 2)),
        ("flipped at the end", flipped(whole.len() - 1)),
        ("cut", Some(whole[..whole.len() / 2].to_vec())),
        ("zeroed", Some(vec![0; whole.len()])),
        ("random", Some(noise)),
        ("deleted", None),
    ]
}

#[test]
fn every_file_that_is_damaged_is_named_and_set_aside() {
    let whole = record();
    let (ok, faults) = verify(whole.path(), &[]);
    assert!(ok && faults.is_empty(), "{faults:?}");
    let in_data = whole.path().join("mesonet-data");
    let all = files(&in_data);
    for kind_of in ["segments/", "products/", "models/", "alerts.sqlite", "mesonet.sqlite"] {
        assert!(all.iter().any(|file| file.starts_with(kind_of)), "{kind_of}: {all:?}");
    }
    for file in all {
        let kind = kind(&file);
        if kind == Kind::Lock {
            continue;
        }
        for (harm, bytes) in harms(&in_data.join(&file)) {
            let shown = format!("{file} {harm}");
            // The files of the model store are tested with that store.
            if file.starts_with("models/") && !["flipped in the middle", "deleted"].contains(&harm)
            {
                continue;
            }
            // A product without files never existed.
            if bytes.is_none() && file.starts_with("products/") {
                continue;
            }
            let folder = copied(whole.path());
            let path = folder.path().join("mesonet-data").join(&file);
            match bytes {
                Some(bytes) => fs::write(&path, bytes).unwrap(),
                None => fs::remove_file(&path).unwrap(),
            }
            let (ok, faults) = verify(folder.path(), &[]);
            // A database has unused space.
            let may_be_harmless =
                matches!(kind, Kind::Catalogue | Kind::Alerts) && harm.starts_with("flipped");
            if ok && may_be_harmless {
                continue;
            }
            let stem = file.split('.').next().unwrap();
            assert!(!ok, "{shown}");
            assert!(
                faults.iter().any(|fault| fault["file"].as_str().unwrap().starts_with(stem)),
                "{shown}: {faults:?}"
            );
            if kind == Kind::Catalogue {
                continue;
            }
            let (_, set_aside) = verify(folder.path(), &["--set-aside"]);
            assert!(
                set_aside.iter().all(|fault| fault["setAside"] == true),
                "{shown}: {set_aside:?}"
            );
            let (ok, faults) = verify(folder.path(), &[]);
            assert!(ok && faults.is_empty(), "{shown}: {faults:?}");
        }
    }
}

#[test]
fn a_file_in_the_place_of_another_one_is_named() {
    let folder = record();
    let products = folder.path().join("mesonet-data/products/pressure/instant");
    let name = "20180917T000000Z.tif";
    fs::copy(products.join(name), products.join("20180917T060000Z.tif")).unwrap();
    fs::write(products.join("notes.txt"), "foreign").unwrap();
    let (ok, out, _) = output(folder.path(), &["verify"]);
    assert!(!ok);
    assert!(out.contains("2 raster products in "), "{out}");
    assert!(out.contains("\nnot checked: products/pressure/instant/notes.txt\n"), "{out}");
    assert!(
        out.contains(
            "\nfault: products/pressure/instant/20180917T060000Z.tif: it is the file of pressure \
             (instant) of 2018-09-17T00:00:00Z\n"
        ),
        "{out}"
    );
    let (ok, out, _) = output(folder.path(), &["verify", "--set-aside"]);
    assert!(!ok && out.contains("\nfault, set aside: products/"), "{out}");
    let kept = "mesonet-data/damaged/products/pressure/instant/20180917T060000Z.tif";
    assert!(folder.path().join(kept).exists() && products.join("notes.txt").exists());
    let (ok, out, _) = output(folder.path(), &["verify"]);
    assert!(ok && out.ends_with("no fault\n"), "{out}");
}

/// Runs as the user nobody, who may only read the folder, and with a limit that forbids writing
/// even one byte to a file.
#[test]
fn verify_needs_only_read_access() {
    let folder = record();
    let binary = command(folder.path(), &[]).get_program().to_owned();
    let check = |before: &str| {
        let script = format!("ulimit -f 0; exec {before} \"$@\"");
        let mut shell = Command::new("sh");
        shell.args(["-c", &script, "sh"]).arg(&binary).args(["verify", "--data", "mesonet-data"]);
        shell.current_dir(folder.path()).output().unwrap()
    };
    let whole = |output: std::process::Output| {
        assert!(output.stdout.ends_with(b"no fault\n"), "{output:?}");
    };
    whole(check(""));
    let as_nobody = "setpriv --reuid 65534 --regid 65534 --clear-groups";
    let reachable = |path: &Path| {
        let script = format!("exec {as_nobody} test -r '{}'", path.display());
        Command::new("sh").args(["-c", &script]).output().is_ok_and(|out| out.status.success())
    };
    let allowed = |mode: u32| {
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(mode)).unwrap();
    };
    allowed(0o755);
    if reachable(&PathBuf::from(&binary)) && reachable(folder.path()) {
        whole(check(as_nobody));
    } else {
        println!("skipped: this user cannot become another one");
    }
}
