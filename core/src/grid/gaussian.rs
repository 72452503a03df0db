//! The rows of a Gaussian grid: the parallels at the roots of a Legendre polynomial.

use std::f64::consts::PI;
use std::sync::Arc;

/// The most parallels between a pole and the equator.
pub(super) const MAX_PARALLELS: usize = 4000;

/// How far from a Gaussian parallel a row may be, in rows: the latitude of a message is rounded.
const NEAR_A_ROW: f64 = 0.05;

/// The parallels of a Gaussian grid, as an axis: whole numbers are parallels, counted from the one
/// nearest to the South Pole, and between two of them the axis is linear in latitude. Half a row
/// beyond the last parallel is the pole, so that the grid covers the whole globe.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GaussianRows {
    /// Latitudes in degrees, from south to north.
    lats: Arc<[f64]>,
}

impl GaussianRows {
    /// Returns the rows with this many parallels between a pole and the equator.
    pub(super) fn new(parallels: usize) -> Self {
        let rows = 2 * parallels;
        let mut lats = vec![0.0; rows];
        for row in 0..parallels {
            let lat = libm::asin(root(rows, row)).to_degrees();
            (lats[rows - 1 - row], lats[row]) = (lat, -lat);
        }
        Self { lats: lats.into() }
    }

    /// Returns the position of a latitude along the axis.
    pub(super) fn y(&self, lat: f64) -> f64 {
        let last = self.lats.len() - 1;
        let above = self.lats.partition_point(|row| *row <= lat);
        if lat.is_nan() {
            return lat;
        }
        match above {
            0 => 0.5 * (lat - self.lats[0]) / (self.lats[0] + 90.0),
            above if above > last => {
                last as f64 + 0.5 * (lat - self.lats[last]) / (90.0 - self.lats[last])
            }
            above => {
                let (south, north) = (self.lats[above - 1], self.lats[above]);
                (above - 1) as f64 + (lat - south) / (north - south)
            }
        }
    }

    /// Returns the latitude of a position along the axis; beyond ±90 if it is beyond a pole.
    pub(super) fn lat(&self, y: f64) -> f64 {
        let last = self.lats.len() - 1;
        if y <= 0.0 {
            return self.lats[0] + 2.0 * y * (self.lats[0] + 90.0);
        }
        if y >= last as f64 {
            return self.lats[last] + 2.0 * (y - last as f64) * (90.0 - self.lats[last]);
        }
        let row = y as usize;
        self.lats[row] + (y - row as f64) * (self.lats[row + 1] - self.lats[row])
    }

    /// Returns the number of the parallel that a latitude means; `None` if it means none.
    pub(super) fn row_at(&self, lat: f64) -> Option<f64> {
        let y = self.y(lat);
        let row = libm::round(y);
        ((y - row).abs() <= NEAR_A_ROW).then_some(row)
    }

    pub(super) fn rows(&self) -> usize {
        self.lats.len()
    }
}

/// Returns a root of the Legendre polynomial of a degree, counted from the greatest one: Newton's
/// method from the estimate of Abramowitz and Stegun, 22.16.6, with the recurrences 22.7.10 and
/// 22.8.5.
fn root(degree: usize, index: usize) -> f64 {
    let n = degree as f64;
    let mut x = libm::cos(PI * (index as f64 + 0.75) / (n + 0.5));
    // Three steps are enough; the others cost nothing, because they are not reached.
    for _ in 0..10 {
        let (mut before, mut value) = (1.0, x);
        for k in 2..=degree {
            let k = k as f64;
            (before, value) = (value, ((2.0 * k - 1.0) * x * value - (k - 1.0) * before) / k);
        }
        let slope = n * (before - x * value) / (1.0 - x * x);
        let step = value / slope;
        x -= step;
        if step.abs() < 1e-15 {
            break;
        }
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values of ecCodes (`codes_get_array(handle, "distinctLatitudes")`, grids N32 and N768).
    #[test]
    fn the_parallels_are_those_of_eccodes() {
        let n32 = GaussianRows::new(32);
        let lats = [n32.lats[63], n32.lats[62], n32.lats[32], n32.lats[0]];
        let expected =
            [87.86379883923263, 85.0965269883173, 1.3953069108194955, -87.86379883923263];
        assert!(lats.iter().zip(expected).all(|(lat, golden)| (lat - golden).abs() < 1e-9));
        let n768 = GaussianRows::new(768);
        let lats = [n768.lats[1535], n768.lats[1534], n768.lats[768]];
        let expected = [89.91032453466268, 89.79415738840316, 0.058574679619089555];
        assert!(lats.iter().zip(expected).all(|(lat, golden)| (lat - golden).abs() < 1e-9));
        assert!(n768.lats.is_sorted_by(|south, north| south < north));
    }

    #[test]
    fn the_axis_goes_from_pole_to_pole_and_back() {
        let rows = GaussianRows::new(48);
        for (lat, y) in [(90.0, 95.5), (-90.0, -0.5), (0.0, 47.5)] {
            assert!((rows.y(lat) - y).abs() < 1e-12 && (rows.lat(y) - lat).abs() < 1e-12);
        }
        for lat in [-89.9, -45.3, 12.0, 88.6, 89.99] {
            assert!((rows.lat(rows.y(lat)) - lat).abs() < 1e-12, "{lat}");
        }
        assert_eq!(rows.row_at(88.572), Some(95.0), "{}", rows.lats[95]);
        assert_eq!(rows.row_at(87.5), None);
        assert!(rows.y(f64::NAN).is_nan());
    }
}
