//! Some of the details of a station as JSON.

use std::str::FromStr;

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::super::form::AnswerForm;
use super::StationDetail;
use super::wire::{Ids, earlier, types};
use crate::store::StationRecord;
use crate::time::Iso8601;

/// A member of a station's details on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Network,
    Name,
    StationType,
    PresentWeather,
    Coordinates,
    Elevation,
    UpdateTime,
    Types,
    Qualities,
    Identifiers,
    EarlierPlaces,
    TypeCount,
    ReportText,
    Altitude,
}

impl Field {
    /// In the order in which they are written.
    const ALL: [(Self, &str); 14] = [
        (Self::Network, "network"),
        (Self::Name, "name"),
        (Self::StationType, "stationType"),
        (Self::PresentWeather, "presentWeather"),
        (Self::Coordinates, "coordinates"),
        (Self::Elevation, "elevation"),
        (Self::Altitude, "altitude"),
        (Self::UpdateTime, "updateTime"),
        (Self::Types, "types"),
        (Self::Qualities, "qualities"),
        (Self::Identifiers, "identifiers"),
        (Self::EarlierPlaces, "earlierPlaces"),
        (Self::TypeCount, "typeCount"),
        (Self::ReportText, "reportText"),
    ];
}

/// Some of the members of station details, for callers who do not need all of them. A list of names
/// with commas names them, in any order.
///
/// The names are those of a [`StationDetail`] in JSON, and three more. `altitude` is that of the
/// station above mean sea level in metres, if it is known. `typeCount` is how many `types` the
/// station has. `reportText` is the text of its newest report, if that is
/// [given](SelectedDetail::with_report_text).
///
/// ```
/// # use mesonet::{Intake, MemoryStore, intake::FeedFile};
/// # let csv = "raw_text,station_id,observation_time,latitude,longitude\n\
/// #     CYYZ 032000Z 24012G20KT 15SM 29/17 A2991,CYYZ,2024-08-03T20:00:00Z,43.68,-79.63\n";
/// # let store = MemoryStore::default();
/// # Intake::default().read_file(&store, csv.as_bytes(), &FeedFile::new("metars.csv", 0))?;
/// // The store has one report of Toronto Pearson.
/// use mesonet::query::{DetailFields, details};
/// let fields: DetailFields = "updateTime,name".parse()?;
/// let detail = details(&store, 1_722_715_200_000)?.remove(0);
/// let json = serde_json::to_string(&detail.with_fields(fields))?;
/// assert_eq!(json, r#"{"name":"CYYZ","updateTime":"2024-08-03T20:00:00Z"}"#);
/// let error = "name,height".parse::<DetailFields>().unwrap_err();
/// assert!(error.to_string().starts_with("unknown field \"height\"; the fields are network, name,"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DetailFields(u16);

impl DetailFields {
    /// The names of all fields, in the order in which they are written.
    pub const NAMES: [&str; Field::ALL.len()] = {
        let mut names = [""; Field::ALL.len()];
        let mut i = 0;
        while i < names.len() {
            names[i] = Field::ALL[i].1;
            i += 1;
        }
        names
    };

    /// Whether the text of the newest report is one of them. It is not in the details of a station,
    /// so it must be read for them.
    pub fn has_report_text(self) -> bool {
        self.has(Field::ReportText)
    }
    /// The members that details have by default: all but `altitude`, `typeCount` and `reportText`.
    pub const WHOLE: Self = Self((1 << Field::TypeCount as u16) - 1);

    fn has(self, field: Field) -> bool {
        self.0 & (1 << field as u16) != 0
    }
}

impl FromStr for DetailFields {
    type Err = DetailFieldError;

    fn from_str(names: &str) -> Result<Self, DetailFieldError> {
        names.split(',').try_fold(Self(0), |Self(fields), name| {
            let known = Field::ALL.iter().find(|(_, known)| *known == name);
            let &(field, _) = known.ok_or_else(|| DetailFieldError(name.to_owned()))?;
            Ok(Self(fields | 1 << field as u16))
        })
    }
}

/// Station details have no field of this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown field \"{0}\"; the fields are {names}", names = DetailFields::NAMES.join(", "))]
pub struct DetailFieldError(String);

impl StationDetail {
    /// The details with some of their fields, to be serialized.
    pub fn with_fields(&self, fields: DetailFields) -> SelectedDetail<'_> {
        SelectedDetail { detail: self, fields, report_text: None, form: AnswerForm::default() }
    }
}

/// Some of the details of a station, as JSON. See [`DetailFields`].
#[derive(Clone, Debug)]
pub struct SelectedDetail<'a> {
    detail: &'a StationDetail,
    fields: DetailFields,
    report_text: Option<&'a str>,
    form: AnswerForm,
}

impl<'a> SelectedDetail<'a> {
    /// The same with the text of the newest report, which is written if the fields have it.
    #[must_use]
    pub fn with_report_text(self, text: Option<&'a str>) -> Self {
        Self { report_text: text, ..self }
    }

    /// The same with the units of an answer, or with local times.
    ///
    /// ```
    /// # use mesonet::{Intake, MemoryStore, intake::FeedFile};
    /// # let csv = "raw_text,station_id,observation_time,latitude,longitude\n\
    /// #     CYYZ 032000Z 24012KT 15SM 29/17 A2991,CYYZ,2024-08-03T20:00:00Z,43.68,-79.63\n";
    /// # let store = MemoryStore::default();
    /// # Intake::default().read_file(&store, csv.as_bytes(), &FeedFile::new("metars.csv", 0))?;
    /// // The store has one report of Toronto Pearson.
    /// use mesonet::query::{AnswerClock, AnswerForm, DetailFields, details};
    /// use mesonet::time::LocalClock;
    /// let clock = Some(AnswerClock::from(LocalClock::new("America/Toronto", -240, [])));
    /// let form = AnswerForm { clock, units: None };
    /// let detail = details(&store, 1_722_715_200_000)?.remove(0);
    /// let fields: DetailFields = "updateTime".parse()?;
    /// let json = serde_json::to_value(detail.with_fields(fields).in_form(&form))?;
    /// assert_eq!(json["localUpdateTime"], "2024-08-03T16:00:00-04:00");
    /// assert_eq!(json["timeZone"], "America/Toronto");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn in_form(self, form: &AnswerForm) -> Self {
        Self { form: form.clone(), ..self }
    }
}

impl Serialize for SelectedDetail<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let record = &*self.detail.record;
        let StationRecord { station, series, .. } = record;
        let clock = self.form.clock_of(station.id);
        let mut members = serializer.serialize_map(None)?;
        for (field, name) in Field::ALL {
            if !self.fields.has(field) {
                continue;
            }
            match field {
                Field::Network => members.serialize_entry(name, &station.network)?,
                Field::Name => members.serialize_entry(name, &self.detail.shown_name())?,
                Field::StationType => present(&mut members, name, station.station_type)?,
                Field::PresentWeather => {
                    present(&mut members, name, record.present_weather.as_ref())?;
                }
                Field::Coordinates => members.serialize_entry(name, &station.coordinates)?,
                Field::Elevation => members.serialize_entry(name, &station.sensor_height_m)?,
                Field::Altitude => present(&mut members, name, station.altitude_m)?,
                Field::UpdateTime => {
                    present(&mut members, name, record.update_time_ms.map(Iso8601))?;
                    let local = clock.zip(record.update_time_ms);
                    let local = local.map(|(clock, ts_ms)| clock.text(ts_ms));
                    present(&mut members, "localUpdateTime", local)?;
                }
                Field::Types => members.serialize_entry(name, &types(record, &self.form))?,
                Field::Qualities => members.serialize_entry(name, &self.detail.qualities)?,
                Field::Identifiers => {
                    members.serialize_entry(name, &Ids(station.all_identifiers()))?;
                }
                Field::EarlierPlaces => {
                    let places = earlier(station.earlier_places.as_slice());
                    present(&mut members, name, (!places.is_empty()).then_some(places))?;
                }
                Field::TypeCount => members.serialize_entry(name, &series.len())?,
                Field::ReportText => present(&mut members, name, self.report_text)?,
            }
        }
        present(&mut members, "timeZone", clock.map(|clock| clock.name()))?;
        members.end()
    }
}

/// Writes a member that has a value.
fn present<M: SerializeMap>(
    members: &mut M,
    name: &str,
    value: Option<impl Serialize>,
) -> Result<(), M::Error> {
    value.map_or(Ok(()), |value| members.serialize_entry(name, &value))
}
