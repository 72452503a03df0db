//! GRIB2 files of models that arrive cut, packed or again: what is served until everything is
//! there.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use axum::http::header;
use bzip2::Compression;
use bzip2::write::BzEncoder;
use mesonet::access::Plan;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::model_pushes::{ModelPushes, message, whole};
use crate::process::{Server, output};

const RUN: &str = "20180917T000000Z";
const LASTING: &str = "public, max-age=31536000, immutable";
const PATIENCE: Duration = Duration::from_secs(60);

const MODELS: &str = r#"
    [stated]
    title = "s"
    access = { plan = "none" }
    hours = "0"
    products = [
        { name = "pressure", unit = "Pa", scale = 0.5, offset = 98000.0, parameter = "7:0.3.1", level = "101" },
        { name = "gust", unit = "m/s", scale = 0.01, parameter = "7:0.2.22", level = "1" },
        { name = "wind", unit = "m/s", scale = 0.01, parameter = "7:0.2.2", level = "100", levels_hpa = [150, 100] },
    ]
"#;

fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut packed = BzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

/// A server on a data folder, with the catalogue beside the folder.
fn server(folder: &TempDir, more: &[&str]) -> Server {
    fs::write(folder.path().join("models.toml"), MODELS).unwrap();
    Server::start(folder, &[&["--now", "live", "--models", "models.toml"], more].concat())
}

fn runs(server: &Server) -> Value {
    let (head, body) = server.get("/models/stated/runs");
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    serde_json::from_str(&body).unwrap()
}

fn wait_for(path: &Path) {
    let started = Instant::now();
    while !path.exists() {
        assert!(started.elapsed() < PATIENCE, "{} is not there", path.display());
        sleep(Duration::from_millis(100));
    }
}

#[test]
fn a_watched_folder_that_gets_a_cut_file_completes_the_run_with_the_whole_one() {
    let folder = TempDir::new().unwrap();
    let inbox = folder.path().join("in/models/stated");
    fs::create_dir_all(&inbox).unwrap();
    let server = server(&folder, &["--watch", "in"]);
    let whole = whole();
    fs::write(inbox.join("f000.grib2"), &whole[..whole.len() - 100]).unwrap();
    wait_for(&inbox.join("failed/f000.grib2.error.txt"));
    let reason = fs::read_to_string(inbox.join("failed/f000.grib2.error.txt")).unwrap();
    assert!(reason.contains("field 4: the message is cut short: got "), "{reason}");
    assert!(inbox.join("failed/f000.grib2").exists() && !inbox.join("done/f000.grib2").exists());
    let cut = &runs(&server)["details"][0];
    assert_eq!((&cut["published_hours"], &cut["partial_hours"]), (&json!([0]), &json!([0])));

    fs::write(inbox.join("f000.grib2"), &whole).unwrap();
    wait_for(&inbox.join("done/f000.grib2"));
    let all = &runs(&server)["details"][0];
    assert_eq!((&all["published_hours"], &all["partial_hours"]), (&json!([0]), &json!([])));
    let path = format!("/models/stated/point?run={RUN}&hour=0&row=40&col=20&fields=wind");
    let (head, body) = server.get(&path);
    assert!(head.to_lowercase().contains(&format!("cache-control: {LASTING}")), "{head}");
    let point: Value = serde_json::from_str(&body).unwrap();
    let column = point["fields"]["wind"]["values"].as_array().unwrap();
    assert!(column.len() == 2 && column.iter().all(Value::is_f64), "{body}");
}

#[test]
fn a_tile_of_a_level_that_is_not_there_yet_is_empty_and_not_lasting() {
    let service = ModelPushes::new(MODELS, Plan::None);
    service.summary("model=stated", message(3));
    let tile = |level_hpa: u16| {
        let path = format!(
            "/models/stated/products/wind/data/0/0/0?run={RUN}&hour=0&level_hpa={level_hpa}"
        );
        let answer = service.get(&path);
        assert_eq!(answer.status, 200, "{}", answer.text());
        let text = |name| answer.header(name).unwrap().to_owned();
        let caching = (text(header::CACHE_CONTROL), text(header::ETAG));
        let bytes = answer.bytes();
        let values: Vec<i16> =
            bytes.as_chunks().0.iter().copied().map(i16::from_le_bytes).collect();
        (values, caching)
    };
    let filled = |values: &Vec<i16>| values.iter().filter(|&&value| value != i16::MIN).count();
    let (there, (control, _)) = tile(100);
    let (missing, (missing_control, tag)) = tile(150);
    assert!(there.len() == 256 * 256 && filled(&there) > 100);
    assert_eq!((missing.len(), filled(&missing)), (256 * 256, 0));
    assert_eq!((&*control, &*missing_control), ("no-cache", "no-cache"));

    service.summary("model=stated", message(5));
    let (late, (control, now)) = tile(150);
    assert_eq!(filled(&late), filled(&there));
    assert!(late != there && now != tag && control == LASTING, "{control}");
    assert_eq!(tile(100).0, there);
}

/// What was set aside is reported as missing, not served as empty, until its file is pushed again.
/// That may happen while the server runs. Other fields are served all the time.
#[test]
fn what_was_set_aside_is_a_503_until_its_file_has_come_again() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("models.toml"), MODELS).unwrap();
    fs::write(folder.path().join("f000.grib2"), whole()).unwrap();
    let command = |arguments: &[&str]| output(folder.path(), arguments);
    let ingest = ["ingest", "f000.grib2", "--model", "stated", "--models", "models.toml"];
    assert!(command(&ingest).0);
    let shard = folder.path().join("mesonet-data/models/stated").join(RUN).join("gust/c/0/0/0");
    let mut bytes = fs::read(&shard).unwrap();
    bytes[700] ^= 0x10;
    fs::write(&shard, bytes).unwrap();
    assert!(!command(&["verify", "--set-aside"]).0);
    assert!(!shard.exists());

    let server = server(&folder, &[]);
    let point = |fields: &str| {
        let path = format!("/models/stated/point?run={RUN}&hour=0&row=40&col=20&fields={fields}");
        server.get(&path)
    };
    let tile = || server.get(&format!("/models/stated/products/gust/data/0/0/0?run={RUN}&hour=0"));
    for (head, body) in [point("gust"), point("pressure,gust"), tile()] {
        assert!(head.starts_with("HTTP/1.1 503 "), "{head}");
        assert!(!head.contains("immutable"), "{head}");
        assert_eq!(body, "\"the requested data is damaged and cannot be read\"");
    }
    assert!(point("pressure").0.starts_with("HTTP/1.1 200 "));
    let (ok, out, _) = command(&ingest);
    assert!(ok && out.ends_with("fields: 1 used of 4, 3 unchanged\n"), "{out}");
    let (head, body) = point("gust");
    assert!(head.starts_with("HTTP/1.1 200 ") && head.contains(LASTING), "{head}");
    let gust = serde_json::from_str::<Value>(&body).unwrap()["fields"]["gust"]["value"].as_f64();
    assert!(gust.is_some_and(|gust| gust > 0.0), "{body}");
}

#[test]
fn bzip2_files_are_read_and_one_that_is_cut_is_said_to_be() {
    let packed = bzip2(&whole());
    let cut = &packed[..packed.len() - 100];
    let service = ModelPushes::new(MODELS, Plan::None);
    let told = service.push("model=stated&name=f000.grib2.bz2", cut.to_vec());
    let text = told.text();
    assert!(
        text.starts_with("\"f000.grib2.bz2: cannot be read: decompression not finished"),
        "{text}"
    );
    let summary = service.summary("model=stated&name=f000.grib2.bz2", packed.clone());
    assert_eq!(summary["whole"], json!(true));
    let runs = service.json("/models/stated/runs");
    assert_eq!(runs["details"][0]["partial_hours"], json!([]));

    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("models.toml"), MODELS).unwrap();
    fs::write(path("f000.grib2.bz2"), &packed).unwrap();
    fs::write(path("cut.grib2.bz2"), cut).unwrap();
    let ingest = |file: &str| {
        let (ok, out, error) = output(
            folder.path(),
            &["ingest", file, "--model", "stated", "--models", "models.toml"],
        );
        assert!(error.is_empty(), "{error}");
        (ok, out)
    };
    let (ok, out) = ingest("cut.grib2.bz2");
    assert!(!ok && out.contains("  cut.grib2.bz2: cannot be read: decompression not"), "{out}");
    let (ok, out) = ingest("f000.grib2.bz2");
    assert!(ok && out.contains("fields: 4 used of 4"), "{out}");
}
