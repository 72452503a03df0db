//! Model runs and raster products on disk, which other processes may write too, and feeds, which are
//! late without anything coming in.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

use axum::body::Bytes;
use mesonet::model::RunStamp;
use mesonet::raster::ProductDuration;
use mesonet::{Iso8601, model, raster};
use mesonet_service::live::{Item, NumberedItem, Topic};
use mesonet_service::products::span_name;
use serde::Serialize;

use super::event::Content;
use super::filter::Events;
use crate::auth::access::ModelPermission;
use crate::state::feeds::Feed;
use crate::state::run_detail::RunDetail;
use crate::state::{State, StateError};
use mesonet_service::sync::lock;

/// A folder that changes twice within this time may say only once when it was changed.
const CLOCK_STEP: Duration = Duration::from_secs(2);

/// How often the feeds are looked at.
const FEEDS_EVERY: Duration = Duration::from_secs(10);

/// What is known of the items that nobody announces.
#[derive(Debug, Default)]
pub struct KnownItems {
    /// When the feeds were looked at last.
    feeds_at: Option<Instant>,
    /// By folder: when it was changed last, and its files with their states.
    products: HashMap<PathBuf, (SystemTime, Vec<Item>)>,
}

/// A model run as it is sent.
#[derive(Serialize)]
struct RunEvent<'a> {
    model: &'a str,
    #[serde(flatten)]
    detail: RunDetail,
}

/// A raster product as it is sent.
#[derive(Serialize)]
struct ProductEvent<'a> {
    r#type: &'a str,
    /// Absent of an instant.
    #[serde(skip_serializing_if = "Option::is_none")]
    duration: Option<String>,
    timestamp: Iso8601,
}

impl State {
    /// Numbers the runs that are new or changed. Returns those; what cannot be read now is looked at
    /// again later.
    pub(super) fn changed_runs(&self) -> Result<Vec<NumberedItem>, StateError> {
        match self.runs_on_disk() {
            Ok(runs) => Ok(self.live.log.update(Topic::Runs, &runs)?),
            Err(error) => {
                tracing::error!("the model runs cannot be listed: {error}");
                Ok(Vec::new())
            }
        }
    }

    /// The same of raster products.
    pub(super) fn changed_products(&self) -> Result<Vec<NumberedItem>, StateError> {
        let mut known = lock(&self.live.items);
        match self.products_on_disk(&mut known) {
            Ok(products) => Ok(self.live.log.update(Topic::Products, &products)?),
            Err(error) => {
                tracing::error!("the raster products cannot be listed: {error}");
                Ok(Vec::new())
            }
        }
    }

    fn runs_on_disk(&self) -> Result<Vec<Item>, model::RunStoreError> {
        let catalogue = self.services.models.catalogue();
        let mut runs = Vec::new();
        for source in catalogue.iter() {
            for run in self.services.models.runs(ModelPermission::to_server(source))? {
                let hours = run.published().iter();
                let state = hours.map(|hour| format!("{}@{}", hour.hour, hour.published_ms));
                runs.push(Item {
                    name: format!("{}/{}", source.name(), run.definition().run),
                    state: state.collect::<Vec<_>>().join(","),
                });
            }
        }
        Ok(runs)
    }

    fn products_on_disk(&self, known: &mut KnownItems) -> std::io::Result<Vec<Item>> {
        let files = &self.services.products;
        let (mut products, mut folders) = (Vec::new(), HashMap::new());
        for product in files.catalogue().iter() {
            for span in product.durations() {
                let folder = files.folder(product, span);
                let Ok(modified) = fs::metadata(&folder).and_then(|found| found.modified()) else {
                    continue;
                };
                let same = known.products.remove(&folder);
                let items = match same.filter(|(before, _)| *before == modified) {
                    Some((_, items)) => items,
                    None => product_items(files, product, span)?,
                };
                products.extend(items.iter().cloned());
                if modified.elapsed().is_ok_and(|age| age > CLOCK_STEP) {
                    folders.insert(folder, (modified, items));
                }
            }
        }
        known.products = folders;
        Ok(products)
    }

    /// Numbers the feeds that are new, have become late or are no longer late. Returns those.
    pub(super) fn changed_feeds(&self) -> Result<Vec<NumberedItem>, StateError> {
        let mut known = lock(&self.live.items);
        // While the server replays earlier data, none is late.
        if !self.clock.is_live() || known.feeds_at.is_some_and(|at| at.elapsed() < FEEDS_EVERY) {
            return Ok(Vec::new());
        }
        known.feeds_at = Some(Instant::now());
        let item = |feed: Feed| Item {
            name: feed.network,
            state: if feed.late { "late" } else { "in time" }.to_owned(),
        };
        let feeds: Vec<Item> = self.feeds()?.into_iter().map(item).collect();
        Ok(self.live.log.update(Topic::Feeds, &feeds)?)
    }

    /// The event of a feed, by its network.
    pub(super) fn feed_content(&self, network: &str) -> Option<Content> {
        let feed = self.feeds().ok()?.into_iter().find(|feed| feed.network == network)?;
        let data: Bytes = serde_json::to_vec(&feed).ok()?.into();
        Some(Content::Item { events: Events::Feeds, model: None, data })
    }

    /// The event of a run, by its model and its stamp.
    pub(super) fn run_content(&self, name: &str) -> Option<Content> {
        let (model, stamp) = name.rsplit_once('/')?;
        let catalogue = self.services.models.catalogue();
        let stamp: RunStamp = stamp.parse().ok()?;
        let run = self
            .services
            .models
            .run(ModelPermission::to_server(catalogue.get(model)?), stamp)
            .ok()?;
        let event = RunEvent { model, detail: RunDetail::new(&run) };
        let data: Bytes = serde_json::to_vec(&event).ok()?.into();
        Some(Content::Item { events: Events::Runs, model: Some(model.to_owned()), data })
    }

    /// The event of a product, by its type, its duration and its time.
    pub(super) fn product_content(&self, name: &str) -> Option<Content> {
        let mut parts = name.split('/');
        let (r#type, span, at_ms) = (parts.next()?, parts.next()?, parts.next()?.parse().ok()?);
        let span: Option<ProductDuration> = span.parse().ok();
        let catalogue = self.services.products.catalogue();
        let found = self.services.products.find(catalogue.get(r#type)?, span, at_ms);
        found.ok().flatten()?;
        let duration = span.map(|span| span.to_string());
        let event = ProductEvent { r#type, duration, timestamp: Iso8601(at_ms) };
        let data: Bytes = serde_json::to_vec(&event).ok()?.into();
        Some(Content::Item { events: Events::Products, model: None, data })
    }
}

fn product_items(
    files: &mesonet_service::products::ProductFiles,
    product: &raster::RasterProduct,
    span: Option<ProductDuration>,
) -> std::io::Result<Vec<Item>> {
    let mut items = Vec::new();
    for ts_ms in files.times(product, span)? {
        let Some(path) = files.find(product, span, ts_ms)? else { continue };
        let Ok(found) = fs::metadata(path) else { continue };
        let written = found.modified().ok().and_then(|at| {
            at.duration_since(SystemTime::UNIX_EPOCH).ok().map(|since| since.as_micros())
        });
        items.push(Item {
            name: format!("{}/{}/{ts_ms}", product.name(), span_name(span)),
            state: format!("{} {}", found.len(), written.unwrap_or_default()),
        });
    }
    Ok(items)
}
