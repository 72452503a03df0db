//! Canonical units and the exact factors by which reports are converted to them.
//!
//! Each factor is a definition, kept as an integer ratio where it is one, so that a converted
//! whole number is the double nearest to the true value (7 kt is 12.964 km/h and prints as that).

use std::fmt;

/// A canonical unit of the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the units")]
pub enum Unit {
    DegreeCelsius,
    KilometrePerHour,
    Degree,
    Hectopascal,
    Percent,
    Millimetre,
    MillimetrePerHour,
    Centimetre,
    Kilometre,
    Metre,
    WattPerSquareMetre,
    KilojoulePerSquareMetre,
    /// Dimensionless.
    One,
}

impl Unit {
    /// The symbol on the wire; empty for a dimensionless quantity.
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::DegreeCelsius => "°C",
            Self::KilometrePerHour => "km/h",
            Self::Degree => "°",
            Self::Hectopascal => "hPa",
            Self::Percent => "%",
            Self::Millimetre => "mm",
            Self::MillimetrePerHour => "mm/h",
            Self::Centimetre => "cm",
            Self::Kilometre => "km",
            Self::Metre => "m",
            Self::WattPerSquareMetre => "W/m²",
            Self::KilojoulePerSquareMetre => "kJ/m²",
            Self::One => "",
        }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.symbol())
    }
}

/// Knots to km/h: the international knot is 1852 m per hour (BIPM, SI Brochure 8th ed., table 8).
///
/// ```
/// assert_eq!(mesonet::knots_to_kmh(7.0), 12.964);
/// ```
#[inline]
pub fn knots_to_kmh(speed_kt: f64) -> f64 {
    speed_kt * 1852.0 / 1000.0
}

/// Metres per second to km/h.
#[inline]
pub fn metres_per_second_to_kmh(speed_ms: f64) -> f64 {
    speed_ms * 3600.0 / 1000.0
}

/// Statute miles to kilometres: 1 mile is 1609.344 m (international mile, 1959).
#[inline]
pub fn statute_miles_to_km(distance_mi: f64) -> f64 {
    distance_mi * 1_609_344.0 / 1_000_000.0
}

/// Feet to metres: 1 ft is 0.3048 m (international foot, 1959).
#[inline]
pub fn feet_to_m(height_ft: f64) -> f64 {
    height_ft * 3048.0 / 10_000.0
}

/// Inches to millimetres: 1 in is 25.4 mm (international inch, 1959).
#[inline]
pub fn inches_to_mm(depth_in: f64) -> f64 {
    depth_in * 254.0 / 10.0
}

/// Conventional inches of mercury to hectopascals: a column of 25.4 mm of mercury of
/// 13 595.1 kg/m³ under 9.80665 m/s² is 33.86388640341 hPa (ISO 80000-4 and BS 350).
///
/// ```
/// assert_eq!(mesonet::inches_of_mercury_to_hpa(29.92), 1013.2074811900272);
/// ```
#[inline]
pub fn inches_of_mercury_to_hpa(pressure_inhg: f64) -> f64 {
    pressure_inhg * 33.863_886_403_41
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_convert_to_the_nearest_double() {
        assert_eq!(knots_to_kmh(14.0), 25.928);
        assert_eq!(metres_per_second_to_kmh(3.0), 10.8);
        assert_eq!(statute_miles_to_km(10.0), 16.09344);
        assert_eq!(feet_to_m(1900.0), 579.12);
        assert_eq!(inches_to_mm(7.0), 177.8);
    }

    #[test]
    fn the_inch_of_mercury_is_its_definition() {
        let hpa = 13_595.1 * 9.80665 * 0.0254 / 100.0;
        assert!((inches_of_mercury_to_hpa(1.0) - hpa).abs() < 1e-12);
    }
}
