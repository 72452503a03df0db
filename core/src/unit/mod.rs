//! Units: what they measure, their exact sizes, how they are written, and conversions.
//!
//! The size of each unit is its definition, stored as a ratio of integers. So a conversion is
//! rounded once, and a whole number becomes the double nearest to the true value (7 kt is 12.964
//! km/h and prints as that).

mod alias;
mod convert;
mod table;

use std::fmt;
use std::str::FromStr;

pub use alias::{MAX_UNIT_BYTES, Resolution, Vocabulary};
pub use convert::{
    Conversion, Sample, feet_to_m, inches_of_mercury_to_hpa, inches_to_mm, knots_to_kmh,
    metres_per_second_to_kmh, statute_miles_to_km,
};

/// What a unit measures. Only units of the same dimension convert into each other.
///
/// Temperatures and temperature differences are two dimensions: 10 K of warming are 18 °F, not
/// −441.67 °F. So are a depth and a mass of water per area, which need a density; see
/// [`Conversion::of_liquid_water`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the dimensions")]
pub enum Dimension {
    Temperature,
    TemperatureDifference,
    /// Length per time: wind, and precipitation as depth per time.
    Speed,
    Angle,
    Pressure,
    Length,
    MassPerArea,
    MassPerAreaAndTime,
    Irradiance,
    RadiantExposure,
    /// Numbers without a unit, percent, oktas.
    Ratio,
    ElectricCharge,
    Capacitance,
    Time,
    /// Photons in moles per area and time.
    PhotonFlux,
}

impl Dimension {
    /// Returns the English name, such as `temperature difference`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Temperature => "temperature",
            Self::TemperatureDifference => "temperature difference",
            Self::Speed => "speed",
            Self::Angle => "angle",
            Self::Pressure => "pressure",
            Self::Length => "length",
            Self::MassPerArea => "mass per area",
            Self::MassPerAreaAndTime => "mass per area and time",
            Self::Irradiance => "irradiance",
            Self::RadiantExposure => "radiant exposure",
            Self::Ratio => "ratio",
            Self::ElectricCharge => "electric charge",
            Self::Capacitance => "capacitance",
            Self::Time => "time",
            Self::PhotonFlux => "photon flux",
        }
    }

    /// Returns the symbol of the base unit, in which the sizes of the dimension's units are given.
    pub const fn base(self) -> &'static str {
        match self {
            Self::Temperature => "°C",
            Self::TemperatureDifference => "ΔK",
            Self::Speed => "m/s",
            Self::Angle => "°",
            Self::Pressure => "Pa",
            Self::Length => "m",
            Self::MassPerArea => "kg/m²",
            Self::MassPerAreaAndTime => "kg/(m²·s)",
            Self::Irradiance => "W/m²",
            Self::RadiantExposure => "J/m²",
            Self::Ratio => "1",
            Self::ElectricCharge => "C",
            Self::Capacitance => "F",
            Self::Time => "s",
            Self::PhotonFlux => "mol/(m²·s)",
        }
    }
}

impl fmt::Display for Dimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

macro_rules! units {
    ($($unit:ident, $symbol:literal, $name:literal, $dimension:ident, $num:literal / $den:literal,
       $zero:literal, $definition:literal;)*) => {
        /// A unit in which the service stores values or feeds report them.
        ///
        /// ```
        /// use mesonet::unit::Dimension;
        /// use mesonet::Unit;
        /// assert_eq!(Unit::Knot.symbol(), "kt");
        /// assert_eq!(Unit::Knot.name(), "knot");
        /// assert_eq!(Unit::Knot.dimension(), Dimension::Speed);
        /// assert_eq!(Unit::Knot.size(), (1852, 3600)); // of the base unit, m/s
        /// assert_eq!(Unit::Kelvin.zero(), 273.15); // at 0 of the base unit, °C
        /// let speeds = Unit::ALL.iter().filter(|unit| unit.dimension() == Dimension::Speed);
        /// assert!(speeds.into_iter().any(|unit| *unit == Unit::MilePerHour));
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        #[allow(missing_docs, reason = "the names are the units")]
        pub enum Unit { $($unit,)* }

        impl Unit {
            /// Every unit, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$unit,)*];

            const ROWS: &[UnitRow] = &[$(UnitRow {
                symbol: $symbol,
                name: $name,
                dimension: Dimension::$dimension,
                num: $num,
                den: $den,
                zero: $zero,
                definition: $definition,
            },)*];
        }
    };
}

struct UnitRow {
    symbol: &'static str,
    name: &'static str,
    dimension: Dimension,
    /// Size of the unit in the base unit of its dimension, `num / den`; for radians, times 1/π.
    num: u64,
    den: u64,
    /// The reading of the unit's scale at 0 of the base unit: 273.15 for kelvins, 32 for °F.
    zero: f64,
    definition: &'static str,
}

// Unit, symbol, name, dimension, size in the dimension's base unit, reading at its zero, source.
// SI: BIPM, The International System of Units, 9th edition (2019); SI 8: 8th edition (2006).
// 1959: international yard and pound (24 FR 5348). SP 811: NIST Special Publication 811 (2008).
// C-6: WMO-No. 306, common code table C-6.
units! {
    DegreeCelsius, "°C", "degree Celsius", Temperature, 1/1, 0.0, "SI, table 4";
    Kelvin, "K", "kelvin", Temperature, 1/1, 273.15, "SI, 2.3.1: t/°C = T/K − 273.15";
    DegreeFahrenheit, "°F", "degree Fahrenheit", Temperature, 5/9, 32.0, "SP 811, B.9: t/°C = (t/°F − 32)/1.8";
    KelvinDifference, "ΔK", "kelvin of difference", TemperatureDifference, 1/1, 0.0, "SI, 2.3.1";
    CelsiusDifference, "Δ°C", "degree Celsius of difference", TemperatureDifference, 1/1, 0.0, "SI, 2.3.1: as large as the kelvin";
    FahrenheitDifference, "Δ°F", "degree Fahrenheit of difference", TemperatureDifference, 5/9, 0.0, "SP 811, B.8";
    KilometrePerHour, "km/h", "kilometre per hour", Speed, 1000/3600, 0.0, "SI, table 8: 1 h = 3600 s";
    MetrePerSecond, "m/s", "metre per second", Speed, 1/1, 0.0, "SI, table 5";
    Knot, "kt", "knot", Speed, 1852/3600, 0.0, "SI 8, table 8: 1 nautical mile per hour";
    MilePerHour, "mph", "statute mile per hour", Speed, 1609344/3600000, 0.0, "1959";
    FootPerSecond, "ft/s", "foot per second", Speed, 3048/10000, 0.0, "1959";
    CentimetrePerSecond, "cm/s", "centimetre per second", Speed, 1/100, 0.0, "SI";
    MillimetrePerSecond, "mm/s", "millimetre per second", Speed, 1/1000, 0.0, "SI";
    MillimetrePerHour, "mm/h", "millimetre per hour", Speed, 1/3600000, 0.0, "SI, table 8: 1 h = 3600 s";
    CentimetrePerHour, "cm/h", "centimetre per hour", Speed, 1/360000, 0.0, "SI, table 8: 1 h = 3600 s";
    InchPerHour, "in/h", "inch per hour", Speed, 254/36000000, 0.0, "1959";
    Degree, "°", "degree", Angle, 1/1, 0.0, "SI, table 8";
    Radian, "rad", "radian", Angle, 180/1, 0.0, "SI, table 4: 180/π degrees";
    Gon, "gon", "gon", Angle, 9/10, 0.0, "SI 8, table 8: π/200 rad";
    ArcMinute, "′", "minute of arc", Angle, 1/60, 0.0, "SI, table 8";
    ArcSecond, "″", "second of arc", Angle, 1/3600, 0.0, "SI, table 8";
    Pascal, "Pa", "pascal", Pressure, 1/1, 0.0, "SI, table 4";
    Hectopascal, "hPa", "hectopascal", Pressure, 100/1, 0.0, "SI";
    Kilopascal, "kPa", "kilopascal", Pressure, 1000/1, 0.0, "SI";
    Millibar, "mbar", "millibar", Pressure, 100/1, 0.0, "SI 8, table 8: 1 bar = 100 000 Pa";
    InchOfMercury, "inHg", "inch of mercury", Pressure, 3386388640341/1000000000, 0.0, "conventional: 25.4 mm × 13 595.1 kg/m³ × 9.806 65 m/s² (SP 811, B.8, rounded)";
    MillimetreOfMercury, "mmHg", "millimetre of mercury", Pressure, 133322387415/1000000000, 0.0, "conventional: 1 mm × 13 595.1 kg/m³ × 9.806 65 m/s² (WMDR 1-02: 133.322387415 Pa)";
    Metre, "m", "metre", Length, 1/1, 0.0, "SI, 2.3.1";
    Kilometre, "km", "kilometre", Length, 1000/1, 0.0, "SI";
    Centimetre, "cm", "centimetre", Length, 1/100, 0.0, "SI";
    Millimetre, "mm", "millimetre", Length, 1/1000, 0.0, "SI";
    Nanometre, "nm", "nanometre", Length, 1/1000000000, 0.0, "SI";
    Inch, "in", "inch", Length, 254/10000, 0.0, "1959";
    HundredthInch, "0.01 in", "hundredth of an inch", Length, 254/1000000, 0.0, "1959";
    Foot, "ft", "foot", Length, 3048/10000, 0.0, "1959: the international foot, not the US survey foot";
    Mile, "mi", "statute mile", Length, 1609344/1000, 0.0, "1959: 5280 ft";
    NauticalMile, "nmi", "nautical mile", Length, 1852/1, 0.0, "SI 8, table 8";
    KilogramPerSquareMetre, "kg/m²", "kilogram per square metre", MassPerArea, 1/1, 0.0, "SI, table 5";
    KilogramPerSquareMetreSecond, "kg/(m²·s)", "kilogram per square metre and second", MassPerAreaAndTime, 1/1, 0.0, "C-6, 776";
    KilogramPerSquareMetreHour, "kg/(m²·h)", "kilogram per square metre and hour", MassPerAreaAndTime, 1/3600, 0.0, "C-6, 849";
    WattPerSquareMetre, "W/m²", "watt per square metre", Irradiance, 1/1, 0.0, "SI, table 6";
    JoulePerSquareMetre, "J/m²", "joule per square metre", RadiantExposure, 1/1, 0.0, "C-6, 805";
    KilojoulePerSquareMetre, "kJ/m²", "kilojoule per square metre", RadiantExposure, 1000/1, 0.0, "SI";
    MegajoulePerSquareMetre, "MJ/m²", "megajoule per square metre", RadiantExposure, 1000000/1, 0.0, "SI";
    WattHourPerSquareMetre, "W·h/m²", "watt hour per square metre", RadiantExposure, 3600/1, 0.0, "SI, table 8: 1 h = 3600 s";
    Langley, "Ly", "langley", RadiantExposure, 41840/1, 0.0, "SP 811, B.8: 1 thermochemical calorie of 4.184 J per cm²";
    One, "", "one", Ratio, 1/1, 0.0, "SI, 2.3.3: dimensionless";
    Percent, "%", "per cent", Ratio, 1/100, 0.0, "SI, 5.4.7";
    PerMille, "‰", "per mille", Ratio, 1/1000, 0.0, "C-6, 301";
    Okta, "okta", "eighth of the sky", Ratio, 1/8, 0.0, "C-6, 310";
    Coulomb, "C", "coulomb", ElectricCharge, 1/1, 0.0, "SI, table 4";
    Farad, "F", "farad", Capacitance, 1/1, 0.0, "SI, table 4";
    Second, "s", "second", Time, 1/1, 0.0, "SI, 2.3.1";
    MicromolePerSquareMetreSecond, "µmol/(m²·s)", "micromole per square metre and second", PhotonFlux, 1/1000000, 0.0, "SI";
}

impl Unit {
    /// Returns the symbol on the wire; empty for a dimensionless quantity.
    pub const fn symbol(self) -> &'static str {
        self.row().symbol
    }

    /// Returns the English name, such as `degree Celsius`.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// Returns what the unit measures.
    pub const fn dimension(self) -> Dimension {
        self.row().dimension
    }

    /// Returns the size in the dimension's [base unit](Dimension::base) as a ratio of two integers;
    /// for [`Unit::Radian`], the size is that ratio divided by π.
    pub const fn size(self) -> (u64, u64) {
        (self.row().num, self.row().den)
    }

    /// Returns the reading of the unit's scale at 0 of the base unit: 273.15 for kelvins, 32 for
    /// degrees Fahrenheit, 0 for everything but temperatures.
    pub const fn zero(self) -> f64 {
        self.row().zero
    }

    /// Returns the source of the size.
    pub const fn definition(self) -> &'static str {
        self.row().definition
    }

    const fn row(self) -> &'static UnitRow {
        &Self::ROWS[self as usize]
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.symbol())
    }
}

/// Parses like [`Unit::resolve`] without a vocabulary.
///
/// ```
/// use mesonet::Unit;
/// assert_eq!("km/h".parse(), Ok(Unit::KilometrePerHour));
/// assert_eq!(
///     "C".parse::<Unit>().unwrap_err().to_string(),
///     "\"C\" is ambiguous; it may stand for °C (degree Celsius) or C (coulomb)",
/// );
/// ```
impl FromStr for Unit {
    type Err = UnitError;
    fn from_str(got: &str) -> Result<Self, UnitError> {
        match Self::resolve(got, None) {
            Resolution::Exact(unit) => Ok(unit),
            Resolution::Ambiguous(units) => Err(UnitError::Ambiguous { got: shown(got), units }),
            Resolution::Unknown => Err(UnitError::Unknown { got: shown(got) }),
        }
    }
}

/// Returns a text as shown in an error, truncated if it is longer than any unit.
fn shown(got: &str) -> String {
    if got.len() <= MAX_UNIT_BYTES {
        return got.to_owned();
    }
    let start = got.char_indices().take_while(|(at, _)| *at < MAX_UNIT_BYTES);
    start.map(|(_, char)| char).chain(['…']).collect()
}

/// The error for units that do not convert into each other, or invalid texts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    /// The units measure different things.
    #[error(
        "{} measures {}, {} {}; allowed are two units of one dimension",
        named(*from), from.dimension(), named(*to), to.dimension()
    )]
    Dimension {
        /// The unit to convert from.
        from: Unit,
        /// The unit to convert to.
        to: Unit,
    },
    /// The output and the input have different lengths.
    #[error("{values} values were given room for {room}; the output must have the same length")]
    Length {
        /// Values in the input.
        values: usize,
        /// Room in the output.
        room: usize,
    },
    /// A text that is not in the table.
    #[error("\"{got}\" is not a known unit; allowed are {} and their aliases", all_symbols())]
    Unknown {
        /// The text that was given, or its beginning.
        got: String,
    },
    /// A text that means different things to different writers.
    #[error("\"{got}\" is ambiguous; it may stand for {}", all_named(units))]
    Ambiguous {
        /// The text that was given.
        got: String,
        /// The units that it may stand for.
        units: &'static [Unit],
    },
    /// An unknown vocabulary name.
    #[error("\"{got}\" is not a vocabulary; allowed are {}", Vocabulary::ALL.map(Vocabulary::name).join(", "))]
    Vocabulary {
        /// The name that was given.
        got: String,
    },
}

/// Returns symbol and name: `kt (knot)`.
fn named(unit: Unit) -> String {
    let symbol = if unit == Unit::One { "1" } else { unit.symbol() };
    format!("{symbol} ({})", unit.name())
}

fn all_named(units: &[Unit]) -> String {
    units.iter().copied().map(named).collect::<Vec<_>>().join(" or ")
}

fn all_symbols() -> String {
    let symbols: Vec<_> = Unit::ALL.iter().map(|unit| unit.symbol()).collect();
    symbols.into_iter().filter(|symbol| !symbol.is_empty()).collect::<Vec<_>>().join(", ")
}
