//! The single table of variables: name, canonical unit, display name, default set.

use std::fmt;
use std::str::FromStr;

use crate::unit::Unit;

macro_rules! variables {
    ($($variant:ident, $name:literal, $unit:ident, $pretty:literal, $map:literal;)*) => {
        /// A standardized variable of surface weather observations.
        ///
        /// ```
        /// use mesonet::{Unit, Variable};
        /// let wind: Variable = "windSpeed10m".parse()?;
        /// assert_eq!(wind, Variable::WindSpeed10m);
        /// assert_eq!(wind.unit(), Unit::KilometrePerHour);
        /// assert_eq!(wind.pretty_name(), "Wind speed at 10 m");
        /// # Ok::<(), mesonet::observation::VariableError>(())
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        #[allow(missing_docs, reason = "each variant is described by its row of the table")]
        pub enum Variable { $($variant,)* }

        impl Variable {
            /// Every variable, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            const ROWS: &[VariableRow] = &[$(VariableRow {
                name: $name, unit: Unit::$unit, pretty_name: $pretty, map: $map,
            },)*];
        }
    };
}

struct VariableRow {
    name: &'static str,
    unit: Unit,
    pretty_name: &'static str,
    map: bool,
}

// Variant, name on the wire, canonical unit, display name, whether it is a map variable.
variables! {
    AirTemperature, "airTemperature", DegreeCelsius, "Air temperature", true;
    DewPointTemperature, "dewPointTemperature", DegreeCelsius, "Dew point temperature", true;
    WindSpeed10m, "windSpeed10m", KilometrePerHour, "Wind speed at 10 m", true;
    WindGust10m, "windGust10m", KilometrePerHour, "Wind gust at 10 m", true;
    WindDirection, "windDirection", Degree, "Wind direction", true;
    Mslp, "mslp", Hectopascal, "Mean sea level pressure", true;
    SeaSurfaceTemperature, "seaSurfaceTemperature", DegreeCelsius, "Sea surface temperature", true;
    SeaSurfaceTemperature1m, "seaSurfaceTemperature1m", DegreeCelsius, "Sea temperature at 1 m depth", true;
    WetBulbTemperature, "wetBulbTemperature", DegreeCelsius, "Wet-bulb temperature", false;
    HeatIndex, "heatIndex", DegreeCelsius, "Heat index", false;
    WindChill, "windChill", DegreeCelsius, "Wind chill", false;
    SubsurfaceTemperature, "subsurfaceTemperature", DegreeCelsius, "Subsurface temperature", false;
    WindSpeed, "windSpeed", KilometrePerHour, "Wind speed", false;
    WindGust, "windGust", KilometrePerHour, "Wind gust", false;
    WaveDirection, "waveDirection", Degree, "Wave direction", false;
    BarometricPressure, "barometricPressure", Hectopascal, "Station pressure", false;
    RelativeHumidity, "relativeHumidity", Percent, "Relative humidity", false;
    Precipitation, "precipitation", Millimetre, "Precipitation", false;
    Rainfall, "rainfall", Millimetre, "Rainfall", false;
    Snowfall, "snowfall", Millimetre, "Snowfall", false;
    PrecipitationRate, "precipitationRate", MillimetrePerHour, "Precipitation rate", false;
    SnowDepth, "snowDepth", Centimetre, "Snow depth", false;
    Visibility, "visibility", Kilometre, "Visibility", false;
    WaveHeight, "waveHeight", Metre, "Wave height", false;
    WaveHeightMax, "waveHeightMax", Metre, "Maximum wave height", false;
    CeilingHeight, "ceilingHeight", Metre, "Ceiling height", false;
    StationHeight, "stationHeight", Metre, "Station height", false;
    SolarRadiation, "solarRadiation", WattPerSquareMetre, "Solar radiation", false;
    AvgGlobalSolarRadiation, "avgGlobalSolarRadiation", WattPerSquareMetre, "Mean global solar radiation", false;
    ReflectedShortwaveRadiation, "reflectedShortwaveRadiation", WattPerSquareMetre, "Reflected shortwave radiation", false;
    CumulativeGlobalSolarRadiation, "cumulativeGlobalSolarRadiation", KilojoulePerSquareMetre, "Cumulative global solar radiation", false;
    UvIndex, "uvIndex", One, "UV index", false;
    FireWeatherIndex, "fireWeatherIndex", One, "Fire weather index", false;
    // Additions to the interface's table.
    Humidex, "humidex", One, "Humidex", false;
    MaxWindDirection, "maxWindDirection", Degree, "Direction of the maximum wind", false;
    WavePeriodAverage, "wavePeriodAverage", Second, "Average wave period", false;
    WavePeriodPeak, "wavePeriodPeak", Second, "Peak wave period", false;
    Tide, "tide", Metre, "Tide", false;
    SnowWaterEquivalent, "snowWaterEquivalent", Millimetre, "Water equivalent of the snow on the ground", false;
    PrecipitationGaugeWeight, "precipitationGaugeWeight", KilogramPerSquareMetre, "Content of the precipitation gauge", false;
    PrecipitationSinceReset, "precipitationSinceReset", Millimetre, "Precipitation since the gauge was reset", false;
    PhotosyntheticRadiation, "photosyntheticRadiation", MicromolePerSquareMetreSecond, "Photosynthetically active radiation", false;
    AltimeterSetting, "altimeterSetting", Hectopascal, "Altimeter setting", false;
    PressureTendency, "pressureTendency", Hectopascal, "Pressure tendency", false;
    PressureTendencyCharacter, "pressureTendencyCharacter", One, "Character of the pressure tendency", false;
    CloudCover, "cloudCover", Okta, "Cloud cover", false;
    CloudBaseHeight, "cloudBaseHeight", Metre, "Cloud base height", false;
    PeakWindSpeed, "peakWindSpeed", KilometrePerHour, "Peak wind speed", false;
    PeakWindDirection, "peakWindDirection", Degree, "Peak wind direction", false;
    IceAccretion, "iceAccretion", Millimetre, "Ice accretion", false;
}

/// The error for an unknown variable name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{got}\" is not a variable name; allowed are {}", all_names())]
pub struct VariableError {
    /// The name that was given.
    pub got: String,
}

fn all_names() -> String {
    Variable::ALL.iter().map(|variable| variable.name()).collect::<Vec<_>>().join(", ")
}

impl Variable {
    /// Returns the variables that a map shows, in the interface's order. They are the default of a
    /// readings request, and the basis of a station's `qualities`.
    ///
    /// ```
    /// use mesonet::Variable;
    /// let first = Variable::map_variables().next().map(Variable::name);
    /// assert_eq!(first, Some("airTemperature"));
    /// assert!(Variable::map_variables().count() < Variable::ALL.len());
    /// assert!(!Variable::map_variables().any(|variable| variable == Variable::WindSpeed));
    /// assert!(Variable::map_variables().any(|variable| variable == Variable::WindSpeed10m));
    /// ```
    pub fn map_variables() -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(|variable| variable.row().map)
    }

    /// Returns the name on the wire.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Returns the unit that every reading of the variable is converted to on intake.
    pub const fn unit(self) -> Unit {
        self.row().unit
    }

    /// Returns the English display name.
    pub fn pretty_name(self) -> &'static str {
        self.row().pretty_name
    }

    const fn row(self) -> &'static VariableRow {
        &Self::ROWS[self as usize]
    }
}

impl fmt::Display for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Parsing is exact and case-sensitive.
impl FromStr for Variable {
    type Err = VariableError;
    fn from_str(got: &str) -> Result<Self, VariableError> {
        Self::ALL
            .iter()
            .copied()
            .find(|variable| variable.name() == got)
            .ok_or_else(|| VariableError { got: got.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_map_variables_are_the_default_names_in_the_order_of_the_interface() {
        let names: Vec<_> = Variable::map_variables().map(Variable::name).collect();
        assert_eq!(
            names,
            [
                "airTemperature",
                "dewPointTemperature",
                "windSpeed10m",
                "windGust10m",
                "windDirection",
                "mslp",
                "seaSurfaceTemperature",
                "seaSurfaceTemperature1m"
            ]
        );
    }

    #[test]
    fn names_are_distinct_and_parse_back() {
        assert_eq!(Variable::ALL.len(), 50);
        for &variable in Variable::ALL {
            assert_eq!(variable.name().parse(), Ok(variable));
        }
        let message = "AirTemperature".parse::<Variable>().unwrap_err().to_string();
        assert!(message.starts_with(
            "\"AirTemperature\" is not a variable name; allowed are airTemperature, "
        ));
    }
}
