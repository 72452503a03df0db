//! Converts incoming values to the unit in which they are stored.

use std::borrow::Cow;

use crate::observation::Variable;
use crate::unit::{Conversion, Resolution, Unit, Vocabulary};

/// How values of a variable that arrive in one unit are stored: in the canonical unit of the
/// variable if that is certain, and otherwise as reported, with their unit.
///
/// Values are kept as reported if their unit is ambiguous, unknown, or measures another quantity
/// than the variable. No unit is ever guessed; the `reportedUnit` of a series names its unit.
///
/// Build it once per series or column and apply it to each value.
///
/// ```
/// use mesonet::observation::Canonical;
/// use mesonet::Variable;
/// use mesonet::unit::Vocabulary;
/// let wind = Canonical::of(Variable::WindSpeed, "kt", Some(Vocabulary::Wmo));
/// assert_eq!((wind.apply(7.0), wind.unit()), (12.964, "km/h"));
/// let unclear = Canonical::of(Variable::AirTemperature, "F", None);
/// assert_eq!((unclear.apply(50.0), unclear.unit(), unclear.is_converted()), (50.0, "F", false));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Canonical<'a> {
    conversion: Option<Conversion>,
    unit: Cow<'a, str>,
}

impl<'a> Canonical<'a> {
    /// The conversion for values of a variable, from the unit in which they are reported, as one
    /// vocabulary (or, with `None`, any) spells it.
    ///
    /// Liquid precipitation may come as a mass per area: 1 kg/m² is 1 mm
    /// ([`Conversion::of_liquid_water`]). Snow may not. An index (`uvIndex`) is a number without a
    /// unit: neither percent nor oktas are accepted for it.
    pub fn of(variable: Variable, reported_unit: &'a str, vocabulary: Option<Vocabulary>) -> Self {
        let conversion = match Unit::resolve(reported_unit, vocabulary) {
            Resolution::Exact(unit) => conversion(variable, unit),
            Resolution::Ambiguous(_) | Resolution::Unknown => None,
        };
        let unit = conversion.map_or(reported_unit, |_| variable.unit().symbol());
        Self { conversion, unit: Cow::Borrowed(unit) }
    }

    /// Returns a reported value as it is stored. NaN stays NaN.
    #[inline]
    pub fn apply(&self, value: f64) -> f64 {
        self.conversion.map_or(value, |conversion| conversion.apply(value))
    }

    /// The conversion, or `None` if values are kept as reported.
    ///
    /// ```
    /// use mesonet::observation::Canonical;
    /// use mesonet::{Unit, Variable, unit::Conversion};
    /// let wind = Canonical::of(Variable::WindSpeed, "m/s", None);
    /// let to_kmh = Conversion::between(Unit::MetrePerSecond, Unit::KilometrePerHour)?;
    /// assert_eq!(wind.conversion(), Some(to_kmh));
    /// assert_eq!(Canonical::of(Variable::WindSpeed, "Beaufort", None).conversion(), None);
    /// # Ok::<(), mesonet::unit::UnitError>(())
    /// ```
    pub fn conversion(&self) -> Option<Conversion> {
        self.conversion
    }

    /// The unit of the stored values, which the series gives as its `reportedUnit`.
    pub fn unit(&self) -> &str {
        &self.unit
    }

    /// Whether values are stored in the variable's canonical unit.
    pub fn is_converted(&self) -> bool {
        self.conversion.is_some()
    }
}

/// Returns a reported value in the canonical unit of its variable, with that unit; or value and
/// unit as reported. See [`Canonical`].
///
/// ```
/// use mesonet::Variable;
/// use mesonet::unit::Vocabulary;
/// use mesonet::observation::to_canonical;
/// let (value, unit) =
///     to_canonical(Variable::Precipitation, 3.2, "kg/m²", Some(Vocabulary::Swob));
/// assert_eq!((value, &*unit), (3.2, "mm"));
/// let (value, unit) = to_canonical(Variable::Snowfall, 3.2, "kg/m²", Some(Vocabulary::Swob));
/// assert_eq!((value, &*unit), (3.2, "kg/m²"));
/// ```
pub fn to_canonical(
    variable: Variable,
    value: f64,
    reported_unit: &str,
    vocabulary: Option<Vocabulary>,
) -> (f64, Cow<'_, str>) {
    let canonical = Canonical::of(variable, reported_unit, vocabulary);
    (canonical.apply(value), canonical.unit)
}

fn conversion(variable: Variable, from: Unit) -> Option<Conversion> {
    let to = variable.unit();
    match variable {
        Variable::Precipitation | Variable::Rainfall | Variable::PrecipitationRate => {
            Conversion::of_liquid_water(from, to).ok()
        }
        _ if to == Unit::One && from != Unit::One => None,
        _ => Conversion::between(from, to).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_canonical_unit_of_every_variable_is_kept_to_the_bit() {
        for &variable in Variable::ALL {
            let unit = variable.unit().symbol();
            for value in [0.1, -0.0, 1e300] {
                let (stored, stored_unit) = to_canonical(variable, value, unit, None);
                assert_eq!(stored.to_bits(), value.to_bits(), "{variable}");
                assert_eq!(stored_unit, unit, "{variable}");
            }
        }
    }

    #[test]
    fn units_of_real_reports() {
        use Variable::*;
        use Vocabulary::{Plain, Swob, Wmo};
        let stored = |variable, value, unit, vocabulary| {
            let (value, unit) = to_canonical(variable, value, unit, Some(vocabulary));
            (value, unit.into_owned())
        };
        let is = |value, unit: &str| (value, unit.to_owned());
        // api.weather.gov, NDBC, Canadian hourly XML, IEM.
        assert_eq!(stored(BarometricPressure, 101_220.0, "wmoUnit:Pa", Wmo), is(1012.2, "hPa"));
        assert_eq!(stored(Visibility, 16_090.0, "wmoUnit:m", Wmo), is(16.09, "km"));
        assert_eq!(stored(WindDirection, 270.0, "wmoUnit:degree_(angle)", Wmo), is(270.0, "°"));
        assert_eq!(stored(WindSpeed, 7.0, "m/s", Plain), is(25.2, "km/h"));
        assert_eq!(stored(Visibility, 1.0, "nmi", Plain), is(1.852, "km"));
        assert_eq!(stored(Mslp, 101.3, "kPa", Swob), is(1013.0, "hPa"));
        assert_eq!(stored(AirTemperature, -12.3, "Celsius", Swob), is(-12.3, "°C"));
        assert_eq!(stored(SnowDepth, 10.0, "inches", Plain), is(25.4, "cm"));
    }

    #[test]
    fn uncertain_values_are_kept_as_reported() {
        use Variable::*;
        for (variable, unit) in [
            (AirTemperature, "C"),         // ambiguous
            (AirTemperature, "furlong"),   // unknown
            (AirTemperature, "hPa"),       // another dimension
            (AirTemperature, "ΔK"),        // a difference
            (Snowfall, "kg/m²"),           // its depth is not that of its water
            (Precipitation, "kg m-2 s-1"), // a rate
            (UvIndex, "%"),                // an index is not a ratio
            (FireWeatherIndex, "code"),    // no unit at all
            (Visibility, " "),             // none given
        ] {
            assert_eq!(to_canonical(variable, 5.5, unit, None), (5.5, Cow::Borrowed(unit)));
        }
        assert!(to_canonical(AirTemperature, f64::NAN, "K", None).0.is_nan());
    }
}
