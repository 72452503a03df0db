//! Numbers that producers use for missing values without saying so in the message.

use super::product::Parameter;

/// Returns the numbers that are not values of a parameter.
///
/// - MRMS (centre 161, discipline 209): "no coverage" and "missing" of the table of the National
///   Severe Storms Laboratory, <https://www.nssl.noaa.gov/projects/mrms/operational/tables.php>:
///   −999 and −99 where negative values have a meaning, as in dBZ, else −3 and −1.
/// - Canada's High Resolution Deterministic Prediction System (centre 54): CAPE of −1 where no
///   parcel rises.
/// - The National Centers' High-Resolution Rapid Refresh (centre 7): a percentage of frozen
///   precipitation of −50 where nothing falls.
pub(super) fn sentinels(parameter: Parameter) -> &'static [f32] {
    let Parameter { centre, discipline, category, number } = parameter;
    match (centre, discipline, category, number) {
        (161, 209, 2, 0..=3)
        | (161, 209, 3, 26..=47)
        | (161, 209, 4, 1)
        | (161, 209, 6, _)
        | (161, 209, 7, 2..=5)
        | (161, 209, 8, 0..=7 | 9)
        | (161, 209, 10, 1 | 3) => &[-3.0, -1.0],
        (161, 209, 3, 48..=58)
        | (161, 209, 4, 0 | 2 | 3)
        | (161, 209, 7, 0 | 1)
        | (161, 209, 8, 8)
        | (161, 209, 9..=11, _) => &[-999.0, -99.0],
        (54, 0, 7, 6) => &[-1.0],
        (7, 0, 1, 39) => &[-50.0],
        _ => &[],
    }
}
