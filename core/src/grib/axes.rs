//! The axes of a grid in degrees, and their steps.

use super::GribError;
use super::octets::Octets;
use super::scan::Scan;

/// The axes of a grid in degrees.
///
/// ```
/// # use std::io::Read;
/// # let path = "/../tests/data/grib/gfs2p5_20110110T12Z_f120_gh10.grib2.gz";
/// # let file = std::fs::File::open(env!("CARGO_MANIFEST_DIR").to_owned() + path)?;
/// # let mut bytes = Vec::new();
/// # flate2::read::GzDecoder::new(file).read_to_end(&mut bytes)?;
/// use mesonet::grib::{self, GridGeometry, LatLonAxes};
/// // A field of the Global Forecast System, every 2.5° from the North Pole southward.
/// let field = grib::fields(&bytes).next().ok_or("no field")??;
/// let GridGeometry::LatLon(axes) = field.grid()?.geometry() else { panic!("it is a globe") };
/// let expected = LatLonAxes { first_lon: 0.0, first_lat: 90.0, lon_step: 2.5, lat_step: -2.5 };
/// assert_eq!(axes, expected);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LatLonAxes {
    /// Longitude of the first point.
    pub first_lon: f64,
    /// Latitude of the first point.
    pub first_lat: f64,
    /// The step from column to column.
    pub lon_step: f64,
    /// The step from row to row.
    pub lat_step: f64,
}

impl LatLonAxes {
    pub(super) fn read(
        section: Octets<'_>,
        columns: u32,
        rows: u32,
        scan: Scan,
        step: AxisStep,
    ) -> Result<Self, GribError> {
        let (basic, parts) = (section.u32(39)?, section.u32(43)?);
        // Millionths of a degree, unless a basic angle and its divisions are given.
        let unit = match (basic, parts) {
            (0 | u32::MAX, _) | (_, 0 | u32::MAX) => 1e-6,
            _ => f64::from(basic) / f64::from(parts),
        };
        let angle = |octet| Ok(f64::from(section.i32(octet)?) * unit);
        let (first_lat, first_lon) = (angle(47)?, angle(51)?);
        let (last_lat, last_lon) = (angle(56)?, angle(60)?);
        if !(-90.0 - unit..=90.0 + unit).contains(&first_lat) || !first_lon.is_finite() {
            return Err(GribError::Grid("its first point is not on the globe"));
        }
        let east = scan.i_sign();
        // The span from the first to the last column, always forward.
        let turn = libm::fmod(east * (last_lon - first_lon), 360.0);
        let turn = if turn <= 0.0 && columns > 1 { turn + 360.0 } else { turn };
        let lon_step = step.of_axis(section.u32(64)?, unit, turn, columns)? * east;
        let span = (last_lat - first_lat).abs();
        let lat_step = step.of_axis(section.u32(68)?, unit, span, rows)? * scan.j_sign();
        Ok(Self { first_lon, first_lat, lon_step, lat_step })
    }
}

/// The step that counts if the message states one and its end points imply another: both are
/// rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AxisStep {
    /// The stated step, unless it is rounded so coarsely that the end points would be missed.
    Stated,
    /// The step implied by the end points, as in NCEP's library ip on rotated globes
    /// (`ip_rot_equid_cylind_grid`).
    OfEnds,
}

impl AxisStep {
    /// Returns the step of an axis with this many points; if no step is stated, the step that its
    /// end points imply.
    pub(super) fn of_axis(
        self,
        raw: u32,
        unit: f64,
        span: f64,
        points: u32,
    ) -> Result<f64, GribError> {
        let stated = (raw != u32::MAX && raw != 0).then(|| f64::from(raw) * unit);
        let spanned = (points > 1 && span > 0.0).then(|| span / f64::from(points - 1));
        match (stated, spanned) {
            (Some(stated), Some(spanned)) if (stated - spanned).abs() <= 1.5 * unit => {
                let misses = (stated * f64::from(points - 1) - span).abs() > 3.0 * unit;
                Ok(if misses || self == Self::OfEnds { spanned } else { stated })
            }
            (Some(stated), _) => Ok(stated),
            (None, Some(spanned)) => Ok(spanned),
            (None, None) => Err(GribError::Grid("the step between its points is not given")),
        }
    }
}
