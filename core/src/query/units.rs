//! The units of an answer: those of a system, or of the caller's choice.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use crate::observation::{SeriesKey, Variable};
use crate::unit::{Conversion, Resolution, Unit, UnitError};

/// A system of units for the values of an answer.
///
/// ```
/// use mesonet::query::UnitSystem;
/// use mesonet::{Unit, Variable};
/// let us: UnitSystem = "us".parse()?;
/// assert_eq!(us.unit(Variable::WindSpeed), Unit::MilePerHour);
/// assert_eq!(UnitSystem::Si.unit(Variable::Mslp), Unit::Pascal);
/// assert_eq!(
///     "imperial".parse::<UnitSystem>().unwrap_err().to_string(),
///     "unknown units \"imperial\"; allowed are metric, us, si",
/// );
/// # Ok::<(), mesonet::query::AnswerUnitError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnitSystem {
    /// The units of the record: °C, km/h, hPa, mm, cm of snow, km, m.
    #[default]
    Metric,
    /// Those of the public products of the National Weather Service: °F, mph, inHg, in, mi, ft (NWS
    /// Instruction 10-503; inHg as in its tables of observations).
    Us,
    /// Those of the SI without prefixes: K, m/s, Pa, m, J/m².
    Si,
}

impl UnitSystem {
    /// Every system.
    pub const ALL: [Self; 3] = [Self::Metric, Self::Us, Self::Si];

    /// Its name in requests.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Metric => "metric",
            Self::Us => "us",
            Self::Si => "si",
        }
    }

    /// The unit of a variable. What has no unit of its own in a system keeps that of the record:
    /// percent, degrees, oktas, seconds.
    pub const fn unit(self, variable: Variable) -> Unit {
        let metric = variable.unit();
        match (self, metric) {
            (Self::Us, Unit::DegreeCelsius) => Unit::DegreeFahrenheit,
            (Self::Us, Unit::KilometrePerHour) => Unit::MilePerHour,
            (Self::Us, Unit::Hectopascal) => Unit::InchOfMercury,
            (Self::Us, Unit::Millimetre | Unit::Centimetre) => Unit::Inch,
            (Self::Us, Unit::MillimetrePerHour) => Unit::InchPerHour,
            (Self::Us, Unit::Kilometre) => Unit::Mile,
            (Self::Us, Unit::Metre) => Unit::Foot,
            (Self::Si, Unit::DegreeCelsius) => Unit::Kelvin,
            (Self::Si, Unit::KilometrePerHour | Unit::MillimetrePerHour) => Unit::MetrePerSecond,
            (Self::Si, Unit::Hectopascal) => Unit::Pascal,
            (Self::Si, Unit::Millimetre | Unit::Centimetre | Unit::Kilometre) => Unit::Metre,
            (Self::Si, Unit::KilojoulePerSquareMetre) => Unit::JoulePerSquareMetre,
            _ => metric,
        }
    }
}

impl fmt::Display for UnitSystem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for UnitSystem {
    type Err = AnswerUnitError;
    fn from_str(got: &str) -> Result<Self, AnswerUnitError> {
        let known = Self::ALL.into_iter().find(|known| known.name() == got);
        known.ok_or_else(|| AnswerUnitError::System(got.to_owned()))
    }
}

/// The unit of each variable in an answer.
///
/// A value is converted in `f64` from the value on record and rounded once, to decimals that suit the
/// unit ([`ShownUnit::value`]). Values that the record keeps in another unit than that of their
/// variable, because it was not certain, are left as they are, in that unit.
///
/// ```
/// use mesonet::query::{AnswerUnits, UnitSystem};
/// use mesonet::{IntervalType, SeriesKey, Unit, Variable};
/// let units = AnswerUnits::of(UnitSystem::Us).with(Variable::WindSpeed, "kt")?;
/// assert_eq!(units.unit(Variable::WindSpeed), Unit::Knot);
/// let wind = units.of_series(&SeriesKey::new(Variable::WindSpeed, IntervalType::Average, 2));
/// assert_eq!((wind.value(22.224), wind.symbol()), (12.0, "kt"));
/// let refused = units.with(Variable::AirTemperature, "kt").unwrap_err();
/// assert_eq!(
///     refused.to_string(),
///     "invalid unit kt (knot) of airTemperature; allowed are °C, K, °F",
/// );
/// # Ok::<(), mesonet::query::AnswerUnitError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerUnits([Unit; Variable::ALL.len()]);

impl AnswerUnits {
    /// The units of a system.
    pub fn of(system: UnitSystem) -> Self {
        let mut units = [Unit::One; Variable::ALL.len()];
        for &variable in Variable::ALL {
            units[variable as usize] = system.unit(variable);
        }
        Self(units)
    }

    /// Sets the unit of a variable, by any of its names. A name that stands for several units is the
    /// one that measures what the variable is: `F` is °F for a temperature.
    ///
    /// # Errors
    /// The unit is unknown, or the variable cannot be converted to it.
    pub fn with(mut self, variable: Variable, unit: &str) -> Result<Self, AnswerUnitError> {
        let refused = |unit| AnswerUnitError::Unit { variable, unit };
        let unit = match Unit::resolve(unit, None) {
            Resolution::Exact(unit) => unit,
            Resolution::Ambiguous(units) => {
                let mut fit = units.iter().filter(|&&of| conversion(variable, of).is_ok());
                match (fit.next(), fit.next()) {
                    (Some(&only), None) => only,
                    _ => return Err(AnswerUnitError::Text { variable, got: unit.to_owned() }),
                }
            }
            Resolution::Unknown => {
                let got = unit.chars().take(40).collect();
                return Err(AnswerUnitError::Text { variable, got });
            }
        };
        conversion(variable, unit).map_err(|_| refused(unit))?;
        self.0[variable as usize] = unit;
        Ok(self)
    }

    /// The unit of a variable.
    pub fn unit(&self, variable: Variable) -> Unit {
        self.0[variable as usize]
    }

    /// The unit of a variable's values that are on record in its canonical unit.
    pub fn of_variable(&self, variable: Variable) -> ShownUnit {
        let (from, to) = (variable.unit(), self.unit(variable));
        let conversion = conversion(variable, to).ok().filter(|_| from != to);
        ShownUnit { symbol: to.symbol().into(), conversion, rounding: Rounding::between(from, to) }
    }

    /// Returns a sum of differences of air temperature in °C, such as degree days, in the unit of air
    /// temperature: the zero of the scale does not count.
    ///
    /// ```
    /// use mesonet::query::{AnswerUnits, UnitSystem};
    /// assert_eq!(AnswerUnits::of(UnitSystem::Us).degree_days(10.0), 18.0);
    /// assert_eq!(AnswerUnits::of(UnitSystem::Si).degree_days(10.0), 10.0);
    /// ```
    pub fn degree_days(&self, sum: f64) -> f64 {
        let to = match self.unit(Variable::AirTemperature) {
            Unit::DegreeFahrenheit => Unit::FahrenheitDifference,
            _ => Unit::CelsiusDifference,
        };
        let conversion = Conversion::between(Unit::CelsiusDifference, to);
        conversion.map_or(sum, |conversion| conversion.apply(sum))
    }

    /// The unit of the values of a series.
    pub fn of_series(&self, key: &SeriesKey) -> ShownUnit {
        if key.reported_unit == key.variable.unit().symbol() {
            self.of_variable(key.variable)
        } else {
            ShownUnit::as_reported(key)
        }
    }
}

/// The unit in which values are shown, and how they get there.
#[derive(Clone, Debug, PartialEq)]
pub struct ShownUnit {
    symbol: Cow<'static, str>,
    /// `None` if the values stay as they are on record.
    conversion: Option<Conversion>,
    rounding: Rounding,
}

impl ShownUnit {
    /// The values of a series stay as they are on record.
    pub fn as_reported(key: &SeriesKey) -> Self {
        Self {
            symbol: key.reported_unit.clone(),
            conversion: None,
            rounding: Rounding::Significant(SIGNIFICANT),
        }
    }

    /// The symbol; empty for a number without a unit.
    pub fn symbol(&self) -> &str {
        &self.symbol
    }

    /// Returns a value on record as it is shown.
    ///
    /// If it is converted, it has these decimals: °F, mph, kt, m/s, ft/s, ft, and in of snow depth
    /// one; K, in, in/h, mi, nmi and kPa two; inHg three; Pa none. Any other conversion keeps six
    /// significant digits.
    pub fn value(&self, value: f64) -> f64 {
        self.conversion.map_or(value, |conversion| self.rounding.round(conversion.apply(value), 0))
    }

    /// The same for a mean or a total: with two more decimals, if it is converted.
    pub fn computed(&self, value: f64) -> f64 {
        self.conversion.map_or(value, |conversion| self.rounding.round(conversion.apply(value), 2))
    }

    /// Whether values stay as they are on record.
    pub fn is_as_recorded(&self) -> bool {
        self.conversion.is_none()
    }
}

/// How many digits a converted value keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rounding {
    Decimals(i32),
    Significant(i32),
}

/// Significant digits of conversions without decimals of their own.
const SIGNIFICANT: i32 = 6;

impl Rounding {
    /// At least as fine as reports are: 0.1 °C, 0.5 m/s, 0.1 hPa, 0.1 mm (WMO-No. 8, volume I, annex
    /// 1.A), and a quarter of a mile. So whole knots and hundredths of an inch come back whole.
    const fn between(from: Unit, to: Unit) -> Self {
        use Unit::{
            Centimetre, DegreeCelsius, DegreeFahrenheit, Foot, FootPerSecond, Hectopascal, Inch,
            InchOfMercury, InchPerHour, Kelvin, Kilometre, KilometrePerHour, Kilopascal, Knot,
            Metre, MetrePerSecond, Mile, MilePerHour, Millimetre, MillimetrePerHour, NauticalMile,
            Pascal,
        };
        match (from, to) {
            (Hectopascal, Pascal) => Self::Decimals(0),
            (DegreeCelsius, DegreeFahrenheit)
            | (KilometrePerHour, MilePerHour | Knot | MetrePerSecond | FootPerSecond)
            | (Metre, Foot)
            | (Centimetre, Inch) => Self::Decimals(1),
            (DegreeCelsius, Kelvin)
            | (Millimetre, Inch)
            | (MillimetrePerHour, InchPerHour)
            | (Kilometre, Mile | NauticalMile)
            | (Hectopascal, Kilopascal) => Self::Decimals(2),
            (Hectopascal, InchOfMercury) => Self::Decimals(3),
            _ => Self::Significant(SIGNIFICANT),
        }
    }

    fn round(self, value: f64, more: i32) -> f64 {
        let decimals = match self {
            Self::Decimals(decimals) => decimals + more,
            Self::Significant(_) if value == 0.0 || !value.is_finite() => return value,
            Self::Significant(digits) => digits - 1 - libm::floor(libm::log10(value.abs())) as i32,
        };
        // Powers of ten are exact up to 10²²; no weather has numbers that need others.
        let rounded = match decimals {
            0..=22 => libm::round(value * power_of_ten(decimals)) / power_of_ten(decimals),
            -22..0 => libm::round(value / power_of_ten(-decimals)) * power_of_ten(-decimals),
            _ => value,
        };
        if rounded.is_finite() { rounded } else { value }
    }
}

fn power_of_ten(exponent: i32) -> f64 {
    (0..exponent).fold(1.0, |power, _| power * 10.0)
}

/// The conversion from the canonical unit of a variable. Liquid precipitation has a depth and a mass.
fn conversion(variable: Variable, to: Unit) -> Result<Conversion, UnitError> {
    let from = variable.unit();
    let is_liquid = matches!(
        variable,
        Variable::Precipitation
            | Variable::Rainfall
            | Variable::PrecipitationRate
            | Variable::PrecipitationSinceReset
            | Variable::PrecipitationGaugeWeight
            | Variable::SnowWaterEquivalent
    );
    // An index is a number without a unit: 5 is not 500 %.
    if from == Unit::One && to != Unit::One {
        return Err(UnitError::Dimension { from, to });
    }
    Conversion::new(from, to, is_liquid)
}

/// Units that an answer cannot have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnswerUnitError {
    /// No such system.
    #[error(
        "unknown units \"{0}\"; allowed are {systems}",
        systems = UnitSystem::ALL.map(UnitSystem::name).join(", ")
    )]
    System(String),
    /// A text that is not a unit, or may stand for several.
    #[error("invalid unit \"{got}\" of {variable}; allowed are {}", allowed(*variable))]
    Text {
        /// The variable.
        variable: Variable,
        /// The text that was given, or its beginning.
        got: String,
    },
    /// A unit that measures something else.
    #[error("invalid unit {unit} ({}) of {variable}; allowed are {}", unit.name(), allowed(*variable))]
    Unit {
        /// The variable.
        variable: Variable,
        /// The unit that was given.
        unit: Unit,
    },
}

/// The units of a variable, in words.
fn allowed(variable: Variable) -> String {
    let units = Unit::ALL.iter().filter(|&&unit| conversion(variable, unit).is_ok());
    let symbols: Vec<&str> =
        units.map(|unit| if *unit == Unit::One { "1" } else { unit.symbol() }).collect();
    symbols.join(", ")
}

#[cfg(test)]
#[path = "units_tests.rs"]
mod tests;
