//! The outcome of a check for one reading, and the one place where verdicts are combined.

use std::fmt;

use crate::observation::{BaseQuality, Quality, StationId};

/// A quality check, in the order in which the checks run.
///
/// The order of the variants also decides which check gives the verdict if two find the same base
/// quality.
///
/// ```
/// use mesonet::check::Check;
/// assert!(Check::Range < Check::Neighbours);
/// assert_eq!(Check::ALL.map(Check::name)[..3], ["value", "range", "record"]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Check {
    /// The value is a number and does not stand for a missing value.
    Value,
    /// The value is within the limits of its variable, latitude and season.
    Range,
    /// The value is within the extremes on record.
    Record,
    /// The value does not stick out from those before and after it.
    Spike,
    /// The value did not change too fast.
    Step,
    /// No lasting change far beyond what the series has shown, unless another sensor explains it.
    Jump,
    /// The value did not stay the same for too long.
    Persistence,
    /// Dew point ≤ air temperature.
    DewPoint,
    /// Dew point ≤ wet-bulb temperature ≤ air temperature.
    WetBulb,
    /// Station pressure ≤ sea level pressure above sea level, ≥ below it.
    PressureOrder,
    /// Sea level pressure near the station pressure reduced to sea level.
    PressureReduction,
    /// Mean wind ≤ gust, and the gust not too far above it.
    WindGust,
    /// A calm has direction 0, and only a calm has it.
    CalmWind,
    /// Rainfall ≤ precipitation.
    Rainfall,
    /// Wave height ≤ maximum wave height.
    WaveHeight,
    /// Minimum ≤ average ≤ maximum of a period.
    Average,
    /// The value is similar to those of the stations around it.
    Neighbours,
    /// No lasting change that the stations around do not share.
    NeighbourChange,
}

impl Check {
    /// Every check, in the order in which they run.
    pub const ALL: [Self; 18] = [
        Self::Value,
        Self::Range,
        Self::Record,
        Self::Spike,
        Self::Step,
        Self::Jump,
        Self::Persistence,
        Self::DewPoint,
        Self::WetBulb,
        Self::PressureOrder,
        Self::PressureReduction,
        Self::WindGust,
        Self::CalmWind,
        Self::Rainfall,
        Self::WaveHeight,
        Self::Average,
        Self::Neighbours,
        Self::NeighbourChange,
    ];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Value => "value",
            Self::Range => "range",
            Self::Record => "record",
            Self::Spike => "spike",
            Self::Step => "step",
            Self::Jump => "jump",
            Self::Persistence => "persistence",
            Self::DewPoint => "dewPoint",
            Self::WetBulb => "wetBulb",
            Self::PressureOrder => "pressureOrder",
            Self::PressureReduction => "pressureReduction",
            Self::WindGust => "windGust",
            Self::CalmWind => "calmWind",
            Self::Rainfall => "rainfall",
            Self::WaveHeight => "waveHeight",
            Self::Average => "average",
            Self::Neighbours => "neighbours",
            Self::NeighbourChange => "neighbourChange",
        }
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why a check did not run on a reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotRun {
    /// No limit is configured for the variable.
    NoLimit,
    /// The series holds extremes, totals or buckets, which the check cannot judge.
    SeriesKind,
    /// The values are in another unit than the limits.
    Unit,
    /// The value is missing or impossible, so there is nothing left to check.
    Refused,
    /// There is no usable reading before this one, or it is too long ago.
    NoPrevious,
    /// There is no usable reading after this one, or it is too late.
    NoNext,
    /// The value may stay constant: calm, no precipitation, saturated, no snow.
    Exempt,
    /// The station has no series to compare with.
    NoRelatedSeries,
    /// The series to compare with has no usable reading at this time.
    NoRelatedReading,
    /// The altitude of the station is unknown.
    NoAltitude,
    /// The station is so high that its sea level pressure is not comparable.
    TooHigh,
    /// There are fewer stations around than the check needs.
    TooFewNeighbours,
    /// The check needs the readings of other stations, which were not given.
    OtherStations,
    /// The stations around agree with the value, so its own series is no reason to doubt it.
    NeighboursAgree,
}

impl NotRun {
    /// The reason in words.
    pub const fn text(self) -> &'static str {
        match self {
            Self::NoLimit => "no limit is configured for this variable",
            Self::SeriesKind => "the check does not apply to this interval type or bucket",
            Self::Unit => "the values are not in the unit of the limits",
            Self::Refused => "the value is missing or impossible",
            Self::NoPrevious => "no usable reading before it that is close enough",
            Self::NoNext => "no usable reading after it that is close enough",
            Self::Exempt => "the value may stay constant",
            Self::NoRelatedSeries => "the station has no series to compare with",
            Self::NoRelatedReading => "no usable reading of the same time to compare with",
            Self::NoAltitude => "the altitude of the station is unknown",
            Self::TooHigh => "so far above sea level the reduction is a convention",
            Self::TooFewNeighbours => "too few neighbouring stations",
            Self::OtherStations => "needs the readings of other stations",
            Self::NeighboursAgree => "the stations around agree with the value",
        }
    }
}

impl fmt::Display for NotRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CheckOutcome {
    NotRun(NotRun),
    Passed,
    Tripped(Quality),
    /// The value is beyond a physical limit; this verdict holds whatever the source says.
    Impossible(Quality),
}

impl From<Option<Quality>> for CheckOutcome {
    fn from(tripped: Option<Quality>) -> Self {
        tripped.map_or(Self::Passed, Self::Tripped)
    }
}

/// A value that a check looked at.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = CheckInput))]
pub struct Input {
    /// The name of a variable, or of a computed quantity.
    pub name: &'static str,
    /// The value.
    #[cfg_attr(feature = "openapi", schema(required = true, value_type = Option<f64>))]
    pub value: f64,
    /// Its unit.
    pub unit: String,
    /// The time of the value; absent if it has no time of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<crate::time::Iso8601>,
}

/// A limit that a check applied to the inputs.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = CheckLimit))]
pub struct Limit {
    /// The name of the limited quantity.
    pub name: &'static str,
    /// The smallest allowed value; absent if there is no such limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// The largest allowed value; absent if there is no such limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// The unit of both.
    pub unit: String,
    /// Where the limit was published.
    pub source: String,
}

/// A station that a value was compared with.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Neighbour {
    /// Its position in the given columns.
    #[serde(skip)]
    pub place: usize,
    /// Its id, if the stations are those of a store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub station_id: Option<StationId>,
    /// Its name, if the stations are those of a store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its distance.
    pub distance_km: f64,
    /// How much higher it is; 0 if the altitude of either station is unknown.
    pub rise_m: f64,
    /// Its value at the time of the reading, in the unit of the reading; for a station pressure,
    /// the altimeter setting. In the check of changes, its change.
    pub value: f64,
    /// Its weight in what the neighbours say; 0 if it is unlike the others and so left out.
    pub weight: f64,
    /// Its own difference from what the other neighbours say, in standard deviations; absent if it
    /// was left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standardized_difference: Option<f64>,
}

/// The inputs and limits of one check, and the neighbours that it compared with.
#[derive(Debug, Default)]
pub(super) struct Details {
    pub inputs: Vec<Input>,
    pub limits: Vec<Limit>,
    pub neighbours: Vec<Neighbour>,
}

/// Receives the outcomes of the checks on one reading. The fast pass and the explanation run the
/// same checks with different sinks, so they cannot disagree.
pub(super) trait Sink {
    /// Takes an outcome; `details` is called only by sinks that show them.
    fn note(&mut self, check: Check, outcome: CheckOutcome, details: impl FnOnce() -> Details);
}

/// The verdict of the checks so far: the worst, from the first check if two are equal.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    /// Whether a check ran that tells more than that the value is a number.
    ran: bool,
    tripped: Option<(Quality, Check)>,
    /// The same without the check of jumps, which neighbours may refute.
    without_jump: Option<(Quality, Check)>,
    /// The verdict of a physical limit, which holds above the source's.
    impossible: Option<(Quality, Check)>,
}

/// The verdict of a station's own checks on a reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OwnVerdict {
    pub verdict: Quality,
    /// The verdict if the neighbours agree with the value: then a jump was real.
    pub cleared: Quality,
    /// Whether the value is beyond a physical limit.
    pub is_impossible: bool,
}

impl OwnVerdict {
    /// The verdict on a calculated value: the worst of its inputs, unless the value is impossible.
    #[cfg(feature = "store")]
    pub(crate) fn of_calculated(self, worst_input: Quality) -> Quality {
        if self.is_impossible { worst_input.worse(self.verdict) } else { worst_input }
    }
}

impl Tally {
    pub(super) fn add(&mut self, check: Check, outcome: CheckOutcome) {
        match outcome {
            CheckOutcome::NotRun(_) => {}
            // Being a number does not make a value Good.
            CheckOutcome::Passed => self.ran |= check != Check::Value,
            CheckOutcome::Tripped(quality) | CheckOutcome::Impossible(quality) => {
                self.ran = true;
                if matches!(outcome, CheckOutcome::Impossible(_)) {
                    self.impossible = Some((quality, check));
                }
                let is_worse = |of: Option<(Quality, Check)>| {
                    of.is_none_or(|(known, _)| quality.base < known.base)
                };
                if is_worse(self.tripped) {
                    self.tripped = Some((quality, check));
                }
                if check != Check::Jump && is_worse(self.without_jump) {
                    self.without_jump = Some((quality, check));
                }
            }
        }
    }

    /// Whether a check ran that tells more than that the value is a number.
    #[cfg(feature = "store")]
    pub(crate) fn ran(self) -> bool {
        self.ran
    }

    /// The worst verdict of the checks, if one tripped.
    pub(crate) fn tripped(self) -> Option<Quality> {
        self.tripped.map(|(quality, _)| quality)
    }

    /// The verdict of the station's own checks.
    pub(super) fn own(self, source: Quality) -> OwnVerdict {
        let cleared = Self { tripped: self.without_jump, ..self };
        OwnVerdict {
            verdict: self.verdict(source).0,
            cleared: cleared.verdict(source).0,
            is_impossible: self.impossible.is_some(),
        }
    }

    /// The final verdict, and the check that gave it: `None` if the verdict is the source's or no
    /// check tripped.
    ///
    /// - A source's Good is kept: such readings are checked only against physical limits.
    /// - A source's Unknown is not a verdict: the checks decide. If all passed, the verdict is
    ///   Good; if none ran, it is Unknown, None.
    /// - Any other verdict of the source is kept and never improved: the worse of both counts.
    pub(crate) fn verdict(self, source: Quality) -> (Quality, Option<Check>) {
        match (source.base, self.tripped) {
            (BaseQuality::Good, _) => {
                self.impossible.map_or((source, None), |(quality, check)| (quality, Some(check)))
            }
            (BaseQuality::Unknown, Some((quality, check))) => (quality, Some(check)),
            (BaseQuality::Unknown, None) if self.ran => (Quality::GOOD, None),
            (BaseQuality::Unknown, None) => (Quality::UNCHECKED, None),
            (_, Some((quality, check))) if quality.base < source.base => (quality, Some(check)),
            (_, _) => (source, None),
        }
    }
}

impl Sink for Tally {
    #[inline]
    fn note(&mut self, check: Check, outcome: CheckOutcome, _: impl FnOnce() -> Details) {
        self.add(check, outcome);
    }
}
