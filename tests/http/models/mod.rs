//! `/models/…` and `/capabilities` of the model service, with a small store of real fields:
//! pressure at sea level, and winds at two levels, for the first of two hours
//! (tests/data/model_grids/store).

mod access;
mod choice;
mod golden;
mod lasting;
mod listing;
mod point;
mod refusals;
mod series;
mod tiles;

use std::fs;
use std::path::Path;

use axum::body::Body;
use axum::http::{Method, header};
use mesonet::access::Plan;
use mesonet::model;
use mesonet::model::RunDefinition;
use mesonet_server::Config;
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{Answer, Api, TestStore};

const RUN: &str = "20180917T000000Z";

/// The models of these tests: one with a run, one without.
const MODELS: &str = r#"
    without = ["*"]
    [nam211]
    title = "NAM"
    attribution = "NOAA"
    access = { plan = "none" }
    winds = [["u", "v"]]
    hours = "0,3"
    products = [
        { name = "prmsl", title = "Pressure", unit = "Pa", scale = 0.1, offset = 101000, parameter = "7:0.3.1", level = "101" },
        { name = "u", unit = "m/s", scale = 0.01, parameter = "7:0.2.2", level = "100", levels_hpa = [150, 100], sampling = "nearest" },
        { name = "v", unit = "m/s", scale = 0.01, parameter = "7:0.2.3", level = "100", levels_hpa = [150, 100], sampling = "nearest" },
    ]
    [later]
    title = "of which there is no run"
    access = { plan = "none" }
    products = [{ name = "t", unit = "K", scale = 1, parameter = "7:0.0.0", level = "1" }]
"#;

pub struct Service {
    api: Api,
    folder: TempDir,
}

pub fn service() -> Service {
    of_models(MODELS, Plan::None)
}

fn of_models(models: &str, assume_plan: Plan) -> Service {
    with(Config { assume_plan, ..Config::default() }, models)
}

fn with(config: Config, models: &str) -> Service {
    let folder = TempDir::new().unwrap();
    let store = TestStore::beside(folder.path());
    let runs = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/model_grids/store");
    copy(&runs, &folder.path().join("models"));
    let file = folder.path().join("models.toml");
    fs::write(&file, models).unwrap();
    let config = Config { data: folder.path().to_owned(), models: Some(file), ..config };
    Service { api: Api::with(config, store), folder }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

impl Service {
    pub fn get(&self, path: &str) -> Answer {
        self.get_with(path, &[])
    }

    fn get_with(&self, path: &str, headers: &[(header::HeaderName, &str)]) -> Answer {
        self.api.call(Method::GET, path, headers, Body::empty())
    }

    fn json(&self, path: &str) -> Value {
        let answer = self.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        assert_eq!(answer.header(header::CONTENT_TYPE), Some("application/json"));
        serde_json::from_str(&answer.text()).unwrap()
    }

    fn run(&self) -> model::Run {
        model::RunStore::new(self.folder.path().join("models")).newest_run("nam211").unwrap()
    }

    /// Publishes the second hour, with pressure only.
    fn publish_second_hour(&self) {
        let store = model::RunStore::new(self.folder.path().join("models"));
        let mut writer = store.write_run(self.run().definition().clone()).unwrap();
        writer.write(1, "prmsl", &[10; 65 * 93]).unwrap();
        writer.publish(&[1], 1_537_160_400_000).unwrap();
    }

    /// Publishes one component of the second hour's wind.
    fn publish_wind(&self, definition: &RunDefinition, component: &str, published_ms: i64) {
        let store = model::RunStore::new(self.folder.path().join("models"));
        let mut writer = store.write_run(definition.clone()).unwrap();
        writer.write(1, component, &vec![1_000; 2 * 65 * 93]).unwrap();
        writer.publish(&[1], published_ms).unwrap();
    }
}

fn point(query: &str) -> String {
    format!("/models/nam211/point?run={RUN}&{query}")
}

fn series(query: &str) -> String {
    format!("/models/nam211/series?run={RUN}&{query}")
}

fn tile(query: &str) -> String {
    format!("/models/nam211/products/{query}&run={RUN}")
}
