//! The lengths of the rows of a reduced grid: the list at the end of section 3.

use super::GribError;
use super::octets::Octets;

/// The first octet of the list, behind templates 3.0 and 3.40.
const LIST: usize = 73;

/// The positions of the points of a row, and the number of points in all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RowLengths {
    /// The length of the longest row.
    pub longest: u32,
    /// The sum of all lengths.
    pub points: u64,
    /// The octets of one length.
    octets: usize,
    /// Whether the points of each row go round the globe; otherwise each row begins and ends at the
    /// edges of the grid.
    goes_round: bool,
}

impl RowLengths {
    /// Reads the totals of the list; `None` if all rows have the same length and there is no list
    /// (octets 11 and 12, code table 3.11).
    pub(super) fn read(
        section: Octets<'_>,
        template: u16,
        rows: u32,
        is_row_by_row: bool,
    ) -> Result<Option<Self>, GribError> {
        let octets = usize::from(section.u8(11)?);
        if octets == 0 {
            return Ok(None);
        }
        let goes_round = match section.u8(12)? {
            1 => true,
            2 => false,
            got => {
                let (what, allowed) = ("meaning of the lengths of rows", "1, 2");
                return Err(GribError::Unsupported { what, got: got.into(), allowed });
            }
        };
        if !(matches!(template, 0 | 40) && is_row_by_row) {
            return Err(GribError::Grid(
                "rows of different lengths are only supported on latitudes and longitudes and on \
                 Gaussian grids, row by row in one direction",
            ));
        }
        let list = section.from(LIST);
        if octets > 4 || list.len() < octets * rows as usize {
            return Err(GribError::Grid("the list of the lengths of its rows is cut short"));
        }
        let mut lengths = Self { longest: 0, points: 0, octets, goes_round };
        for length in lengths.of(section).take(rows as usize) {
            lengths.longest = lengths.longest.max(length);
            lengths.points += u64::from(length);
        }
        Ok(Some(lengths))
    }

    /// Returns the length of each row.
    fn of(self, section: Octets<'_>) -> impl Iterator<Item = u32> {
        let number = |octets: &[u8]| octets.iter().fold(0, |high, low| high << 8 | u32::from(*low));
        section.from(LIST).chunks_exact(self.octets).map(number)
    }

    /// Returns rows of the length of the longest row. Each cell has the value of the nearest point
    /// of its row; if two are equally near, of the eastern point; no value if the row has no
    /// points.
    pub(super) fn drawn_out(self, values: &[f32], section: Octets<'_>, rows: usize) -> Vec<f32> {
        let columns = self.longest as usize;
        let mut all = Vec::with_capacity(rows * columns);
        let mut rest = values;
        for length in self.of(section).take(rows) {
            let Some((row, after)) = rest.split_at_checked(length as usize) else { break };
            rest = after;
            let value = |column| match row {
                [] => f32::NAN,
                row => row[self.nearest(column, row.len())],
            };
            all.extend((0..columns).map(value));
        }
        all
    }

    /// Returns the point of a row that is nearest to a column.
    fn nearest(self, column: usize, points: usize) -> usize {
        let columns = self.longest as usize;
        if self.goes_round {
            // This is column · points / columns, rounded.
            return (2 * column * points + columns) / (2 * columns) % points;
        }
        let (gaps, steps) = (points - 1, (columns - 1).max(1));
        (2 * column * gaps + steps) / (2 * steps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_row_is_drawn_out_to_the_nearest_points() {
        let round = RowLengths { longest: 8, points: 0, octets: 1, goes_round: true };
        let of_4: Vec<usize> = (0..8).map(|column| round.nearest(column, 4)).collect();
        assert_eq!(of_4, [0, 1, 1, 2, 2, 3, 3, 0]);
        let of_8: Vec<usize> = (0..8).map(|column| round.nearest(column, 8)).collect();
        assert_eq!(of_8, [0, 1, 2, 3, 4, 5, 6, 7]);
        let bounded = RowLengths { goes_round: false, longest: 5, ..round };
        let of_2: Vec<usize> = (0..5).map(|column| bounded.nearest(column, 2)).collect();
        assert_eq!(of_2, [0, 0, 1, 1, 1]);
        assert_eq!(bounded.nearest(4, 1), 0);
    }
}
