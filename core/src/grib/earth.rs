//! The shape of the Earth that a grid assumes.

use super::GribError;
use super::octets::Octets;

/// The shape of the Earth that a grid assumes (code table 3.2); semi-axes in metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Earth {
    /// The semi-axis to the equator.
    pub major_m: f64,
    /// The semi-axis to a pole.
    pub minor_m: f64,
}

impl Earth {
    pub(super) fn read(section: Octets<'_>) -> Result<Self, GribError> {
        let sphere = |radius_m| Self { major_m: radius_m, minor_m: radius_m };
        let given = |octet, what| {
            let value = section.scaled(octet)?;
            value.filter(|&value| value > 0.0).ok_or(GribError::Grid(what))
        };
        let radius = "no radius of the Earth is given";
        let axes = |unit| {
            let (major, minor) = (given(21, radius)?, given(26, radius)?);
            Ok(Self { major_m: major * unit, minor_m: minor * unit })
        };
        Ok(match section.u8(15)? {
            0 => sphere(6_367_470.0),
            1 => sphere(given(16, radius)?),
            2 => Self { major_m: 6_378_160.0, minor_m: 6_356_775.0 },
            3 => axes(1000.0)?,
            // GRS 80 and WGS 84 differ by a tenth of a millimetre.
            4 => Self { major_m: 6_378_137.0, minor_m: 6_356_752.314 },
            5 => Self { major_m: 6_378_137.0, minor_m: 6_356_752.314_245 },
            6 => sphere(6_371_229.0),
            7 => axes(1.0)?,
            8 => sphere(6_371_200.0),
            9 => Self { major_m: 6_377_563.396, minor_m: 6_356_256.909 },
            got => {
                let (what, allowed) = ("shape of the Earth", "0 to 9");
                return Err(GribError::Unsupported { what, got: got.into(), allowed });
            }
        })
    }

    /// Returns whether the Earth is a sphere.
    pub fn is_sphere(self) -> bool {
        self.major_m == self.minor_m
    }
}
