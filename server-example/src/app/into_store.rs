//! Takes fetched files into the store, the same way as files from disk.

use std::io::Cursor;

use crate::state::services::Services;
use mesonet_service::fetch::{Delivery, DeliveryResult, Sink, Unavailable};
use mesonet_service::ingest::{
    ByteSource, FileLimits, Ingest, IngestSummary, KindSummary, Label, Options,
};
use mesonet_service::sync::lock;

impl Sink for Services {
    fn take(&self, delivery: &Delivery<'_>) -> Result<DeliveryResult, Unavailable> {
        let _turn = lock(&self.lanes.fetched);
        let done = self.ingest(options(delivery), |ingest| read(delivery, ingest));
        let (faults, summary) = done.map_err(|error| Unavailable(error.to_string()))?;
        taken(&summary, faults)
    }
}

/// The options for the files of a delivery.
fn options(delivery: &Delivery<'_>) -> Options {
    Options {
        feed: delivery.kind,
        received_ms: Some(delivery.received_ms),
        now_ms: delivery.received_ms,
        bounds: FileLimits::SENT,
    }
}

/// Reads the files of a delivery. Returns those that could not be read, and why.
fn read(delivery: &Delivery<'_>, ingest: &mut Ingest<'_>) -> Vec<String> {
    let mut faults = Vec::new();
    for file in delivery.files {
        let label =
            Label { shown: file.address.to_owned(), name: file.name.to_owned(), modified_ms: None };
        if let Some(fault) = ingest.input(&label, ByteSource::File(&mut Cursor::new(file.bytes))) {
            faults.push(format!("{}: {}", fault.file, fault.error));
        }
    }
    faults
}

/// Returns what was taken. If the store failed, nothing is certain to have been taken.
fn taken(summary: &IngestSummary, faults: Vec<String>) -> Result<DeliveryResult, Unavailable> {
    if let Some(error) = &summary.store_error {
        return Err(Unavailable(error.to_string()));
    }
    let total = |count: fn(&KindSummary) -> u64| summary.kinds.values().map(count).sum();
    Ok(DeliveryResult {
        reports: total(|kind| kind.reports),
        readings: total(|kind| kind.readings),
        faults,
    })
}

#[cfg(test)]
#[path = "into_store_tests.rs"]
mod tests;
