//! The limits of the checks: data, each limit with its source.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use super::change_limits::ChangeLimits;
use super::limits::{
    AccumulationLimits, JumpLimits, PersistenceLimits, PhysicalLimits, PrecisionLimits,
    RangeLimits, RecordLimits, RuleLimits, SpikeLimits, StepLimits, ValueLimits, VariableKey,
};
use super::neighbour_limits::NeighbourLimits;
use crate::observation::Variable;
use crate::settings::{TomlFault, line_of, read_toml};

/// The text of the default limits: a commented TOML file.
///
/// ```
/// use mesonet::check;
/// // An operator writes their own limits from the text that ships.
/// assert!(check::DEFAULT_LIMITS_TOML.contains("[record.airTemperature]"));
/// assert_eq!(check::Config::from_toml(check::DEFAULT_LIMITS_TOML)?, check::Config::default());
/// # Ok::<(), check::CheckConfigError>(())
/// ```
pub const DEFAULT_LIMITS_TOML: &str = include_str!("limits.toml");

/// The limits of the checks, each with its source.
///
/// ```
/// use mesonet::check;
/// let own = "[record.airTemperature]\nbounds = [-70, 56.7]\nsource = \"own network\"\n";
/// assert!(check::Config::from_toml(own).is_ok());
/// let turned = "[record.airTemperature]\nbounds = [56.7, -63]\nsource = \"own network\"\n";
/// assert_eq!(
///     check::Config::from_toml(turned).unwrap_err().to_string(),
///     "line 2 of the limits: the lower bound must be below the upper; got [56.7, -63]",
/// );
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    pub(super) value: ValueLimits,
    pub(super) physical: ByVariable<PhysicalLimits>,
    pub(super) range: ByVariable<RangeLimits>,
    pub(super) accumulation: ByVariable<AccumulationLimits>,
    pub(super) record: ByVariable<RecordLimits>,
    pub(super) spike: ByVariable<SpikeLimits>,
    pub(super) step: ByVariable<StepLimits>,
    pub(super) jump: ByVariable<JumpLimits>,
    pub(super) persistence: ByVariable<PersistenceLimits>,
    pub(super) consistency: ConsistencyLimits,
    pub(super) neighbours: ByVariable<NeighbourLimits>,
    pub(super) neighbour_change: ByVariable<ChangeLimits>,
}

pub(super) type ByVariable<T> = BTreeMap<Variable, T>;

/// An error in a text of limits.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the limits: {reason}")]
pub struct CheckConfigError {
    /// The line number, starting at 1.
    pub line: usize,
    /// What was given and what is allowed.
    pub reason: String,
}

/// Limits of the checks between readings of one station and time; without a limit, its check does
/// not run.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct ConsistencyLimits {
    pub dew_point: Option<PrecisionLimits>,
    pub wet_bulb: Option<PrecisionLimits>,
    pub pressure_order: Option<RuleLimits>,
    pub pressure_reduction: Option<RuleLimits>,
    pub wind_gust: Option<RuleLimits>,
    pub calm_wind: Option<RuleLimits>,
    pub rainfall: Option<RuleLimits>,
    pub wave_height: Option<RuleLimits>,
    pub average: Option<RuleLimits>,
}

/// A text of limits as written: absent entries leave the limits unchanged.
#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
#[derive(Default)]
struct LimitsToml {
    without: Vec<Spanned<String>>,
    value: Option<ValueLimits>,
    physical: BTreeMap<VariableKey, PhysicalLimits>,
    range: BTreeMap<VariableKey, RangeLimits>,
    accumulation: BTreeMap<VariableKey, AccumulationLimits>,
    record: BTreeMap<VariableKey, RecordLimits>,
    spike: BTreeMap<VariableKey, SpikeLimits>,
    step: BTreeMap<VariableKey, StepLimits>,
    jump: BTreeMap<VariableKey, JumpLimits>,
    persistence: BTreeMap<VariableKey, PersistenceLimits>,
    consistency: ConsistencyLimits,
    neighbours: BTreeMap<VariableKey, NeighbourLimits>,
    #[serde(rename = "neighbourChange")]
    neighbour_change: BTreeMap<VariableKey, ChangeLimits>,
}

impl Default for Config {
    /// The default limits.
    fn default() -> Self {
        Self::none().with(DEFAULT_LIMITS_TOML).expect("the default limits are tested")
    }
}

impl Config {
    /// The default limits, with entries replaced by those of a TOML text.
    ///
    /// An entry (`[range.airTemperature]`, `[consistency.windGust]`) replaces the whole entry of
    /// the same name, including its source. `without = ["step.airTemperature"]` removes entries.
    ///
    /// # Errors
    /// If the text is not TOML, has unknown keys or variables, or limits that make no sense: not a
    /// number, a lower bound above the upper one, Error bounds inside the Doubtful ones, negative
    /// spans.
    pub fn from_toml(text: &str) -> Result<Self, CheckConfigError> {
        Self::default().with(text)
    }

    /// No limits at all: no check runs.
    ///
    /// ```
    /// use mesonet::check::{Checker, Config};
    /// assert_eq!(Checker::new(Config::none()).neighbour_variables().count(), 0);
    /// ```
    pub fn none() -> Self {
        Self {
            value: ValueLimits::default(),
            physical: BTreeMap::new(),
            range: BTreeMap::new(),
            accumulation: BTreeMap::new(),
            record: BTreeMap::new(),
            spike: BTreeMap::new(),
            step: BTreeMap::new(),
            jump: BTreeMap::new(),
            persistence: BTreeMap::new(),
            consistency: ConsistencyLimits::default(),
            neighbours: BTreeMap::new(),
            neighbour_change: BTreeMap::new(),
        }
    }

    fn with(mut self, text: &str) -> Result<Self, CheckConfigError> {
        let over: LimitsToml = read_toml(text)
            .map_err(|TomlFault { line, reason }| CheckConfigError { line, reason })?;
        for name in &over.without {
            if !self.remove(name.get_ref()) {
                return Err(CheckConfigError {
                    line: line_of(text, name.span().start),
                    reason: format!(
                        "\"{}\" is not an entry that can be left out; allowed are those of the \
                         limits that ship, for example step.airTemperature",
                        name.get_ref()
                    ),
                });
            }
        }
        self.value = over.value.unwrap_or(self.value);
        put(&mut self.physical, over.physical);
        put(&mut self.range, over.range);
        put(&mut self.accumulation, over.accumulation);
        put(&mut self.record, over.record);
        put(&mut self.spike, over.spike);
        put(&mut self.step, over.step);
        put(&mut self.jump, over.jump);
        put(&mut self.persistence, over.persistence);
        put(&mut self.neighbours, over.neighbours);
        put(&mut self.neighbour_change, over.neighbour_change);
        let (known, over) = (self.consistency, over.consistency);
        self.consistency = ConsistencyLimits {
            dew_point: over.dew_point.or(known.dew_point),
            wet_bulb: over.wet_bulb.or(known.wet_bulb),
            pressure_order: over.pressure_order.or(known.pressure_order),
            pressure_reduction: over.pressure_reduction.or(known.pressure_reduction),
            wind_gust: over.wind_gust.or(known.wind_gust),
            calm_wind: over.calm_wind.or(known.calm_wind),
            rainfall: over.rainfall.or(known.rainfall),
            wave_height: over.wave_height.or(known.wave_height),
            average: over.average.or(known.average),
        };
        Ok(self)
    }

    /// Removes an entry; returns whether it existed.
    fn remove(&mut self, name: &str) -> bool {
        let Some((section, entry)) = name.split_once('.') else { return false };
        if section == "consistency" {
            let rules = &mut self.consistency;
            return match entry {
                "dewPoint" => rules.dew_point.take().is_some(),
                "wetBulb" => rules.wet_bulb.take().is_some(),
                "pressureOrder" => rules.pressure_order.take().is_some(),
                "pressureReduction" => rules.pressure_reduction.take().is_some(),
                "windGust" => rules.wind_gust.take().is_some(),
                "calmWind" => rules.calm_wind.take().is_some(),
                "rainfall" => rules.rainfall.take().is_some(),
                "waveHeight" => rules.wave_height.take().is_some(),
                "average" => rules.average.take().is_some(),
                _ => false,
            };
        }
        let Ok(variable) = entry.parse::<Variable>() else { return false };
        match section {
            "physical" => self.physical.remove(&variable).is_some(),
            "range" => self.range.remove(&variable).is_some(),
            "accumulation" => self.accumulation.remove(&variable).is_some(),
            "record" => self.record.remove(&variable).is_some(),
            "spike" => self.spike.remove(&variable).is_some(),
            "step" => self.step.remove(&variable).is_some(),
            "jump" => self.jump.remove(&variable).is_some(),
            "persistence" => self.persistence.remove(&variable).is_some(),
            "neighbours" => self.neighbours.remove(&variable).is_some(),
            "neighbourChange" => self.neighbour_change.remove(&variable).is_some(),
            _ => false,
        }
    }
}

fn put<T>(known: &mut ByVariable<T>, over: BTreeMap<VariableKey, T>) {
    known.extend(over.into_iter().map(|(VariableKey(variable), limits)| (variable, limits)));
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
