//! The metrics that are looked up when the page is read.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};

use crate::connections::{Certificate, Table};
use crate::observe::metrics::By;
use crate::state::State;
use mesonet_service::clock::system_ms;
use mesonet_service::record::{Record, Upstream, is_ahead, newest_ms_by};
use mesonet_service::sync::lock;

/// The databases of a record, with SQLite's write-ahead logs.
const DATABASES: [&str; 6] = [
    "mesonet.sqlite",
    "mesonet.sqlite-wal",
    "alerts.sqlite",
    "alerts.sqlite-wal",
    "keys.sqlite",
    "keys.sqlite-wal",
];

type Real = Gauge<f64, AtomicU64>;

#[derive(Default)]
pub struct Gauges {
    connections: Gauge,
    accepted: Counter,
    closed: Family<By, Counter>,
    answer_memory: Gauge,
    readings: Family<By, Gauge>,
    segments: Gauge,
    segment_bytes: Gauge,
    database_bytes: Family<By, Gauge>,
    faults: Gauge,
    writable: Gauge,
    newest_age: Real,
    feed_age: Family<By, Real>,
    behind: Real,
    certificate_until: Real,
    listeners: Gauge,
    live_events: Counter,
    live_resyncs: Counter,
    live_refused: Counter,
}

impl Gauges {
    pub fn register(registry: &mut Registry) -> Self {
        let own = Self::default();
        let build = Family::<By, Gauge>::default();
        registry.register("build", "The running program", build.clone());
        build.get_or_create(&[("version", env!("CARGO_PKG_VERSION").to_owned())]).set(1);
        let started = Real::default();
        let text = "When the server started, since 1970";
        registry.register_with_unit("start_time", text, Unit::Seconds, started.clone());
        started.set(seconds(system_ms()));
        registry.register("connections", "Open connections", own.connections.clone());
        let text = "Connections that got a place";
        registry.register("connections_accepted", text, own.accepted.clone());
        let text = "Connections that the server closed, or refused, by reason";
        registry.register("connections_closed", text, own.closed.clone());
        let text = "Memory of answers that are being computed or sent";
        registry.register_with_unit("answer_memory", text, Unit::Bytes, own.answer_memory.clone());
        let text = "Readings in segments (sealed) and in the journal (fresh)";
        registry.register("store_readings", text, own.readings.clone());
        registry.register("store_segments", "Segment files", own.segments.clone());
        let text = "Length of the segment files";
        registry.register_with_unit("store_segment", text, Unit::Bytes, own.segment_bytes.clone());
        let text = "Length of the databases, journals included";
        let named = own.database_bytes.clone();
        registry.register_with_unit("store_database", text, Unit::Bytes, named);
        registry.register("store_faults", "Damaged parts of the record", own.faults.clone());
        registry.register("store_writable", "1 if the record takes readings", own.writable.clone());
        let text = "Age of the newest reading on record";
        registry.register_with_unit(
            "newest_reading_age",
            text,
            Unit::Seconds,
            own.newest_age.clone(),
        );
        let text = "Age of the newest report that was read since the start, by kind of file";
        let named = own.feed_age.clone();
        registry.register_with_unit("ingest_newest_report_age", text, Unit::Seconds, named);
        let text =
            "How far a server is behind the one whose record it reads; 0 if it reads its own";
        registry.register_with_unit("follower_behind", text, Unit::Seconds, own.behind.clone());
        registry.register("live_listeners", "Open streams of /live", own.listeners.clone());
        let text = "Events that were sent to them";
        registry.register("live_events", text, own.live_events.clone());
        let text = "How often one of them had to fetch everything anew";
        registry.register("live_resyncs", text, own.live_resyncs.clone());
        let text = "Streams of /live that the server refused because too many were open";
        registry.register("live_refused", text, own.live_refused.clone());
        let text = "When the certificate ends, since 1970; 0 without one";
        let named = own.certificate_until.clone();
        registry.register_with_unit("tls_certificate_end", text, Unit::Seconds, named);
        own
    }

    /// Looks up the metrics that are not counted.
    pub fn look(&self, state: &State, table: &Table, certificate: Option<&Certificate>) {
        let counts = table.counts();
        self.connections.set(table.len() as i64);
        self.accepted.inner().store(counts.accepted, Ordering::Relaxed);
        for (reason, count) in counts.closed() {
            let counter = self.closed.get_or_create(&[("reason", reason.to_owned())]);
            counter.inner().store(count, Ordering::Relaxed);
        }
        let live = &state.live.counts;
        self.listeners.set(live.listeners.load(Ordering::Relaxed) as i64);
        for (counter, count) in [
            (&self.live_events, &live.events),
            (&self.live_resyncs, &live.resyncs),
            (&self.live_refused, &live.refused),
        ] {
            counter.inner().store(count.load(Ordering::Relaxed), Ordering::Relaxed);
        }
        self.answer_memory.set(state.workers.memory_used() as i64);
        let record = state.services.record();
        let follower = state.services.follower();
        if let Some(follower) = follower {
            self.behind.set(follower.behind_s());
        }
        let of_record = record.map(Record::health);
        if let Some(health) = of_record.or_else(|| follower.map(Upstream::health)) {
            for (part, count) in
                [("sealed", health.sealed_readings), ("fresh", health.fresh_readings)]
            {
                self.readings.get_or_create(&[("part", part.to_owned())]).set(count as i64);
            }
            self.segments.set(health.segments as i64);
            self.segment_bytes.set(health.sealed_bytes as i64);
            let of_alerts = record.map_or(0, |record| record.alerts().faults());
            self.faults.set((health.faults.len() + of_alerts) as i64);
            self.writable.set(record.is_some_and(|record| record.trouble().is_none()).into());
            let now_ms = state.clock.now_ms();
            let newest_ms = match health.newest_ms {
                Some(newest_ms) if is_ahead(newest_ms, now_ms) => {
                    newest_ms_by(&*state.services.store, now_ms).unwrap_or_default()
                }
                newest_ms => newest_ms,
            };
            if let Some(newest_ms) = newest_ms {
                self.newest_age.set(seconds((now_ms - newest_ms).max(0)));
            }
        }
        for name in DATABASES {
            let bytes = length(&state.config().data.join(name));
            self.database_bytes.get_or_create(&[("file", name.to_owned())]).set(bytes);
        }
        let newest_ms = lock(&state.services.metrics.ingest.newest_ms);
        for (kind, newest_ms) in &*newest_ms {
            let age = seconds((state.clock.now_ms() - newest_ms).max(0));
            self.feed_age.get_or_create(&[("feed", kind.to_string())]).set(age);
        }
        if let Some(certificate) = certificate {
            self.certificate_until.set(seconds(certificate.validity().to_ms));
        }
    }
}

/// A missing file has no length.
fn length(path: &Path) -> i64 {
    std::fs::metadata(path).map_or(0, |found| found.len() as i64)
}

fn seconds(ms: i64) -> f64 {
    ms as f64 / 1000.0
}
