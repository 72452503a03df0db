//! A series: one variable at one station, measured one way.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use uuid::Uuid;

use crate::observation::{Variable, VariableError};

/// How a value represents its interval.
///
/// ```
/// use mesonet::IntervalType;
/// assert!(IntervalType::ALL.iter().all(|kind| kind.name().parse() == Ok(*kind)));
/// ```
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[allow(missing_docs, reason = "the names are the meaning")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum IntervalType {
    Instantaneous,
    Average,
    Cumulative,
    Max,
    Min,
    Median,
    Unknown,
}

impl IntervalType {
    /// Every interval type, in the order of the interface.
    pub const ALL: [Self; 7] = [
        Self::Instantaneous,
        Self::Average,
        Self::Cumulative,
        Self::Max,
        Self::Min,
        Self::Median,
        Self::Unknown,
    ];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Instantaneous => "Instantaneous",
            Self::Average => "Average",
            Self::Cumulative => "Cumulative",
            Self::Max => "Max",
            Self::Min => "Min",
            Self::Median => "Median",
            Self::Unknown => "Unknown",
        }
    }

    /// Rank among series of the same length when a grid chooses the most instantaneous.
    const fn instantaneity(self) -> u8 {
        match self {
            Self::Instantaneous => 0,
            Self::Average => 1,
            Self::Median => 2,
            Self::Max => 3,
            Self::Min => 4,
            Self::Cumulative => 5,
            Self::Unknown => 6,
        }
    }
}

impl fmt::Display for IntervalType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The properties that identify a series.
///
/// ```
/// use mesonet::{IntervalType, SeriesKey, Variable};
/// let two_minute_wind = SeriesKey::new(Variable::WindSpeed, IntervalType::Average, 2);
/// assert_eq!(two_minute_wind.reported_unit, "km/h");
/// let derived = two_minute_wind.clone().calculated();
/// assert_ne!(two_minute_wind.id(), derived.id());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SeriesKey {
    /// The variable.
    pub variable: Variable,
    /// How a value represents its interval.
    pub interval_type: IntervalType,
    /// Length of averaging or accumulation; 0 for instantaneous.
    pub interval_minutes: i32,
    /// Whether the values were derived by the service instead of received.
    pub calculated: bool,
    /// The unit of the values: the canonical unit of the variable, or the reported one if it cannot
    /// be converted without guessing.
    pub reported_unit: Cow<'static, str>,
    /// Label of a bucket, such as a size bin; empty for a series that is not grouped.
    pub bucket: Cow<'static, str>,
}

/// A series by its names, as programs in other languages describe it. A [`SeriesKey`] is made from
/// it by `TryFrom`, which refuses unknown names.
///
/// ```
/// use mesonet::observation::SeriesParts;
/// use mesonet::{IntervalType, SeriesKey, Variable};
/// let parts = SeriesParts {
///     variable: "windSpeed",
///     interval_type: "Average",
///     interval_minutes: 2,
///     calculated: false,
///     reported_unit: None,
///     bucket: None,
/// };
/// let two_minute_wind = SeriesKey::new(Variable::WindSpeed, IntervalType::Average, 2);
/// assert_eq!(SeriesKey::try_from(parts)?, two_minute_wind);
/// # Ok::<(), mesonet::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeriesParts<'a> {
    /// Name of the variable, such as `airTemperature`.
    pub variable: &'a str,
    /// Name of the interval type, such as `Instantaneous`.
    pub interval_type: &'a str,
    /// Length of averaging or accumulation; 0 for instantaneous.
    pub interval_minutes: i32,
    /// Whether the values were derived instead of received.
    pub calculated: bool,
    /// The unit of the values; by default the canonical unit of the variable.
    pub reported_unit: Option<&'a str>,
    /// Label of a bucket; by default the series is not grouped.
    pub bucket: Option<&'a str>,
}

impl TryFrom<SeriesParts<'_>> for SeriesKey {
    type Error = SeriesKeyError;
    fn try_from(parts: SeriesParts<'_>) -> Result<Self, SeriesKeyError> {
        let (variable, interval_type) = (parts.variable.parse()?, parts.interval_type.parse()?);
        let mut key = Self::new(variable, interval_type, parts.interval_minutes);
        key.calculated = parts.calculated;
        if let Some(unit) = parts.reported_unit {
            key.reported_unit = Cow::Owned(unit.to_owned());
        }
        if let Some(bucket) = parts.bucket {
            key.bucket = Cow::Owned(bucket.to_owned());
        }
        Ok(key)
    }
}

impl SeriesKey {
    /// Creates the key of a reported series in the canonical unit of its variable.
    pub const fn new(
        variable: Variable,
        interval_type: IntervalType,
        interval_minutes: i32,
    ) -> Self {
        Self {
            variable,
            interval_type,
            interval_minutes,
            calculated: false,
            reported_unit: Cow::Borrowed(variable.unit().symbol()),
            bucket: Cow::Borrowed(""),
        }
    }

    /// Returns the key of the same series, derived by the service.
    #[must_use]
    pub fn calculated(mut self) -> Self {
        self.calculated = true;
        self
    }

    /// Returns the id of the series on the wire: 31 bits of the UUID v5 of the key, so every server
    /// gives the same id, even after a restart.
    pub fn id(&self) -> SeriesId {
        let Self { variable, interval_type, interval_minutes, calculated, .. } = self;
        let text = format!(
            "{variable}/{interval_type}/{interval_minutes}/{calculated}/{}/{}",
            self.reported_unit, self.bucket
        );
        let [a, b, c, d, ..] = *Uuid::new_v5(&SERIES_NAMESPACE, text.as_bytes()).as_bytes();
        SeriesId(i32::from_be_bytes([a & 0x7f, b, c, d]))
    }

    /// Whether values are in the unit of the variable, and not kept as reported.
    fn is_in_unit(&self) -> bool {
        self.reported_unit == self.variable.unit().symbol()
    }

    /// Returns the rank by which a grid cell chooses among current series: first, series in the
    /// unit of the variable before series kept as reported; then series of the station before
    /// series of a bucket, such as a single sensor; then instantaneous first, then the shortest;
    /// then Average, Median, Max, Min, Cumulative, Unknown; then reported before calculated; then
    /// the lowest id.
    pub fn preference(&self) -> SeriesPreference {
        SeriesPreference(
            [!self.is_in_unit(), !self.bucket.is_empty()],
            self.interval_type != IntervalType::Instantaneous,
            self.interval_minutes,
            self.interval_type.instantaneity(),
            self.calculated,
            self.id(),
        )
    }

    /// Compares the [`preference`](Self::preference) of two series, without computing ids unless
    /// they decide.
    pub(crate) fn compare_preference(&self, other: &Self) -> Ordering {
        let but_for_id = |key: &Self| {
            let momentary = key.interval_type == IntervalType::Instantaneous;
            let kind = key.interval_type.instantaneity();
            let (as_reported, of_bucket) = (!key.is_in_unit(), !key.bucket.is_empty());
            (as_reported, of_bucket, !momentary, key.interval_minutes, kind, key.calculated)
        };
        but_for_id(self)
            .cmp(&but_for_id(other))
            .then_with(|| if self == other { Ordering::Equal } else { self.id().cmp(&other.id()) })
    }
}

/// A series, with values computed once from its key.
///
/// ```
/// use mesonet::observation::{SeriesId, SeriesPreference};
/// use mesonet::{IntervalType, Series, SeriesKey, Variable};
/// let momentary = SeriesKey::new(Variable::AirTemperature, IntervalType::Instantaneous, 0);
/// let hourly = SeriesKey::new(Variable::AirTemperature, IntervalType::Average, 60);
/// let series = Series::from(momentary.clone());
/// assert_eq!(series.id, SeriesId(1_944_015_174));
/// let preference: SeriesPreference = momentary.preference();
/// assert!(series.preference == preference && preference < hourly.preference());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Series {
    /// Id on the wire.
    pub id: SeriesId,
    /// The properties that identify it.
    pub key: SeriesKey,
    /// Its rank when a grid cell chooses among series.
    pub preference: SeriesPreference,
}

impl From<SeriesKey> for Series {
    fn from(key: SeriesKey) -> Self {
        Self { id: key.id(), preference: key.preference(), key }
    }
}

/// Namespace of the UUIDs that series ids are taken from.
const SERIES_NAMESPACE: Uuid = Uuid::from_u128(0x6d65_736f_6e65_5473_8572_6965_7300_0001);

/// A rank that sorts series by how much a grid cell prefers them, best first; see
/// [`SeriesKey::preference`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SeriesPreference([bool; 2], bool, i32, u8, bool, SeriesId);

/// Id of a series, `typeId` on the wire.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(transparent)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SeriesId(
    /// The number.
    pub i32,
);

impl fmt::Display for SeriesId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The error for an unknown interval type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "\"{0}\" is not an interval type; allowed are Instantaneous, Average, Cumulative, Max, Min, \
     Median, Unknown"
)]
pub struct IntervalTypeError(pub String);

/// The error for parts that do not identify a series.
///
/// ```
/// use mesonet::observation::{IntervalTypeError, SeriesKeyError};
/// use mesonet::{IntervalType, Variable};
/// let parse = |variable: &str, kind: &str| -> Result<(Variable, IntervalType), SeriesKeyError> {
///     Ok((variable.parse()?, kind.parse()?))
/// };
/// assert!(parse("airTemperature", "Average").is_ok());
/// let unknown = IntervalTypeError("mean".to_owned());
/// assert_eq!(parse("airTemperature", "mean"), Err(SeriesKeyError::IntervalType(unknown)));
/// assert!(matches!(parse("temperature", "Average"), Err(SeriesKeyError::Variable(_))));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SeriesKeyError {
    /// The variable is unknown.
    #[error(transparent)]
    Variable(#[from] VariableError),
    /// The interval type is unknown.
    #[error(transparent)]
    IntervalType(#[from] IntervalTypeError),
}

impl FromStr for IntervalType {
    type Err = IntervalTypeError;
    fn from_str(got: &str) -> Result<Self, IntervalTypeError> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.name() == got)
            .ok_or_else(|| IntervalTypeError(got.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn keys() -> impl Iterator<Item = SeriesKey> {
        let minutes = [1, 2, 5, 10, 15, 60, 180, 360, 720, 1440];
        Variable::ALL.iter().flat_map(move |&variable| {
            IntervalType::ALL.into_iter().flat_map(move |kind| {
                minutes.into_iter().flat_map(move |minutes| {
                    let key = SeriesKey::new(variable, kind, minutes);
                    [key.clone().calculated(), key]
                })
            })
        })
    }

    #[test]
    fn ids_of_all_plausible_series_are_positive_and_distinct() {
        let ids: Vec<_> = keys().map(|key| key.id()).collect();
        assert!(ids.iter().all(|id| id.0 > 0));
        assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len());
    }

    #[test]
    fn parts_become_the_key_that_they_describe() {
        let parts = SeriesParts {
            variable: "airTemperature",
            interval_type: "Max",
            interval_minutes: 60,
            calculated: true,
            reported_unit: Some("K"),
            bucket: Some("1"),
        };
        let mut key = SeriesKey::new(Variable::AirTemperature, IntervalType::Max, 60).calculated();
        key.reported_unit = "K".into();
        key.bucket = "1".into();
        assert_eq!(SeriesKey::try_from(parts), Ok(key));
        let refused = |parts: SeriesParts<'_>| SeriesKey::try_from(parts).unwrap_err().to_string();
        let variable = "wind".parse::<Variable>().unwrap_err().to_string();
        assert_eq!(refused(SeriesParts { variable: "wind", ..parts }), variable);
        let kind = IntervalTypeError("max".to_owned()).to_string();
        assert_eq!(refused(SeriesParts { interval_type: "max", ..parts }), kind);
    }

    #[test]
    fn ids_do_not_change() {
        let key = SeriesKey::new(Variable::AirTemperature, IntervalType::Instantaneous, 0);
        assert_eq!(key.id(), SeriesId(1_944_015_174));
    }

    #[test]
    fn the_most_instantaneous_series_is_preferred() {
        use IntervalType::{Average, Cumulative, Instantaneous, Max, Median, Min, Unknown};
        let order = [
            (Instantaneous, 0, false),
            (Instantaneous, 0, true),
            (Average, 1, true),
            (Average, 2, false),
            (Average, 10, false),
            (Average, 10, true),
            (Median, 10, false),
            (Max, 10, false),
            (Min, 10, false),
            (Cumulative, 10, false),
            (Unknown, 10, false),
            (Average, 60, false),
        ];
        let ranks: Vec<_> = order
            .into_iter()
            .map(|(kind, minutes, calculated)| {
                let key = SeriesKey::new(Variable::WindSpeed, kind, minutes);
                if calculated { key.calculated() } else { key }.preference()
            })
            .collect();
        assert!(ranks.windows(2).all(|pair| pair[0] < pair[1]));
        let of_a_sensor = SeriesKey {
            bucket: "sensor 1".into(),
            ..SeriesKey::new(Variable::WindSpeed, Instantaneous, 0)
        };
        assert!(of_a_sensor.preference() > ranks[ranks.len() - 1]);
        let mut as_reported = SeriesKey::new(Variable::AirTemperature, Instantaneous, 0);
        as_reported.reported_unit = "F".into();
        assert!(as_reported.preference() > of_a_sensor.preference(), "which may not be °C");
        let keys: Vec<_> = keys().filter(|key| key.variable < Variable::ALL[3]).collect();
        for (one, other) in keys.iter().zip(keys.iter().rev()) {
            let wanted = one.preference().cmp(&other.preference());
            assert_eq!(one.compare_preference(other), wanted, "{one:?} {other:?}");
        }
    }
}
