//! The feeds of the record: what the stations of each network reported last, and whether they are late.

use std::collections::BTreeMap;

use mesonet::Iso8601;
use mesonet::store::StoreError;
use mesonet::time::MINUTE_MS;
use mesonet_service::record::is_ahead;
use serde::Serialize;
use utoipa::ToSchema;

use crate::config::LateAfter;
use crate::state::State;

/// The stations of a network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Feed {
    /// The name of the network.
    pub network: String,
    /// How many stations it has.
    pub stations: usize,
    /// The time of its newest report; reports ahead of the clock do not count.
    #[schema(value_type = Option<String>, format = DateTime)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newest: Option<Iso8601>,
    /// How old that report may be; absent if the feed is never late.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late_after_minutes: Option<i64>,
    /// Whether that report is older, or no report has come.
    pub late: bool,
}

impl State {
    /// Returns the feeds by network. While the server replays earlier data, none is late.
    ///
    /// # Errors
    /// The record cannot be read.
    pub fn feeds(&self) -> Result<Vec<Feed>, StoreError> {
        let now_ms = self.clock.now_ms();
        // It was checked when the settings were.
        let late_after = LateAfter::parse(&self.config().late_after).unwrap_or_default();
        let directory = self.services.store.directory()?;
        let mut networks: BTreeMap<&str, (usize, Option<i64>)> = BTreeMap::new();
        for record in directory.stations.iter() {
            let (stations, newest_ms) = networks.entry(&record.station.network).or_default();
            *stations += 1;
            let reported_ms = record.update_time_ms.filter(|&at_ms| !is_ahead(at_ms, now_ms));
            *newest_ms = reported_ms.max(*newest_ms);
        }
        let feeds = networks.into_iter().map(|(network, (stations, newest_ms))| {
            let late_after_ms = late_after.of(network).filter(|_| self.clock.is_live());
            let is_late = |most_ms| {
                newest_ms.is_none_or(|newest_ms| now_ms.saturating_sub(newest_ms) > most_ms)
            };
            Feed {
                network: network.to_owned(),
                stations,
                newest: newest_ms.map(Iso8601),
                late_after_minutes: late_after_ms.map(|ms| ms / MINUTE_MS),
                late: late_after_ms.is_some_and(is_late),
            }
        });
        Ok(feeds.collect())
    }
}
