//! Readings as messages for a broker that speaks MQTT.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use mesonet::observation::{Qualifier, Quality, QualityCode, SeriesId};
use mesonet::query::{AnswerReading, Readings};
use mesonet::store::{Selection, StoreError};
use mesonet::{ClosedWindow, Iso8601, Station, StationId, Variable};
use mesonet_service::hex::hex;
use mesonet_service::mqtt::{
    MqttBroker, MqttMessage, NotificationConfig, NotifiedReport, notification,
};
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::filter::{Events, ListenerFilter};
use crate::state::State;

/// How many readings are encoded at once.
const AT_ONCE: usize = 512;

/// What a broker gets.
pub struct Publication {
    pub broker: Arc<MqttBroker>,
    /// Which events.
    pub filter: ListenerFilter,
    /// What notifications of reports say, if it gets any.
    pub notifications: Option<NotificationConfig>,
}

/// A reading as it is published: as `/live` gives it, with what the topic says and the unit.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ReadingMessage<'a> {
    station_id: StationId,
    network: &'a str,
    native_id: &'a str,
    timestamp: Iso8601,
    r#type: &'a str,
    type_id: SeriesId,
    interval_type: &'a str,
    interval_minutes: i32,
    unit: &'a str,
    value: f64,
    quality: Quality,
    #[serde(skip_serializing_if = "Option::is_none")]
    qualifier: Option<Qualifier>,
}

/// The reading that a record has as the latest of a variable at a station.
struct Latest {
    ts_ms: i64,
    series: SeriesId,
    value: f64,
    quality: QualityCode,
}

/// The readings of an event that are not published yet.
#[derive(Clone)]
pub struct Unpublished {
    batch: u64,
    events: Events,
    readings: Arc<Readings>,
    /// The next reading.
    cell: usize,
}

impl Unpublished {
    pub fn new(batch: u64, events: Events, readings: Readings) -> Self {
        Self { batch, events, readings: Arc::new(readings), cell: 0 }
    }

    /// The end of the next readings. No report is cut: two notifications would have one id.
    fn end(&self) -> usize {
        let Readings { cells, stations, .. } = &*self.readings;
        let end = cells.len().min(self.cell + AT_ONCE);
        let Some(last) = end.checked_sub(1).map(|last| cells[last].ts_ms) else { return end };
        let of_station = stations.partition_point(|&(_, to)| to < end);
        let to = stations.get(of_station).map_or(end, |&(_, to)| to);
        end + cells[end..to].iter().take_while(|cell| cell.ts_ms == last).count()
    }

    /// What is left after the next readings; `None` if that is nothing.
    pub fn rest(&self) -> Option<Self> {
        let end = self.end();
        (end < self.readings.cells.len()).then_some(Self { cell: end, ..self.clone() })
    }

    /// The messages of the next readings.
    pub fn messages(
        &self,
        state: &State,
        publication: &Publication,
    ) -> Result<Vec<MqttMessage>, StoreError> {
        let end = self.end();
        let mut parts: Vec<(StationId, Range<usize>)> = Vec::new();
        let (mut from, of) = (self.cell, &self.readings.stations);
        for &(id, to) in &of[of.partition_point(|&(_, to)| to <= from)..] {
            if from < end {
                parts.push((id, from..to.min(end)));
            }
            from = to;
        }
        let cells = &self.readings.cells[self.cell..end];
        let variable =
            |cell: &AnswerReading| self.readings.series[cell.series as usize].key.variable;
        let mut variables: Vec<Variable> = cells.iter().map(variable).collect();
        variables.sort_unstable_by_key(|variable| *variable as u8);
        variables.dedup();
        let stations: Vec<StationId> = parts.iter().map(|(id, _)| *id).collect();
        let from_ms = cells.iter().map(|cell| cell.ts_ms).min().unwrap_or_default();
        let latest = state.latest(&stations, &variables, from_ms)?;
        let directory = state.services.store.directory()?;
        let mut messages = Vec::new();
        for (id, range) in parts {
            let Some(record) = directory.get(id) else { continue };
            for same_time in self.readings.cells[range].chunk_by(|a, b| a.ts_ms == b.ts_ms) {
                let mut texts = Vec::new();
                for cell in same_time {
                    let is_latest = latest.get(&(id, variable(cell)));
                    let is_latest = is_latest.is_some_and(|latest| self.is(cell, latest));
                    let message = self.message(publication, &record.station, cell, is_latest);
                    texts.extend(String::from_utf8(message.payload.clone()));
                    messages.push(message);
                }
                if self.events == Events::Readings
                    && let Some(config) = &publication.notifications
                {
                    let names = same_time.iter().map(|cell| variable(cell).name());
                    let mut names: Vec<&str> = names.collect();
                    names.dedup();
                    let content = format!("[{}]", texts.join(","));
                    messages.push(self.notification(
                        state,
                        config,
                        &record.station,
                        same_time[0].ts_ms,
                        &names,
                        &content,
                    ));
                }
            }
        }
        Ok(messages)
    }

    /// Whether a reading is the one that the record has as the latest, and not one from before that
    /// was corrected since.
    fn is(&self, cell: &AnswerReading, latest: &Latest) -> bool {
        let is_same = cell.ts_ms == latest.ts_ms
            && self.readings.series[cell.series as usize].id == latest.series
            && cell.value.to_bits() == latest.value.to_bits();
        is_same
            && (self.events == Events::Readings
                || QualityCode::from(cell.quality) == latest.quality)
    }

    fn message(
        &self,
        publication: &Publication,
        station: &Station,
        cell: &AnswerReading,
        is_retained: bool,
    ) -> MqttMessage {
        let series = &self.readings.series[cell.series as usize];
        let (network, native_id) = (&*station.network, &*station.native_id);
        let name = series.key.variable.name();
        let reading = ReadingMessage {
            station_id: station.id,
            network,
            native_id,
            timestamp: Iso8601(cell.ts_ms),
            r#type: name,
            type_id: series.id,
            interval_type: series.key.interval_type.name(),
            interval_minutes: series.key.interval_minutes,
            unit: &series.key.reported_unit,
            value: cell.value,
            quality: cell.quality,
            qualifier: cell.qualifier,
        };
        let payload = serde_json::to_vec(&reading).unwrap_or_default();
        let topic = publication.broker.topics().of(&[self.events.name(), network, native_id, name]);
        let id = id_of(&self.batch.to_string(), &topic, &payload);
        MqttMessage { id, topic, payload, is_retained, expiry_s: None }
    }

    fn notification(
        &self,
        state: &State,
        config: &NotificationConfig,
        station: &Station,
        at_ms: i64,
        names: &[&str],
        content: &str,
    ) -> MqttMessage {
        let (lat, lon) = (station.coordinates.lat(), station.coordinates.lon());
        let network: String = form_urlencoded::byte_serialize(station.network.as_bytes()).collect();
        let (start, end) = (Iso8601(at_ms), Iso8601(at_ms + 1000));
        let path = format!(
            "/stations/readings?lat={lat}&lon={lon}&radiusKm=1&network={network}&names={}&start={start}\
             &end={end}",
            names.join(",")
        );
        let payload = notification(
            config,
            &NotifiedReport {
                station,
                at_ms,
                published_ms: state.clock.now_ms(),
                batch: self.batch,
                path: &path,
                content,
            },
        );
        // Not from the payload, which has the time at which it was made.
        let id = id_of(&self.batch.to_string(), &config.topic, content.as_bytes());
        let topic = config.topic.clone();
        MqttMessage { id, topic, payload, is_retained: false, expiry_s: None }
    }
}

impl State {
    /// The latest readings on record of some variables at some stations, from a time on: the
    /// preferred series if several have the same time.
    fn latest(
        &self,
        stations: &[StationId],
        variables: &[Variable],
        from_ms: i64,
    ) -> Result<HashMap<(StationId, Variable), Latest>, StoreError> {
        let mut latest: HashMap<(StationId, Variable), (_, Latest)> = HashMap::new();
        let Ok(window) = ClosedWindow::new(from_ms, i64::MAX) else { return Ok(HashMap::new()) };
        let selection = Selection { stations, variables, window };
        self.services.store.scan_latest(&selection, &mut |at, slices| {
            for slice in slices {
                let series = slice.series;
                let ts_ms = slice.ts_ms[0];
                // A greater preference is a worse one.
                let rank = (ts_ms, Reverse(series.preference));
                let key = (stations[at], series.key.variable);
                if latest.get(&key).is_none_or(|(best, _)| *best < rank) {
                    let (value, quality) = (slice.value[0], slice.quality[0]);
                    latest.insert(key, (rank, Latest { ts_ms, series: series.id, value, quality }));
                }
            }
        })?;
        Ok(latest.into_iter().map(|(key, (_, latest))| (key, latest)).collect())
    }
}

/// An id that is the same each time that a message is sent, also by another start of the server, and
/// that no other message has, also after the record went back to an earlier state.
pub fn id_of(number: &str, topic: &str, payload: &[u8]) -> String {
    let mut hasher = Sha256::new();
    hasher.update(topic);
    hasher.update([0]);
    hasher.update(payload);
    format!("{number}-{}", hex(&hasher.finalize()[..8]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A report that is longer than what is encoded at once is not cut, nor is one at the end of it.
    #[test]
    fn no_report_is_cut() {
        let (value, series, age_s, quality, qualifier) = (1.0, 0, 0, Quality::GOOD, None);
        let cell = |ts_ms| AnswerReading { ts_ms, value, series, age_s, quality, qualifier };
        let of = |reports: &[&[(i64, usize)]]| {
            let mut readings = Readings::default();
            for (at, reports) in reports.iter().enumerate() {
                for &(ts_ms, count) in *reports {
                    readings.cells.extend((0..count).map(|_| cell(ts_ms)));
                }
                let id = StationId::new("TEST", &at.to_string());
                readings.stations.push((id, readings.cells.len()));
            }
            let mut ends = Vec::new();
            let mut next = Some(Unpublished::new(1, Events::Readings, readings));
            while let Some(some) = next {
                ends.push(some.end());
                next = some.rest();
            }
            ends
        };
        assert_eq!(of(&[&[(1, 500), (2, 20), (3, 5)], &[(3, 600), (4, 1)]]), [520, 1_125, 1_126]);
        assert_eq!(of(&[&[(1, AT_ONCE)], &[(1, 1)]]), [AT_ONCE, AT_ONCE + 1]);
        assert_eq!(of(&[&[]]), [0]);
    }
}
