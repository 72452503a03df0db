//! Messages made from a real one, NAM's pressure at sea level, by changing its sections.

use std::fs;
use std::io::Read;

use flate2::read::GzDecoder;

use crate::process::data;

/// A real message of one field, of which some sections may be changed.
#[derive(Clone)]
pub struct Message(Vec<u8>);

impl Message {
    /// The pressure at sea level of NAM's first hour.
    pub fn pressure() -> Self {
        let packed = fs::File::open(data("grib/nam211_prmsl_simple.grib2.gz")).unwrap();
        let mut bytes = Vec::new();
        GzDecoder::new(packed).read_to_end(&mut bytes).unwrap();
        Self(bytes)
    }

    fn section(&self, number: u8) -> std::ops::Range<usize> {
        let length =
            |at: usize| u32::from_be_bytes(self.0[at..at + 4].try_into().unwrap()) as usize;
        let mut at = 16;
        while self.0[at + 4] != number {
            at += length(at);
        }
        at..at + length(at)
    }

    /// The octets of a section.
    pub fn section_bytes(&self, number: u8) -> Vec<u8> {
        self.0[self.section(number)].to_vec()
    }

    /// Changes octets of a section, from a given one on.
    pub fn with(mut self, section: u8, octet: usize, bytes: &[u8]) -> Self {
        let at = self.section(section).start + octet - 1;
        self.0[at..at + bytes.len()].copy_from_slice(bytes);
        self
    }

    /// Gives the message another product template, with these octets after the levels.
    pub fn of_template(mut self, template: u16, after_levels: &[u8]) -> Self {
        let section = self.section(4);
        self.0.splice(section.start + 34..section.end, after_levels.iter().copied());
        let length = (34 + after_levels.len()) as u32;
        self.0[section.start..section.start + 4].copy_from_slice(&length.to_be_bytes());
        let whole = (self.0.len() as u64).to_be_bytes();
        self.0[8..16].copy_from_slice(&whole);
        self.with(4, 8, &template.to_be_bytes())
    }

    /// Gives all points one value, so that fields can be told apart.
    pub fn of_value(self, value: f32) -> Self {
        self.with(5, 20, &[0]).with(5, 16, &[0; 4]).with(5, 12, &value.to_be_bytes())
    }

    /// Gives the message another forecast hour.
    pub fn at_hour(self, hour: u8) -> Self {
        self.with(4, 22, &[hour])
    }

    pub fn bytes(self) -> Vec<u8> {
        self.0
    }
}

/// The octets of an interval that ends at an hour of NAM's first day, as they come after the levels
/// in template 8. The statistic is an accumulation.
pub fn interval(end_hour: u8, length_h: u8) -> Vec<u8> {
    let mut octets = vec![0x07, 0xe2, 9, 17, end_hour, 0, 0, 1, 0, 0, 0, 0, 1, 2, 1];
    octets.extend([0, 0, 0, length_h, 255, 0, 0, 0, 0]);
    octets
}
