//! The order of the points in a message.

use super::GribError;

/// Flag table 3.4: the order of the points in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scan(u8);

impl Scan {
    /// Reads the flags. Rows that alternate in direction are supported; rows shifted by half a step
    /// are not.
    pub(super) fn new(flags: u8) -> Result<Self, GribError> {
        if flags & 0x0f != 0 {
            let (what, allowed) = ("scanning mode", "modes without an offset of points (bits 5–8)");
            return Err(GribError::Unsupported { what, got: flags.into(), allowed });
        }
        Ok(Self(flags))
    }

    pub(super) fn i_sign(self) -> f64 {
        if self.0 & 0x80 == 0 { 1.0 } else { -1.0 }
    }

    pub(super) fn j_sign(self) -> f64 {
        if self.0 & 0x40 == 0 { -1.0 } else { 1.0 }
    }

    pub(super) fn columns_first(self) -> bool {
        self.0 & 0x20 != 0
    }

    pub(super) fn alternates(self) -> bool {
        self.0 & 0x10 != 0
    }
}
