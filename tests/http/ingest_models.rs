//! GRIB2 files of models: the command while a server runs, and `POST /ingest?model=`.

use std::fs;
use std::io::Read;
use std::path::PathBuf;

use flate2::read::GzDecoder;
use mesonet::access::Plan;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::model_pushes::ModelPushes;
use crate::process::{Server, data, output};

/// A model whose runs have four hours, from the messages of the tests.
const MODELS: &str = r#"
    [pressure]
    title = "p"
    access = { plan = "none" }
    hours = "0-3"
    keep_runs = 1
    products = [
        { name = "pressure_msl", unit = "Pa", scale = 0.5, offset = 98000.0, parameter = "7:0.3.1", level = "101" },
        { name = "wind_gust", unit = "m/s", scale = 0.01, parameter = "7:0.2.22", level = "1" },
    ]
"#;

const PRESSURE: &str = "nam211_prmsl_simple";
const SEVERAL: &str = "nam211_20180917T00Z_f000";

fn sample(name: &str) -> String {
    format!("{}/../server-example/sample/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn grib(name: &str) -> PathBuf {
    PathBuf::from(data(&format!("grib/{name}.grib2.gz")))
}

fn message(name: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    GzDecoder::new(fs::File::open(grib(name)).unwrap()).read_to_end(&mut bytes).unwrap();
    bytes
}

fn parsed(out: &str) -> Value {
    serde_json::from_str(out).unwrap()
}

#[test]
fn runs_are_written_while_a_server_runs_and_verified() {
    let folder = TempDir::new().unwrap();
    let server = Server::start(&folder, &["--now", "live"]);
    let runs = |server: &Server, model: &str| {
        let (head, body) = server.get(&format!("/models/{model}/runs"));
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
        parsed(&body)["runs"].clone()
    };
    assert_eq!(runs(&server, "nam211"), json!([]));
    let file = sample("nam211_20180917T00Z_f000_181msg.grib2");
    let ingest = |more: &[&str]| output(folder.path(), &[&["ingest", &*file], more].concat());
    let (ok, out, error) = ingest(&["--model", "nam211"]);
    assert!(ok && error.is_empty(), "{out}{error}");
    assert!(
        out.starts_with(
            "nam211 20180917T000000Z: 1 of 1 hours\n  temperature: 19 fields, packed within 4.72e-3 K\n"
        ),
        "{out}"
    );
    assert!(out.contains("\n  precipitation: 1 field, packed exactly\n"), "{out}");
    assert!(out.ends_with("\nfields: 138 used of 181, 43 of no product\n"), "{out}");
    assert_eq!(runs(&server, "nam211"), json!(["20180917T000000Z"]));
    let (head, body) = server.get(
        "/models/nam211/point?run=20180917T000000Z&hour=0&row=40&col=20&fields=temperature_2m",
    );
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    let value = parsed(&body)["fields"]["temperature_2m"]["value"].as_f64().unwrap();
    assert!((value - 290.057_343_75).abs() <= 0.005, "{value}");

    let (ok, out, _) = ingest(&["--model", "nam211", "--json"]);
    assert!(ok);
    let summary = parsed(&out);
    assert_eq!(
        summary["models"],
        json!({
            "model": "nam211", "files": 1, "fields": 181, "used": 0, "otherFields": 43,
            "replaced": 0, "thereAlready": 138, "refused": 0, "refusals": [], "runs": [],
            "removed": [],
        })
    );

    let (ok, _, error) = ingest(&["--model", "nam2"]);
    assert!(!ok, "{error}");
    assert_eq!(
        error,
        "error: unknown model \"nam2\"; it is almost nam; to make a model of that name from the \
         files, add --new-model\n"
    );
    let (ok, out, _) = ingest(&["--model", "hrdps"]);
    assert!(!ok && out.starts_with("fields: 0 used of 181, 181 of no product\n"), "{out}");
    assert!(
        out.ends_with(
            ": none of its fields belongs to a product of model hrdps; it holds 7:0.3.1, 7:0.2.22, \
             7:0.3.5, 7:0.0.0, 7:0.1.1, …\n"
        ),
        "{out}"
    );
    let (ok, _, error) = ingest(&["--model", "nam211", "--feed", "swob"]);
    assert!(!ok && error.contains("'--model <NAME>' cannot be used with '--feed"), "{error}");
    assert_eq!(server.stop().0, Some(0));

    let (ok, out, error) = output(folder.path(), &["verify"]);
    assert!(ok && out.contains("\n1 model runs with 66 files in "), "{out}{error}");
    assert!(out.ends_with("\nno fault\n"), "{out}");
    let run = folder.path().join("mesonet-data/models/nam211/20180917T000000Z");
    let shard = run.join("temperature_2m/c/0/0/0");
    let mut bytes = fs::read(&shard).unwrap();
    bytes[1000] ^= 1;
    fs::write(&shard, bytes).unwrap();
    let (ok, out, _) = output(folder.path(), &["verify"]);
    assert!(!ok && out.contains("temperature_2m/c/0/0/0: chunk 0, "), "{out}");
}

#[test]
fn what_cannot_be_placed_is_named_and_the_rest_is_written() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("models.toml"), MODELS).unwrap();
    let mut other = message(PRESSURE);
    // The number of the grid template: 32768 is a staggered one of NCEP.
    let section = other.windows(5).position(|bytes| bytes == [0, 0, 0, 81, 3]).unwrap();
    other[section + 12..section + 14].copy_from_slice(&32768_u16.to_be_bytes());
    let files = folder.path().join("files");
    fs::create_dir(&files).unwrap();
    fs::write(files.join("b.grib2"), [other.clone(), message(SEVERAL)].concat()).unwrap();
    fs::write(files.join("a.grib2"), other).unwrap();
    fs::write(files.join("letter.txt"), "Dear reader").unwrap();
    let (ok, out, error) = output(
        folder.path(),
        &["ingest", "files", "--model", "pressure", "--models", "models.toml", "--json"],
    );
    assert!(!ok && error.is_empty(), "{error}");
    let summary = parsed(&out);
    let models = &summary["models"];
    assert_eq!((&models["used"], &models["refused"]), (&json!(2), &json!(2)));
    assert_eq!((&models["otherFields"], &models["files"]), (&json!(5), &json!(1)));
    assert_eq!(models["refusals"][1]["file"], "files/b.grib2");
    assert_eq!(models["refusals"][1]["field"], "field 1 (7:0.3.1)");
    let refused = models["refusals"][1]["error"].as_str().unwrap();
    assert!(
        refused.starts_with("unsupported grid template (Arakawa E-staggered, rotated) 32768; "),
        "{refused}"
    );
    let [run] = &**models["runs"].as_array().unwrap() else { panic!("{models}") };
    assert_eq!((&run["hours"], &run["ofHours"]), (&json!([0]), &json!(4)));
    let product = &run["products"][0];
    assert_eq!((&product["name"], &product["halfStep"]), (&json!("pressure_msl"), &json!(0.25)));
    assert!(product["packingError"].as_f64().unwrap() <= 0.25);
    // If only a part of a file is stored, the rest is a fault too.
    assert_eq!(summary["faults"]["count"], 3);
    let faults = summary["faults"]["first"].as_array().unwrap();
    let files: Vec<&str> = faults.iter().map(|fault| fault["file"].as_str().unwrap()).collect();
    assert_eq!(files, ["files/a.grib2", "files/letter.txt", "files/b.grib2"]);
}

fn service() -> ModelPushes {
    ModelPushes::new(MODELS, Plan::None)
}

#[test]
fn a_file_that_is_pushed_is_part_of_its_run_at_once() {
    let service = service();
    let pushed = fs::read(grib(PRESSURE)).unwrap();
    let summary = service.summary("model=pressure&name=a.grib2.gz", pushed);
    assert_eq!((&summary["models"]["used"], &summary["models"]["files"]), (&json!(1), &json!(1)));
    assert_eq!(service.json("/models/pressure/runs")["runs"], json!(["20180917T000000Z"]));
    let value = |field: &str| {
        let path = format!(
            "/models/pressure/point?run=20180917T000000Z&hour=0&row=40&col=20&fields={field}"
        );
        service.json(&path)["fields"][field]["value"].clone()
    };
    assert!((value("pressure_msl").as_f64().unwrap() - 101_828.76).abs() < 1.0);
    assert_eq!(value("wind_gust"), Value::Null);
    // The hour's other product arrives later and is also served.
    let summary = service.summary("model=pressure", message(SEVERAL));
    assert_eq!(summary["models"]["thereAlready"], 1);
    assert!(value("wind_gust").as_f64().unwrap() > 0.0);
    assert!(service.runs().join("pressure/20180917T000000Z").is_dir());
}

#[test]
fn a_push_without_effect_says_why() {
    let service = service();
    let refused = |query: &str, body: &[u8]| service.refused(query, body.to_vec());
    let none = refused("model=nam2", b"");
    assert!(none.starts_with("model: unknown model \"nam2\"; known are aifs, arome, "), "{none}");
    assert_eq!(
        refused("model=pressure&feed=swob", b""),
        "model cannot be given with feed: the files of models are GRIB2"
    );
    assert_eq!(
        refused("model=pressure&name=a.txt", b"Dear reader"),
        "a.txt: none of its fields belongs to a product of model pressure; it holds no field"
    );
    let cut = &message(PRESSURE)[..200];
    let cut = refused("model=pressure", cut);
    assert!(cut.starts_with("-: field 1: the message is cut short: got 200 of "), "{cut}");
    assert_eq!(service.json("/models/pressure/runs")["runs"], json!([]));
}

/// The path of a file that was once misread.
fn reported(name: &str) -> String {
    format!("{}/data/reported/grib/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn a_model_made_from_files_stores_every_field_or_leaves_nothing_behind() {
    let folder = TempDir::new().unwrap();
    for (name, file, products) in [
        ("spread", "std_and_rms.grib2", 2),
        ("soil", "depth_then_layer.grib2", 2),
        ("ground", "surface_two_values.grib2", 2),
        ("shapes", "latlon_two_shapes.grib2", 1),
    ] {
        let args = ["ingest", &reported(file), "--model", name, "--new-model", "--json"];
        let (ok, out, error) = output(folder.path(), &args);
        assert!(ok, "{file}: {error}");
        let models = &parsed(&out)["models"];
        assert_eq!(models["used"], models["fields"], "{file}");
        assert!(models["runs"][0]["products"].as_array().unwrap().len() >= products, "{models}");
    }
    // The packing is not supported: the table could be made, but nothing was stored.
    let mut unpackable = fs::read(reported("surface_two_values.grib2")).unwrap();
    let mut at = 0;
    while let Some(found) =
        unpackable[at..].windows(5).position(|of| of[..3] == [0; 3] && of[4] == 5)
    {
        unpackable[at + found + 10] = 61;
        at += found + 11;
    }
    fs::write(folder.path().join("odd.grib2"), &unpackable).unwrap();
    let args = ["ingest", "odd.grib2", "--model", "odd", "--new-model"];
    let (ok, _, error) = output(folder.path(), &args);
    assert!(!ok && error.contains("is removed again"), "{error}");
    let mut found = Vec::new();
    let mut folders = vec![folder.path().to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap().map(|entry| entry.unwrap().path()) {
            found.extend(entry.file_name().unwrap().to_str().map(str::to_owned));
            folders.extend(entry.is_dir().then_some(entry));
        }
    }
    assert!(found.contains(&"soil.toml".to_owned()) && !found.contains(&"odd.toml".to_owned()));
}
