//! The form of an answer: its units, and local times beside UTC.

use std::collections::HashMap;
use std::sync::Arc;

use crate::observation::{SeriesKey, StationId};
use crate::query::{AnswerUnits, ShownUnit};
use crate::time::LocalClock;

/// What an answer has beside what it has by default. An empty form changes nothing.
///
/// ```
/// use mesonet::query::{AnswerClock, AnswerForm, AnswerUnits, UnitSystem};
/// use mesonet::{SeriesKey, StationId, Variable, time::LocalClock};
/// let units = Some(AnswerUnits::of(UnitSystem::Us));
/// let clock = Some(AnswerClock::from(LocalClock::new("Etc/GMT+5", -300, [])));
/// let form = AnswerForm { units, clock };
/// assert!(!form.is_empty());
/// let air = mesonet::SeriesKey::new(Variable::AirTemperature, mesonet::IntervalType::Average, 1);
/// assert_eq!(form.unit(&air).value(20.0), 68.0);
/// let clock = form.clock_of(StationId::new("METAR", "CYYZ")).ok_or("there is a clock")?;
/// assert_eq!(clock.text(0), "1969-12-31T19:00:00-05:00");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AnswerForm {
    /// The units; with `Some`, the answer names the unit of each value.
    pub units: Option<AnswerUnits>,
    /// The clock of local times.
    pub clock: Option<AnswerClock>,
}

/// The local clock of each station.
#[derive(Clone, Debug, PartialEq)]
pub enum AnswerClock {
    /// The same clock for all stations.
    Same(Arc<LocalClock>),
    /// Each station's own clock. A station without one has no local times.
    OfStations(Arc<HashMap<StationId, Arc<LocalClock>>>),
}

impl From<LocalClock> for AnswerClock {
    fn from(clock: LocalClock) -> Self {
        Self::Same(Arc::new(clock))
    }
}

impl AnswerForm {
    /// Whether the answer is as by default.
    pub fn is_empty(&self) -> bool {
        self.units.is_none() && self.clock.is_none()
    }

    /// The unit of the values of a series.
    pub fn unit(&self, key: &SeriesKey) -> ShownUnit {
        let units = self.units.as_ref();
        units.map_or_else(|| ShownUnit::as_reported(key), |units| units.of_series(key))
    }

    /// The symbol of the unit of a series, if units were asked for.
    pub(crate) fn symbol(&self, key: &SeriesKey) -> Option<String> {
        self.units.as_ref().map(|units| units.of_series(key).symbol().to_owned())
    }

    /// The clock of a station.
    pub fn clock_of(&self, station: StationId) -> Option<&Arc<LocalClock>> {
        match self.clock.as_ref()? {
            AnswerClock::Same(clock) => Some(clock),
            AnswerClock::OfStations(clocks) => clocks.get(&station),
        }
    }
}
