//! Precomputed bodies with all stations: their markers and their details.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock};

use axum::body::Bytes;
use mesonet::query::{
    AnswerForm, DetailFields, FoundStation, StationDetail, StationMarkers, details, details_of,
};
use mesonet::store::{Damage, StationRecord, StationRecords, Watched};
use mesonet::time::MINUTE_MS;
use mesonet::{Reader, StationId};

use crate::http::encoding::Effort;
use crate::http::etag::digest;
use crate::http::snapshot::{Snapshot, SnapshotError};
use mesonet_service::sync::lock;

/// The markers of all stations.
pub struct Markers {
    pub places_generation: u64,
    pub snapshot: Snapshot,
}

/// Maximum number of stations whose details are updated at once only because time has passed. It is
/// small, so that new data does not wait for them.
const MAX_AGED: usize = 50;

/// The details of all stations.
#[derive(Clone)]
pub struct Details {
    /// The whole object.
    pub snapshot: Snapshot,
    /// The damaged blocks of the record, whose readings the object lacks.
    damage: Damage,
    /// When all details were made.
    built_ms: i64,
    /// By ascending id.
    members: Vec<StationInDetails>,
    /// The object with some of the fields, those asked for last at the end. At most
    /// [`MAX_SELECTIONS`]. Shared by all that have the same body.
    selections: Arc<Mutex<Vec<(DetailFields, Snapshot)>>>,
}

/// Pages ask for the same few selections of fields.
const MAX_SELECTIONS: usize = 4;

/// Length of the key of a station: its id in quotes, and a colon.
const KEY_BYTES: usize = 39;

/// A station in the details.
#[derive(Clone)]
struct StationInDetails {
    detail: StationDetail,
    /// The time for which its `qualities` were computed.
    as_of_ms: i64,
    /// Its member `"id":{…}` in the identity body.
    place: Range<usize>,
    /// The digest of its object, made when it is first asked for.
    content: OnceLock<String>,
}

impl StationInDetails {
    fn new(detail: StationDetail, as_of_ms: i64, place: Range<usize>) -> Self {
        Self { detail, as_of_ms, place, content: OnceLock::new() }
    }
}

impl Markers {
    /// The present markers; `replaced` are those before.
    pub fn new(store: &dyn Reader, replaced: Option<&Snapshot>) -> Result<Self, SnapshotError> {
        let directory = store.directory()?;
        let markers = StationMarkers::new(directory.stations.iter().map(|record| &**record));
        let body = serde_json::to_vec(&markers)?;
        let snapshot = Snapshot::new(body, "no-cache", Effort::Thorough, replaced)?;
        Ok(Self { places_generation: directory.places_generation, snapshot })
    }
}

impl Details {
    /// The present details.
    pub fn new(store: &dyn Reader, now_ms: i64) -> Result<Self, SnapshotError> {
        let store = Watched::new(store);
        let details = details(&store, now_ms)?;
        let fresh = details.into_iter().map(|detail| (detail, now_ms, None)).collect();
        Self::write(fresh, None, store.damage(), now_ms, Effort::Thorough)
    }

    /// The details with the changes since: for new stations, for stations that have reported, for
    /// `touched` stations and, as `qualities` age, for some stations whose details are a minute
    /// old. `None` if there are no changes.
    ///
    /// Only these stations are read and written again. The others are copied.
    pub fn updated(
        &self,
        store: &dyn Reader,
        now_ms: i64,
        touched: &HashSet<StationId>,
    ) -> Result<Option<Self>, SnapshotError> {
        let is_old = |as_of_ms: i64| now_ms.saturating_sub(as_of_ms) >= MINUTE_MS;
        if self.damage.blocks() > 0 && is_old(self.built_ms) {
            // Damage may have been repaired. Only reading all stations shows that.
            return Self::new(store, now_ms).map(Some);
        }
        let directory = store.directory()?;
        let mut aged = 0;
        let mut is_due = |record: &Arc<StationRecord>| {
            let id = record.station.id;
            let Some(member) = self.member(id) else { return true };
            if !Arc::ptr_eq(&member.detail.record, record) || touched.contains(&id) {
                return true;
            }
            let is_aged = is_old(member.as_of_ms) && aged < MAX_AGED;
            aged += usize::from(is_aged);
            is_aged
        };
        let mut due: Vec<StationId> = directory
            .stations
            .iter()
            .filter(|record| is_due(record))
            .map(|record| record.station.id)
            .collect();
        if due.is_empty() {
            return Ok(None);
        }
        due.extend(self.namesakes(&directory.stations));
        let store = Watched::new(store);
        let mut fresh = details_of(&store, &due, now_ms)?.into_iter().peekable();
        let mut all = Vec::with_capacity(directory.stations.len());
        for record in &directory.stations {
            let id = record.station.id;
            let known = self.member(id);
            match (fresh.next_if(|detail| detail.record.station.id == id), known) {
                (Some(detail), Some(member)) if detail == member.detail => {
                    all.push((detail, now_ms, Some(member.place.clone())));
                }
                (Some(detail), _) => all.push((detail, now_ms, None)),
                (None, Some(member)) => {
                    let place = Some(member.place.clone());
                    all.push((member.detail.clone(), member.as_of_ms, place));
                }
                // Every station must have a detail, so an unknown station is due.
                (None, None) => {}
            }
        }
        let mut damage = self.damage.clone();
        damage.join(store.damage());
        if all.len() == self.members.len() && all.iter().all(|(_, _, place)| place.is_some()) {
            let member = |(detail, as_of_ms, place): (_, _, Option<Range<usize>>)| {
                StationInDetails::new(detail, as_of_ms, place.unwrap_or_default())
            };
            let members = all.into_iter().map(member).collect();
            let (snapshot, built_ms) = (self.snapshot.clone(), self.built_ms);
            let selections = Arc::clone(&self.selections);
            return Ok(Some(Self { snapshot, damage, built_ms, members, selections }));
        }
        Self::write(all, Some(&self.snapshot), damage, self.built_ms, Effort::Fastest).map(Some)
    }

    /// The same body, compressed thoroughly; `None` if it is already.
    pub fn settled(&self) -> Result<Option<Self>, SnapshotError> {
        Ok(self.snapshot.thorough()?.map(|snapshot| Self { snapshot, ..self.clone() }))
    }

    /// Writes the object. A station with a position in the replaced body is copied from it.
    fn write(
        details: Vec<(StationDetail, i64, Option<Range<usize>>)>,
        replaced: Option<&Snapshot>,
        damage: Damage,
        built_ms: i64,
        effort: Effort,
    ) -> Result<Self, SnapshotError> {
        let known = replaced.map_or(&[][..], |replaced| replaced.identity());
        let mut members = Vec::with_capacity(details.len());
        let mut body = Vec::with_capacity(known.len() + known.len() / 64);
        body.push(b'{');
        for (detail, as_of_ms, place) in details {
            if body.len() > 1 {
                body.push(b',');
            }
            let start = body.len();
            if let Some(place) = place {
                body.extend_from_slice(&known[place]);
            } else {
                serde_json::to_writer(&mut body, &detail.record.station.id)?;
                body.push(b':');
                serde_json::to_writer(&mut body, &detail)?;
            }
            members.push(StationInDetails::new(detail, as_of_ms, start..body.len()));
        }
        body.push(b'}');
        let snapshot = Snapshot::new(body, "no-cache", effort, replaced)?;
        Ok(Self { snapshot, damage, built_ms, members, selections: Arc::default() })
    }

    /// The stations that share a name with a new or changed one. Names that several stations have
    /// are shown with ids.
    fn namesakes(&self, stations: &StationRecords) -> Vec<StationId> {
        let mut names = HashSet::new();
        for record in stations {
            let name = record.station.network_and_name();
            let was = self.member(record.station.id);
            let was = was.map(|member| member.detail.record.station.network_and_name());
            if was != Some(name) {
                names.insert(name);
                names.extend(was);
            }
        }
        if names.is_empty() {
            return Vec::new();
        }
        let named = stations.iter().map(|record| &record.station);
        named.filter(|one| names.contains(&one.network_and_name())).map(|one| one.id).collect()
    }

    fn member(&self, id: StationId) -> Option<&StationInDetails> {
        let key = |member: &StationInDetails| member.detail.record.station.id;
        self.members.binary_search_by_key(&id, key).ok().map(|at| &self.members[at])
    }

    /// Whether two values share a body, so that neither is newer.
    pub fn has_body_of(&self, other: &Self) -> bool {
        self.snapshot.identity().as_ptr() == other.snapshot.identity().as_ptr()
    }

    /// How many damaged blocks of the record hold readings that the object lacks.
    pub fn damaged(&self) -> u64 {
        self.damage.blocks()
    }

    /// Returns the body of the details of a station, and its digest, if it is in the object.
    pub fn station(&self, detail: &StationDetail) -> Option<(Bytes, &str)> {
        let member = self.member(detail.record.station.id)?;
        let known = &member.detail;
        let is_same = Arc::ptr_eq(&known.record, &detail.record)
            && known.qualities == detail.qualities
            && known.shares_name == detail.shares_name;
        if !is_same {
            return None;
        }
        let body = self.snapshot.identity().slice(member.place.start + KEY_BYTES..member.place.end);
        let content = member.content.get_or_init(|| digest(&[&body]));
        Some((body, content))
    }

    /// Returns the object with some of the stations, all or some of their fields, and a form; `texts`
    /// are their newest reports, if they are wanted.
    ///
    /// # Errors
    /// A value cannot be serialized.
    pub fn of(
        &self,
        fields: Option<DetailFields>,
        stations: &[FoundStation],
        texts: &[Option<String>],
        form: &AnswerForm,
    ) -> Result<Vec<u8>, SnapshotError> {
        let whole = self.snapshot.identity();
        let mut body = vec![b'{'];
        for (at, found) in stations.iter().enumerate() {
            let Some(StationInDetails { detail, place, .. }) = self.member(found.id) else {
                continue;
            };
            let (away, text) = (found.away, texts.get(at).and_then(Option::as_deref));
            if body.len() > 1 {
                body.push(b',');
            }
            let start = body.len();
            match fields {
                None if form.is_empty() => body.extend_from_slice(&whole[place.clone()]),
                fields => {
                    let fields = fields.unwrap_or(DetailFields::WHOLE);
                    body.extend_from_slice(&whole[place.start..place.start + KEY_BYTES]);
                    let detail = detail.with_fields(fields).with_report_text(text).in_form(form);
                    serde_json::to_writer(&mut body, &detail)?;
                }
            }
            if let Some(away) = away {
                let first = start + KEY_BYTES + 1;
                let comma = if body[first..] == *b"}" { "" } else { "," };
                body.splice(first..first, format!("{away}{comma}").into_bytes());
            }
        }
        body.push(b'}');
        Ok(body)
    }

    /// All stations, by ascending id.
    fn all(&self) -> Vec<FoundStation> {
        let found = |(place, member): (usize, &StationInDetails)| FoundStation {
            place,
            id: member.detail.record.station.id,
            away: None,
        };
        self.members.iter().enumerate().map(found).collect()
    }

    /// The object with some of the fields of all stations.
    ///
    /// # Errors
    /// A value cannot be serialized, or a compressor failed.
    pub fn fields(&self, fields: DetailFields) -> Result<Snapshot, SnapshotError> {
        if let Some(snapshot) = self.known_fields(fields) {
            return Ok(snapshot);
        }
        let body = self.of(Some(fields), &self.all(), &[], &AnswerForm::default())?;
        let snapshot = Snapshot::new(body, "no-cache", Effort::Fastest, None)?;
        let mut selections = lock(&self.selections);
        // Another caller may have made it meanwhile.
        selections.retain(|(known, _)| *known != fields);
        if selections.len() == MAX_SELECTIONS {
            selections.remove(0);
        }
        selections.push((fields, snapshot.clone()));
        Ok(snapshot)
    }

    /// The same, if it was asked for before.
    pub fn known_fields(&self, fields: DetailFields) -> Option<Snapshot> {
        let mut selections = lock(&self.selections);
        let at = selections.iter().position(|(known, _)| *known == fields)?;
        selections[at..].rotate_left(1);
        selections.last().map(|(_, snapshot)| snapshot.clone())
    }
}

#[cfg(test)]
#[path = "station_bodies_tests.rs"]
mod tests;
