//! Smaller copies of a raster, each half the size of the previous one.

use serde::Deserialize;

/// How four pixels become one. Pixels without a value do not count; if no pixel has a value, the
/// result has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Resampling {
    /// Their mean.
    #[default]
    Average,
    /// The greatest of them, so that small, strong features stay visible.
    Max,
    /// The north-western pixel, for categories.
    Nearest,
}

/// A raster of packed values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PyramidLevel {
    pub width: usize,
    pub height: usize,
    pub samples: Samples,
}

/// The packed values of a raster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Samples {
    /// All values are the same: a constant field takes no memory for its pixels.
    All(i16),
    /// Row by row.
    Each(Vec<i16>),
}

impl PyramidLevel {
    /// Returns the raster at half the width and height, rounded up.
    pub(super) fn halved(&self, nodata: i16, resampling: Resampling) -> Self {
        let (width, height) = (self.width.div_ceil(2), self.height.div_ceil(2));
        let each = match &self.samples {
            Samples::All(one) => return Self { width, height, samples: Samples::All(*one) },
            Samples::Each(each) => each,
        };
        let mut samples = Vec::with_capacity(width * height);
        for rows in each.chunks(2 * self.width) {
            let (first, second) = rows.split_at(self.width);
            for column in (0..self.width).step_by(2) {
                let pixels = [
                    Some(&first[column]),
                    first.get(column + 1),
                    second.get(column),
                    second.get(column + 1),
                ];
                let known = pixels.into_iter().flatten().copied().filter(|&pixel| pixel != nodata);
                let pixel = match resampling {
                    Resampling::Average => mean(known),
                    Resampling::Max => known.max(),
                    Resampling::Nearest => Some(first[column]),
                };
                samples.push(pixel.unwrap_or(nodata));
            }
        }
        Self { width, height, samples: Samples::Each(samples) }
    }
}

/// Returns the mean, with halves rounded away from zero.
fn mean(pixels: impl Iterator<Item = i16>) -> Option<i16> {
    let (sum, count) =
        pixels.fold((0_i32, 0), |(sum, count), pixel| (sum + i32::from(pixel), count + 1));
    // The sum is of up to four numbers; adding half a divisor corrects the truncating division.
    (count > 0).then(|| ((sum + sum.signum() * (count / 2)) / count) as i16)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: i16 = i16::MIN;

    fn halved(resampling: Resampling) -> PyramidLevel {
        let samples = vec![
            1, 2, NONE, //
            4, 6, NONE, //
            -5, NONE, 9,
        ];
        PyramidLevel { width: 3, height: 3, samples: Samples::Each(samples) }
            .halved(NONE, resampling)
    }

    fn each(samples: [i16; 4]) -> Samples {
        Samples::Each(samples.to_vec())
    }

    #[test]
    fn four_pixels_make_one() {
        assert_eq!(halved(Resampling::Average).samples, each([3, NONE, -5, 9]));
        assert_eq!(halved(Resampling::Max).samples, each([6, NONE, -5, 9]));
        assert_eq!(halved(Resampling::Nearest).samples, each([1, NONE, -5, 9]));
        let level = halved(Resampling::Average);
        assert_eq!((level.width, level.height), (2, 2));
    }

    #[test]
    fn means_are_rounded_away_from_zero() {
        for (pixels, expected) in [
            (&[1, 2][..], 2),
            (&[-1, -2], -2),
            (&[1, 1, 2], 1),
            (&[1, 2, 2, 2], 2),
            (&[1, 1, 1, 2], 1),
            (&[-32767, -32767], -32767),
        ] {
            assert_eq!(mean(pixels.iter().copied()), Some(expected), "{pixels:?}");
        }
        assert_eq!(mean(std::iter::empty()), None);
    }
}
