//! Metrics for a monitoring system. Some are counted as things happen, and others are looked up
//! when the page is read.
//!
//! | What | Where |
//! | --- | --- |
//! | What is counted: requests, rate, ingest | [`Metrics`] |
//!
//! Labels have a limited number of values: a route is a template of the router, never a path, and a
//! feed is a kind of file. The registry belongs to the state, so two services in a process do not
//! share it. It needs no upkeep: histograms have fixed buckets.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use axum::http::{Method, StatusCode};
use mesonet::feed;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use crate::limits::Turn;
use mesonet_service::ingest::IngestSummary;
use mesonet_service::sync::lock;

/// One label.
pub type By = [(&'static str, String); 1];

/// Route, method, class of the status.
type ByRequest = [(&'static str, Cow<'static, str>); 3];

/// Buckets of times, seconds: around the milliseconds of small answers and the seconds of large.
const SECONDS: [f64; 10] = [0.001, 0.002, 0.005, 0.01, 0.025, 0.1, 0.5, 2.0, 10.0, 60.0];

/// Buckets of the lengths of answers, bytes.
const BYTES: [f64; 6] = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8];

/// The methods that a route can have. Others share a name.
const METHODS: [&str; 5] = ["GET", "HEAD", "POST", "OPTIONS", "other"];

/// The classes of a status.
const CLASSES: [&str; 6] = ["1xx", "2xx", "3xx", "4xx", "5xx", "other"];

type Histograms = Family<By, Histogram, fn() -> Histogram>;

/// The metrics.
pub struct Metrics {
    pub registry: Registry,
    requests: Family<ByRequest, Counter>,
    request_seconds: Histograms,
    response_bytes: Histograms,
    rate: Family<By, Counter>,
    pub ingest: OfIngest,
    /// Number and length of the files that retention has deleted, by raster product.
    deleted_files: Family<By, Counter>,
    deleted_bytes: Family<By, Counter>,
}

/// What was taken in, by kind of file.
#[derive(Default)]
pub struct OfIngest {
    files: Family<By, Counter>,
    reports: Family<By, Counter>,
    readings: Family<By, Counter>,
    refused: Family<By, Counter>,
    /// Files of an unknown kind, or not read to their end.
    faults: Counter,
    /// How often the store took nothing more.
    failures: Counter,
    /// The times of the newest reports.
    pub newest_ms: Mutex<BTreeMap<feed::Kind, i64>>,
}

/// The metrics of the requests to one route. Each is looked up when it is first counted: a look-up
/// copies and hashes all labels, and would cost more than the count. None is there before.
pub struct RouteMetrics {
    template: String,
    requests: Family<ByRequest, Counter>,
    counters: [[OnceLock<Counter>; CLASSES.len()]; METHODS.len()],
    request_seconds: Histograms,
    seconds: OnceLock<Histogram>,
    response_bytes: Histograms,
    bytes: OnceLock<Histogram>,
}

/// Returns a registry whose names have the common prefix.
pub fn registry() -> Registry {
    Registry::with_prefix("mesonet")
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = registry();
        let requests = Family::default();
        let text = "Requests by template of the route, method and class of the status";
        registry.register("http_requests", text, requests.clone());
        let seconds: fn() -> Histogram = || Histogram::new(SECONDS);
        let request_seconds = Family::new_with_constructor(seconds);
        let text = "Time until an answer began";
        let named = request_seconds.clone();
        registry.register_with_unit("http_request_duration", text, Unit::Seconds, named);
        let bytes: fn() -> Histogram = || Histogram::new(BYTES);
        let response_bytes = Family::new_with_constructor(bytes);
        let text = "Length of the body that was sent, as encoded";
        let named = response_bytes.clone();
        registry.register_with_unit("http_response_size", text, Unit::Bytes, named);
        let rate = Family::default();
        let text = "Requests that waited for their turn or were refused with 429";
        registry.register("rate_limited_requests", text, rate.clone());
        let ingest = OfIngest::register(&mut registry);
        let (deleted_files, deleted_bytes) = (Family::default(), Family::default());
        let text = "Files of raster products that were deleted because of keep or keep_bytes";
        registry.register("deleted_product_files", text, deleted_files.clone());
        let text = "Length of these files";
        registry.register_with_unit(
            "deleted_product",
            text,
            Unit::Bytes,
            Family::clone(&deleted_bytes),
        );
        Self {
            registry,
            requests,
            request_seconds,
            response_bytes,
            rate,
            ingest,
            deleted_files,
            deleted_bytes,
        }
    }
}

impl Metrics {
    /// Returns the metrics of a route, by its template.
    pub fn of_route(&self, template: &str) -> RouteMetrics {
        RouteMetrics {
            template: template.to_owned(),
            requests: self.requests.clone(),
            counters: Default::default(),
            request_seconds: self.request_seconds.clone(),
            seconds: OnceLock::new(),
            response_bytes: self.response_bytes.clone(),
            bytes: OnceLock::new(),
        }
    }

    /// Counts a request that the rate delayed or refused.
    pub fn limited(&self, turn: Turn) {
        let outcome = match turn {
            Turn::Now => return,
            Turn::At(_) => "waited",
            Turn::Refused => "refused",
        };
        self.rate.get_or_create(&[("outcome", outcome.to_owned())]).inc();
    }

    /// Counts files of a raster product that were deleted.
    pub fn deleted_products(&self, product: &str, files: u64, bytes: u64) {
        let labels = [("product", product.to_owned())];
        self.deleted_files.get_or_create(&labels).inc_by(files);
        self.deleted_bytes.get_or_create(&labels).inc_by(bytes);
    }

    /// Counts what was taken in.
    pub fn ingested(&self, summary: &IngestSummary) {
        let ingest = &self.ingest;
        let mut newest_ms = lock(&ingest.newest_ms);
        for (&kind, of_kind) in &summary.kinds {
            let labels = [("feed", kind.to_string())];
            for (family, count) in [
                (&ingest.files, of_kind.files),
                (&ingest.reports, of_kind.reports),
                (&ingest.readings, of_kind.readings),
                (&ingest.refused, of_kind.refused.count),
            ] {
                family.get_or_create(&labels).inc_by(count);
            }
            if let Some(of_kind) = of_kind.newest_ms {
                let newest = newest_ms.entry(kind).or_insert(of_kind);
                *newest = (*newest).max(of_kind);
            }
        }
        ingest.faults.inc_by(summary.faults.count);
        if summary.store_error.is_some() {
            ingest.failures.inc();
        }
    }
}

impl RouteMetrics {
    /// Counts a request once its answer has been sent or given up.
    pub fn answered(&self, method: &Method, status: StatusCode, began: Duration, bytes: u64) {
        let (method, class) = (place(method), usize::from(status.as_u16() / 100 - 1));
        let class = class.min(CLASSES.len() - 1);
        let counter = self.counters[method][class].get_or_init(|| {
            let labels = [
                ("route", Cow::Owned(self.template.clone())),
                ("method", Cow::Borrowed(METHODS[method])),
                ("status", Cow::Borrowed(CLASSES[class])),
            ];
            self.requests.get_or_create_owned(&labels)
        });
        counter.inc();
        let of =
            |family: &Histograms| family.get_or_create_owned(&[("route", self.template.clone())]);
        self.seconds.get_or_init(|| of(&self.request_seconds)).observe(began.as_secs_f64());
        self.bytes.get_or_init(|| of(&self.response_bytes)).observe(bytes as f64);
    }
}

impl OfIngest {
    fn register(registry: &mut Registry) -> Self {
        let ingest = Self::default();
        for (name, text, family) in [
            ("ingest_files", "Files that were read to their end", &ingest.files),
            ("ingest_reports", "Reports and alerts that were read", &ingest.reports),
            ("ingest_readings", "Readings in them", &ingest.readings),
            ("ingest_refused_reports", "Reports that could not be read", &ingest.refused),
        ] {
            registry.register(name, text, family.clone());
        }
        let text = "Files of no known kind, or not read to their end";
        registry.register("ingest_faulty_files", text, ingest.faults.clone());
        let text = "Times that the store took nothing more";
        registry.register("ingest_store_failures", text, ingest.failures.clone());
        ingest
    }
}

/// The name of a method in the metrics.
pub fn name_of(method: &Method) -> &'static str {
    METHODS[place(method)]
}

/// The place of a method among those of a route.
fn place(method: &Method) -> usize {
    METHODS.iter().position(|name| method == *name).unwrap_or(METHODS.len() - 1)
}
