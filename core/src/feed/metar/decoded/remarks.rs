//! The remarks of a report.

use serde::Serialize;

use super::super::{AutomatedStation, Metar, Outages};
use super::phrase::{
    Ceiling, CloudAmount, CloudLayer, CloudTypes, Lightning, Obscuration, Phenomenon, Range,
    SectorVisibility, VariableSky, WeatherTime, WindShift,
};

/// What the remarks of a report say, in the units of the code: inches, feet and statute miles, the
/// millimetres of Canadian amounts, °C and hPa. An amount of 0 includes a trace.
///
/// ```
/// use mesonet::feed::metar::{Decoded, DecodedRemarks};
/// let report = Decoded::parse(
///     "KBUF 312354Z 21014KT RMK AO2 PK WND 22034/2331 WSHFT 2315 FROPA LTG DSNT NE P0003 60012 \
///      SNINCR 1/8 8/6// PNO $",
/// )?;
/// let remarks: DecodedRemarks = report.remarks;
/// assert_eq!(remarks.automated_station, Some("AO2"));
/// assert_eq!(remarks.precipitation_hourly_in, Some(0.03));
/// assert_eq!((remarks.six_group_in, remarks.six_group_minutes), (Some(0.12), Some(360)));
/// assert_eq!(remarks.lightning[0].place, "DSNT NE");
/// assert_eq!(remarks.outages, ["maintenance", "rain gauge"]);
/// # Ok::<(), mesonet::feed::metar::MetarError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DecodedRemarks {
    /// `AO1`: cannot tell rain from snow; `AO2`: can.
    pub automated_station: Option<&'static str>,
    /// `Tsnnnsnnn`: air temperature.
    pub temperature_c: Option<f64>,
    /// Dew point of the same group.
    pub dew_point_c: Option<f64>,
    /// `SLPnnn`: see [`Metar::sea_level_pressure_tenths_hpa`].
    pub sea_level_pressure_hpa: Option<f64>,
    /// `5appp`: change of station pressure in three hours.
    pub pressure_tendency: Option<DecodedPressureTendency>,
    /// `PRESRR`, `PRESFR`: `rising rapidly` or `falling rapidly`.
    pub pressure_change: Option<&'static str>,
    /// `Pnnnn`: precipitation since the last hourly report.
    pub precipitation_hourly_in: Option<f64>,
    /// `PCPN n.nMM PAST HR`: precipitation of the past hour.
    pub precipitation_past_hour_mm: Option<f64>,
    /// `6RRRR`: precipitation in `six_group_minutes`.
    pub six_group_in: Option<f64>,
    /// 180 or 360, depending on the hour of the report; `None` at an hour when the group has no
    /// meaning.
    pub six_group_minutes: Option<u16>,
    /// `7RRRR`: precipitation in 24 hours.
    pub precipitation_24h_in: Option<f64>,
    /// `4/sss`: depth of snow on the ground.
    pub snow_depth_in: Option<u16>,
    /// `931RRR`: snow that fell in six hours.
    pub snowfall_6h_in: Option<f64>,
    /// `933RRR`: water equivalent of the snow on the ground.
    pub snow_water_equivalent_in: Option<f64>,
    /// `SNINCR a/b`: growth of the snow in the last hour.
    pub snow_increase_1h_in: Option<u16>,
    /// The depth to which it grew.
    pub snow_increase_depth_in: Option<u16>,
    /// `1snTTT`: highest temperature in six hours.
    pub max_6h_c: Option<f64>,
    /// `2snTTT`: lowest temperature in six hours.
    pub min_6h_c: Option<f64>,
    /// `4snTTTsnTTT`: highest temperature in 24 hours.
    pub max_24h_c: Option<f64>,
    /// Lowest temperature in 24 hours.
    pub min_24h_c: Option<f64>,
    /// `I1nnn`: ice that grew in the past hour.
    pub ice_1h_in: Option<f64>,
    /// `I3nnn`: in the past 3 hours.
    pub ice_3h_in: Option<f64>,
    /// `I6nnn`: in the past 6 hours.
    pub ice_6h_in: Option<f64>,
    /// `98mmm`: minutes of sunshine on the previous day.
    pub sunshine_minutes: Option<u16>,
    /// `PK WND`: highest gust since the last hourly report.
    pub peak_wind: Option<DecodedPeakWind>,
    /// `WSHFT`: the wind turned.
    pub wind_shift: Option<WindShift>,
    /// `TWR VIS`: visibility at the tower.
    pub tower_visibility_mi: Option<f64>,
    /// `SFC VIS`: visibility at the surface.
    pub surface_visibility_mi: Option<f64>,
    /// `VIS nVn`: the visibility varies between two distances, in statute miles.
    pub variable_visibility_mi: Option<Range>,
    /// `VIS NE 2 1/2`, `VIS 2 RWY11`: visibilities in a direction or at another place.
    pub sector_visibilities: Vec<SectorVisibility>,
    /// `CIG nnnVnnn`: the ceiling varies between two heights, in feet.
    pub variable_ceiling_ft: Option<Range>,
    /// `CIG nnn RWYdd`: ceilings at other places.
    pub ceilings: Vec<Ceiling>,
    /// `SCT025 V BKN`: layers whose amount varies.
    pub variable_sky: Vec<VariableSky>,
    /// `FU BKN020`: what hides a part of the sky.
    pub obscurations: Vec<Obscuration>,
    /// `RAB05E30`: when weather began and ended.
    pub weather_times: Vec<WeatherTime>,
    /// `OCNL LTGICCG OHD`: lightning.
    pub lightning: Vec<Lightning>,
    /// `TS SE MOV NE`, `CB DSNT W`, `VIRGA`: thunderstorms and clouds in sight; `TORNADO B13 6 NE`.
    pub phenomena: Vec<Phenomenon>,
    /// `GR 1 3/4`: diameter of the largest hailstone.
    pub hailstone_in: Option<f64>,
    /// Whether the hailstone has that size, `exact`, or is smaller, `less` (`GR LESS THAN 1/4`).
    pub hailstone_bound: Option<&'static str>,
    /// `8/CLCMCH`: types of cloud, WMO code tables 0513, 0515 and 0509.
    pub cloud_types: Option<CloudTypes>,
    /// `SC5AC2`: the clouds and how much of the sky each covers (Canada).
    pub cloud_amounts: Vec<CloudAmount>,
    /// `1CU030`: layers with their type of cloud (Japan and others).
    pub cloud_layers: Vec<CloudLayer>,
    /// `DENSITY ALT 1800FT`: density altitude (Canada).
    pub density_altitude_ft: Option<i32>,
    /// `A2992`: altimeter setting, for stations that report another unit in the body.
    pub altimeter_in_hg: Option<f64>,
    /// `QFE753`: pressure at the aerodrome, in millimetres of mercury.
    pub qfe_mm_hg: Option<f64>,
    /// `QFE…/1004`: the same in hectopascals.
    pub qfe_hpa: Option<u16>,
    /// `FIRST`, `LAST`, `NOSPECI`, `ACFT MSHP`: words about the reports of the station.
    pub notes: Vec<String>,
    /// Sensors that the report declares out of order: `maintenance` (`$`), `rain gauge` (`PNO`),
    /// `freezing rain` (`FZRANO`), `lightning` (`TSNO`), `present weather` (`PWINO`), `runway
    /// visual range` (`RVRNO`), `sea-level pressure` (`SLPNO`), `visibility` (`VISNO`) and `ceiling`
    /// (`CHINO`) at other places.
    pub outages: Vec<String>,
}

/// Highest gust since the last hourly report.
///
/// ```
/// use mesonet::feed::metar::{Decoded, DecodedPeakWind};
/// let report = Decoded::parse("KBUF 312354Z RMK AO2 PK WND 22034/31")?;
/// let peak = DecodedPeakWind { from_deg: Some(220), speed_kt: 34, hour: None, minute: 31 };
/// assert_eq!(report.remarks.peak_wind, Some(peak));
/// # Ok::<(), mesonet::feed::metar::MetarError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DecodedPeakWind {
    /// The direction from which it blew, from true north; `None` for 000, which is no direction.
    pub from_deg: Option<u16>,
    /// Its speed.
    pub speed_kt: u16,
    /// Hour (UTC), if it differs from the hour of the report.
    pub hour: Option<u8>,
    /// Minute.
    pub minute: u8,
}

/// Change of station pressure in three hours.
///
/// ```
/// use mesonet::feed::metar::{Decoded, DecodedPressureTendency};
/// let report = Decoded::parse("KBUF 312354Z RMK AO2 56012")?;
/// let tendency = DecodedPressureTendency { character: 6, change_hpa: -1.2 };
/// assert_eq!(report.remarks.pressure_tendency, Some(tendency));
/// # Ok::<(), mesonet::feed::metar::MetarError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DecodedPressureTendency {
    /// How it changed: WMO code table 0200, 0 to 8.
    pub character: u8,
    /// The change; negative for a fall.
    pub change_hpa: f64,
}

impl DecodedRemarks {
    /// The data groups, as [`Metar`] has them.
    pub(super) fn of(metar: &Metar) -> Self {
        let of = &metar.remarks;
        let tenths = |value: Option<i16>| value.map(|value| f64::from(value) / 10.0);
        let over = |value: Option<u16>, parts: f64| value.map(|value| f64::from(value) / parts);
        Self {
            automated_station: of.automated.map(|kind| match kind {
                AutomatedStation::Ao1 => "AO1",
                AutomatedStation::Ao2 => "AO2",
            }),
            temperature_c: tenths(of.temperature_tenths_c),
            dew_point_c: tenths(of.dew_point_tenths_c),
            sea_level_pressure_hpa: over(metar.sea_level_pressure_tenths_hpa(), 10.0),
            pressure_tendency: of.pressure_tendency.map(|tendency| DecodedPressureTendency {
                character: tendency.characteristic,
                change_hpa: f64::from(tendency.change_tenths_hpa) / 10.0,
            }),
            precipitation_hourly_in: over(of.hourly_precipitation_hundredths_in, 100.0),
            precipitation_past_hour_mm: over(of.past_hour_precipitation_tenths_mm, 10.0),
            six_group_in: over(of.six_group_hundredths_in, 100.0),
            six_group_minutes: of.six_group_hundredths_in.and_then(|_| metar.six_group_minutes()),
            precipitation_24h_in: over(of.daily_precipitation_hundredths_in, 100.0),
            snow_depth_in: of.snow_depth_in,
            snowfall_6h_in: over(of.snowfall_tenths_in, 10.0),
            snow_water_equivalent_in: over(of.snow_water_tenths_in, 10.0),
            max_6h_c: tenths(of.max_6h_tenths_c),
            min_6h_c: tenths(of.min_6h_tenths_c),
            max_24h_c: tenths(of.max_24h_tenths_c),
            min_24h_c: tenths(of.min_24h_tenths_c),
            ice_1h_in: over(of.ice_1h_hundredths_in, 100.0),
            ice_3h_in: over(of.ice_3h_hundredths_in, 100.0),
            ice_6h_in: over(of.ice_6h_hundredths_in, 100.0),
            peak_wind: of.peak_wind.map(|peak| DecodedPeakWind {
                from_deg: peak.from_degrees,
                speed_kt: peak.speed_kt,
                hour: peak.hour,
                minute: peak.minute,
            }),
            outages: outages(of.outages),
            ..Self::default()
        }
    }
}

fn outages(of: Outages) -> Vec<String> {
    let all = [
        (of.maintenance, "maintenance"),
        (of.rain_gauge, "rain gauge"),
        (of.freezing_rain, "freezing rain"),
        (of.lightning, "lightning"),
        (of.present_weather, "present weather"),
        (of.runway_visual_range, "runway visual range"),
        (of.sea_level_pressure, "sea-level pressure"),
    ];
    all.into_iter().filter(|(out, _)| *out).map(|(_, what)| what.to_owned()).collect()
}
