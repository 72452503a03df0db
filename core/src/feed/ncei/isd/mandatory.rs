//! The mandatory section of a record: wind, ceiling, visibility, temperatures, pressure.

use super::{ReportType, number, push, push_qualified, tenths, verdict};
use crate::feed::collect::{Measurement, ReadingCollector};
use crate::feed::summary::RefusalReason;
use crate::observation::IntervalType::{Average, Unknown};
use crate::observation::{Qualifier, Quality, Variable};

/// Length of the control section, before the mandatory one.
pub(super) const CONTROL_BYTES: usize = 60;
/// Length of the mandatory section.
pub(super) const MANDATORY_BYTES: usize = 45;

/// The section as it stands in a record.
pub(super) struct Mandatory<'a>(pub &'a [u8; MANDATORY_BYTES]);

impl Mandatory<'_> {
    /// The characters at positions as the document counts them: from 1, control section and both ends
    /// included.
    fn field(&self, first: usize, last: usize) -> &[u8] {
        &self.0[first - 1 - CONTROL_BYTES..last - CONTROL_BYTES]
    }

    fn byte(&self, at: usize) -> u8 {
        self.0[at - 1 - CONTROL_BYTES]
    }

    fn number(&self, first: usize, last: usize) -> Result<Option<f64>, RefusalReason> {
        number(self.field(first, last))
    }

    fn quality(&self, at: usize) -> Quality {
        verdict(self.byte(at))
    }

    /// Adds its readings.
    pub(super) fn read(
        &self,
        kind: ReportType,
        to: &mut ReadingCollector<'_>,
    ) -> Result<(), RefusalReason> {
        use Variable::{
            AirTemperature, CeilingHeight, DewPointTemperature, Mslp, Visibility, WindDirection,
            WindSpeed,
        };
        let wind_type = self.byte(65);
        let (of, minutes) = match wind_type {
            b'H' => (Average, 5),
            b'R' => (Average, 60),
            b'T' => (Average, 180),
            b'Q' => (Unknown, 0),
            _ if kind.is_aviation() => (Average, 2),
            _ if kind == ReportType::Synop => (Average, 10),
            _ => (Unknown, 0),
        };
        let speed = self.number(66, 69)?.map(tenths);
        push(to, Measurement::new(WindSpeed, of, minutes, "m/s"), speed, self.quality(70));
        let direction = self
            .number(61, 63)?
            .filter(|&degrees| degrees > 0.0 && !matches!(wind_type, b'C' | b'V'));
        push(to, Measurement::new(WindDirection, of, minutes, "°"), direction, self.quality(64));
        let ceiling = self.number(71, 75)?.filter(|&ceiling_m| ceiling_m < NO_CEILING_M);
        push(to, Measurement::instantaneous(CeilingHeight, "m"), ceiling, self.quality(76));
        let visibility = self.number(79, 84)?;
        let of = Measurement::instantaneous(Visibility, "m");
        let is_highest = visibility == Some(HIGHEST_VISIBILITY_M);
        let qualifier = is_highest.then_some(Qualifier::AtLeast);
        push_qualified(to, of, visibility, self.quality(85), qualifier);
        for (variable, first, unit) in
            [(AirTemperature, 88, "°C"), (DewPointTemperature, 94, "°C"), (Mslp, 100, "hPa")]
        {
            let value = self.number(first, first + 4)?.map(tenths);
            push(to, Measurement::instantaneous(variable, unit), value, self.quality(first + 5));
        }
        Ok(())
    }
}

/// The ceiling given for a sky without one.
const NO_CEILING_M: f64 = 22_000.0;
/// The value that a record gives for this visibility and any greater one.
const HIGHEST_VISIBILITY_M: f64 = 160_000.0;
