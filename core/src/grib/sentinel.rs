//! Numbers that producers use for missing values without a mark in the message.

use super::product::Parameter;

/// Returns the numbers that are not values of a parameter.
///
/// - MRMS (centre 161, discipline 209): "no coverage" and "missing" of the table of the National
///   Severe Storms Laboratory, <https://www.nssl.noaa.gov/projects/mrms/operational/tables.php>:
///   −999 and −99 where negative values have a meaning, else −3 and −1. In reflectivity, −99 is not
///   a missing value: see [`Parameter::no_echo`].
/// - Canada's High Resolution Deterministic Prediction System (centre 54): CAPE of −1 where no
///   parcel rises.
/// - The National Centers' High-Resolution Rapid Refresh (centre 7): a percentage of frozen
///   precipitation of −50 where nothing falls.
pub(super) fn sentinels(parameter: Parameter) -> &'static [f32] {
    if parameter.no_echo().is_some() {
        return &[-999.0];
    }
    let Parameter { centre, discipline, category, number } = parameter;
    match (centre, discipline, category, number) {
        (161, 209, 2, 0..=3)
        | (161, 209, 3, 26..=47)
        | (161, 209, 4, 1)
        | (161, 209, 6, _)
        | (161, 209, 7, 2..=5)
        | (161, 209, 8, 0..=7 | 9)
        | (161, 209, 10, 1 | 3) => &[-3.0, -1.0],
        (161, 209, 3, 48..=51) | (161, 209, 4, 0 | 2 | 3) | (161, 209, 7, 0 | 1) => {
            &[-999.0, -99.0]
        }
        (54, 0, 7, 6) => &[-1.0],
        (7, 0, 1, 39) => &[-50.0],
        _ => &[],
    }
}

impl Parameter {
    /// Returns the value that stands for "no echo" within the coverage of a radar: there is less
    /// than the radar can detect. A place without radar coverage has no value.
    ///
    /// It is −99 dBZ in the reflectivities of MRMS, as in the table of the National Severe Storms
    /// Laboratory. Echoes there are above −35 dBZ. Other producers state no such value.
    ///
    /// ```
    /// use mesonet::grib::Parameter;
    /// let reflectivity: Parameter = "161:209.3.57".parse()?;
    /// assert_eq!(reflectivity.no_echo(), Some(-99.0));
    /// let precipitation: Parameter = "161:209.6.2".parse()?;
    /// assert_eq!(precipitation.no_echo(), None); // no rain is 0 mm
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn no_echo(self) -> Option<f32> {
        let Self { centre, discipline, category, number } = self;
        match (centre, discipline, category, number) {
            (161, 209, 3, 52..=58)
            | (161, 209, 8, 8)
            | (161, 209, 9 | 11, _)
            | (161, 209, 10, 0 | 2 | 4..) => Some(-99.0),
            _ => None,
        }
    }
}
