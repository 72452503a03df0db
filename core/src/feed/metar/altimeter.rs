//! The altimeter setting of a report.

/// Altimeter setting (QNH) as reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Altimeter {
    /// `A2992`: hundredths of an inch of mercury.
    HundredthsInchHg(u16),
    /// `Q1013`: hectopascals.
    Hectopascal(u16),
}

impl Altimeter {
    /// The setting in hectopascals.
    ///
    /// ```
    /// use mesonet::feed::metar::Altimeter;
    /// assert_eq!(Altimeter::HundredthsInchHg(2992).hpa(), 1013.2074811900272);
    /// assert_eq!(Altimeter::Hectopascal(1013).hpa(), 1013.0);
    /// ```
    pub fn hpa(self) -> f64 {
        match self {
            Self::HundredthsInchHg(hundredths) => {
                crate::unit::inches_of_mercury_to_hpa(f64::from(hundredths) / 100.0)
            }
            Self::Hectopascal(hpa) => f64::from(hpa),
        }
    }
}
