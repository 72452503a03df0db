//! A service with models of its own that takes their files by push.

use std::io::Read;
use std::path::PathBuf;

use axum::body::Body;
use axum::http::{Method, header};
use flate2::read::GzDecoder;
use mesonet::access::Plan;
use mesonet::grib;
use mesonet_server::Config;
use mesonet_service::ingest::KeyHash;
use serde_json::Value;
use tempfile::TempDir;

use crate::process::data;
use crate::support::{Answer, Api, TestStore};

/// The messages of a real file: 0 pressure, 1 gust, 3 and 5 wind at 100 and 150 hPa.
pub fn message(number: usize) -> Vec<u8> {
    let packed = std::fs::File::open(data("grib/nam211_20180917T00Z_f000.grib2.gz")).unwrap();
    let mut bytes = Vec::new();
    GzDecoder::new(packed).read_to_end(&mut bytes).unwrap();
    grib::fields(&bytes).nth(number).unwrap().unwrap().to_message()
}

/// Four of them, as one file.
pub fn whole() -> Vec<u8> {
    [0, 1, 3, 5].map(message).concat()
}

/// The service and its data folder, which is deleted with the service.
pub struct ModelPushes {
    api: Api,
    folder: TempDir,
}

impl ModelPushes {
    /// A service with a catalogue, whose anonymous callers have a plan.
    pub fn new(models: &str, plan: Plan) -> Self {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("models.toml");
        std::fs::write(&file, models).unwrap();
        let config = Config {
            data: folder.path().to_owned(),
            models: Some(file),
            ingest_key_hashes: vec![KeyHash::of("key").as_str().to_owned()],
            assume_plan: plan,
            ..Config::default()
        };
        Self { api: Api::with(config, TestStore::beside(folder.path())), folder }
    }

    /// The folder of the runs.
    pub fn runs(&self) -> PathBuf {
        self.folder.path().join("models")
    }

    /// Pushes a body. The query is that of the path, such as `model=nam&name=a.grib2`.
    pub fn push(&self, query: &str, body: impl Into<Body>) -> Answer {
        let key = [(header::AUTHORIZATION, "Bearer key")];
        self.api.call(Method::POST, &format!("/api/v1/ingest?{query}"), &key, body.into())
    }

    /// The summary of an accepted push.
    pub fn summary(&self, query: &str, body: impl Into<Body>) -> Value {
        let answer = self.push(query, body);
        assert_eq!(answer.status, 200, "{}", answer.text());
        serde_json::from_slice(&answer.body).unwrap()
    }

    /// The reason why a push is refused.
    pub fn refused(&self, query: &str, body: impl Into<Body>) -> String {
        let answer = self.push(query, body);
        assert_eq!(answer.status, 400, "{}", answer.text());
        serde_json::from_slice(&answer.body).unwrap()
    }

    pub fn get(&self, path: &str) -> Answer {
        self.api.call(Method::GET, path, &[], Body::empty())
    }

    /// The answer of a path that must exist.
    pub fn json(&self, path: &str) -> Value {
        let answer = self.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        serde_json::from_slice(&answer.body).unwrap()
    }
}
