//! GRIB2 files of models that break off, are damaged, or come in steps: what is served until then,
//! and what completes the run.

use std::fs;
use std::io::Write;

use axum::http::header;
use flate2::Compression;
use flate2::write::GzEncoder;
use mesonet::access::Plan;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::model_pushes::{ModelPushes, message, whole};
use crate::process::output;

const RUN: &str = "20180917T000000Z";
const LASTING: &str = "public, max-age=31536000, immutable";

/// A model with stated hours and levels, and one that has what arrives.
const MODELS: &str = r#"
    [stated]
    title = "s"
    access = { plan = "none" }
    hours = "0,3"
    keep_runs = 1
    products = [
        { name = "pressure", unit = "Pa", scale = 0.5, offset = 98000.0, parameter = "7:0.3.1", level = "101" },
        { name = "gust", unit = "m/s", scale = 0.01, parameter = "7:0.2.22", level = "1" },
        { name = "wind", unit = "m/s", scale = 0.01, parameter = "7:0.2.2", level = "100", levels_hpa = [150, 100] },
    ]
    [open]
    title = "o"
    access = { plan = "none" }
    products = [
        { name = "pressure", unit = "Pa", packing = "auto", parameter = "7:0.3.1", level = "101" },
        { name = "gust", unit = "m/s", packing = "auto", parameter = "7:0.2.22", level = "1" },
        { name = "wind", unit = "m/s", scale = 0.01, parameter = "7:0.2.2", level = "100" },
    ]
    [narrow]
    title = "n"
    products = [
        { name = "pressure", unit = "Pa", scale = 0.01, offset = 98000.0, parameter = "7:0.3.1", level = "101" },
    ]
"#;

fn service() -> ModelPushes {
    ModelPushes::new(MODELS, Plan::None)
}

fn push(service: &ModelPushes, model: &str, body: Vec<u8>) -> Value {
    service.summary(&format!("model={model}&name=f000.grib2"), body)
}

/// The caching of a point, and its tag.
fn caching(service: &ModelPushes, model: &str, fields: &str) -> (String, String) {
    let answer = service.get(&point(model, fields));
    assert_eq!(answer.status, 200, "{}", answer.text());
    let text = |name| answer.header(name).unwrap().to_owned();
    (text(header::CACHE_CONTROL), text(header::ETAG))
}

fn point(model: &str, fields: &str) -> String {
    format!("/models/{model}/point?run={RUN}&hour=0&row=40&col=20&fields={fields}")
}

#[test]
fn what_breaks_off_is_served_as_what_it_is_until_the_whole_file_arrives() {
    let service = service();
    let whole = whole();
    let told = push(&service, "stated", whole[..whole.len() - 100].to_vec());
    assert_eq!((&told["whole"], &told["models"]["used"]), (&json!(false), &json!(3)));
    let fault = &told["faults"]["first"][0];
    let text = fault["error"].as_str().unwrap();
    assert_eq!(fault["file"], "f000.grib2");
    assert!(
        text.starts_with("field 4: the message is cut short: got ")
            && text.ends_with("; its other fields are kept"),
        "{text}"
    );
    let runs = service.json("/models/stated/runs");
    assert_eq!(runs["details"][0]["published_hours"], json!([0]));
    assert_eq!(runs["details"][0]["partial_hours"], json!([0]));
    let wind = service.json(&point("stated", "wind"));
    assert!(
        wind["fields"]["wind"]["values"][0].is_null()
            && wind["fields"]["wind"]["values"][1].is_f64()
    );
    let before = ["pressure", "wind", "pressure,gust"].map(|of| caching(&service, "stated", of));
    assert!(before.iter().all(|(control, _)| control == "no-cache"), "{before:?}");

    let summary = push(&service, "stated", whole);
    assert_eq!(
        (&summary["models"]["used"], &summary["models"]["thereAlready"]),
        (&json!(1), &json!(3))
    );
    assert_eq!(service.json("/models/stated/runs")["details"][0]["partial_hours"], json!([]));
    let after = ["pressure", "wind", "pressure,gust"].map(|of| caching(&service, "stated", of));
    assert!(after.iter().all(|(control, _)| control == LASTING), "{after:?}");
    assert!(before.iter().zip(&after).all(|(before, after)| before.1 != after.1));
    let wind = service.json(&point("stated", "wind"));
    assert!(
        wind["fields"]["wind"]["values"][0].is_f64()
            && wind["fields"]["wind"]["values"][1].is_f64()
    );
}

/// One file per level or variable. Each answer says what is there, and may be requested again.
#[test]
fn a_run_is_served_while_it_grows_step_by_step() {
    let service = service();
    for model in ["stated", "open"] {
        push(&service, model, message(3));
        let (control, tag) = caching(&service, model, "wind");
        assert_eq!(control, "no-cache");
        let column = service.json(&point(model, "wind"))["fields"]["wind"]["values"].clone();
        push(&service, model, message(5));
        let both = service.json(&point(model, "wind"));
        assert_eq!(both["fields"]["wind"]["levels_hpa"], json!([150.0, 100.0]));
        let column = column.as_array().unwrap();
        assert_eq!(both["fields"]["wind"]["values"][1], column[column.len() - 1]);
        let (control, now) = caching(&service, model, "wind");
        assert_eq!(control, if model == "stated" { LASTING } else { "no-cache" });
        assert_ne!(now, tag);
        push(&service, model, message(0));
        let pressure = service.json(&point(model, "pressure"));
        assert!(pressure["fields"]["pressure"]["value"].is_f64());
    }
    let products = service.json("/models/open/products");
    let steps = |of: &Value| {
        (of["packing_error"].as_f64().unwrap(), of["tile_packing_error"].as_f64().unwrap())
    };
    let (value, tile) = steps(&products["products"][0]);
    assert_eq!(tile, 2.0 * value);
}

#[test]
fn the_command_tells_what_is_not_whole() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("models.toml"), MODELS).unwrap();
    let whole = whole();
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(&whole).unwrap();
    let packed = packed.finish().unwrap();
    fs::write(path("f000.grib2"), &whole).unwrap();
    fs::write(path("cut.grib2.gz"), &packed[..packed.len() * 3 / 4]).unwrap();
    let mut garbage = whole.clone();
    garbage[message(0).len()..][..4].fill(0);
    fs::write(path("garbage.grib2"), &garbage).unwrap();
    let mut future = message(0);
    future[16 + 12..16 + 14].copy_from_slice(&8995_u16.to_be_bytes());
    fs::write(path("future.grib2"), &future).unwrap();
    let ingest = |file: &str, model: &str| {
        let arguments = ["ingest", file, "--model", model, "--models", "models.toml"];
        let (ok, out, error) = output(folder.path(), &arguments);
        assert!(error.is_empty(), "{error}");
        (ok, out)
    };
    let (ok, out) = ingest("cut.grib2.gz", "stated");
    assert!(!ok && out.contains("  cut.grib2.gz: "), "{out}");
    let (ok, out) = ingest("garbage.grib2", "open");
    assert!(
        !ok && out.contains(" of the file belong to no message; its other fields are kept"),
        "{out}"
    );
    let (ok, out) = ingest("future.grib2", "stated");
    assert!(!ok && out.contains("run 89950917T000000Z is in the future: it is 20"), "{out}");
    let (ok, out) = ingest("f000.grib2", "narrow");
    assert!(
        !ok && out.contains(" is beyond the packing of product pressure, which holds "),
        "{out}"
    );
    let (ok, out) = ingest("f000.grib2", "stated");
    assert!(ok, "{out}");
    let (ok, out) = ingest("f000.grib2", "stated");
    assert!(ok && out.ends_with("fields: 0 used of 4, 4 unchanged\n"), "{out}");
    assert!(!path("mesonet-data/models/stated/89950917T000000Z").exists());
}

/// `verify` names the damage, `--set-aside` moves it away, and the same file repairs it.
#[test]
fn a_damaged_field_is_put_back_by_its_file() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("models.toml"), MODELS).unwrap();
    fs::write(folder.path().join("f000.grib2"), whole()).unwrap();
    let command = |arguments: &[&str]| output(folder.path(), arguments);
    let ingest = ["ingest", "f000.grib2", "--model", "stated", "--models", "models.toml"];
    assert!(command(&ingest).0);
    let shard = folder.path().join("mesonet-data/models/stated").join(RUN).join("gust/c/0/0/0");
    let intact = fs::read(&shard).unwrap();
    let mut bytes = intact.clone();
    bytes[700] ^= 0x10;
    fs::write(&shard, bytes).unwrap();
    let (ok, out, _) = command(&ingest);
    assert!(!ok && out.contains("gust/c/0/0/0 is damaged: chunk 0, "), "{out}");
    assert!(!command(&["verify", "--set-aside"]).0);
    let (ok, out, _) = command(&ingest);
    assert!(ok && out.ends_with("fields: 1 used of 4, 3 unchanged\n"), "{out}");
    assert_eq!(fs::read(&shard).unwrap(), intact);
    assert!(command(&["verify"]).0);
}
