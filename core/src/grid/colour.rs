//! Colours of packed tiles: a scale of stops, and the table for painting a tile.

use super::{Encoding, EncodingError};

/// Red, green, blue and opacity, each from 0 to 255; the colour is not multiplied by its opacity.
pub type Rgba = [u8; 4];

/// The colours of values: a stop has its own colour, and values between two stops have a linear
/// mixture of both.
///
/// A value below the first stop has the colour of that stop; a value above the last stop has the
/// colour of the last. NaN is transparent. Two stops with the same value make a sharp edge: the
/// second holds from there on.
///
/// ```
/// use mesonet::grid::{ColourScale, Rgba};
/// let blue_to_red = ColourScale::new(&[-10.0, 10.0], &[[0, 0, 255, 255], [255, 0, 0, 255]])?;
/// let at = |value| -> Rgba { blue_to_red.colour(value) };
/// assert_eq!(at(-40.0), [0, 0, 255, 255]);
/// assert_eq!(at(-5.0), [64, 0, 191, 255]);
/// assert_eq!(at(f64::NAN), [0, 0, 0, 0]);
/// # Ok::<(), mesonet::grid::ColourError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ColourScale {
    values: Vec<f64>,
    colours: Vec<Rgba>,
}

/// Stops that do not form a scale.
///
/// ```
/// use mesonet::grid::{ColourError, ColourScale};
/// let error = ColourScale::new(&[1.0, 0.0], &[[0; 4]; 2]).unwrap_err();
/// assert!(matches!(error, ColourError::Order { index: 1 }));
/// assert_eq!(error.to_string(), "stops must ascend; stop 1 is less than the one before");
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ColourError {
    /// A scale without stops.
    #[error("a scale of colours needs at least one stop; got none")]
    NoStop,
    /// Different numbers of values and colours.
    #[error("each stop has a value and a colour; got {values} values and {colours} colours")]
    Lengths {
        /// The number of values.
        values: usize,
        /// The number of colours.
        colours: usize,
    },
    /// A value that is not finite.
    #[error("stops must be finite; stop {index} is {got}")]
    NotFinite {
        /// The index of the stop.
        index: usize,
        /// Its value.
        got: f64,
    },
    /// A value below the one before it.
    #[error("stops must ascend; stop {index} is less than the one before")]
    Order {
        /// The index of the stop.
        index: usize,
    },
}

impl ColourScale {
    /// Takes the values of the stops, in ascending order, and their colours.
    ///
    /// # Errors
    /// There is no stop, values and colours differ in number, a value is not finite, or the values
    /// descend somewhere.
    pub fn new(values: &[f64], colours: &[Rgba]) -> Result<Self, ColourError> {
        if values.len() != colours.len() {
            return Err(ColourError::Lengths { values: values.len(), colours: colours.len() });
        }
        if values.is_empty() {
            return Err(ColourError::NoStop);
        }
        if let Some(index) = values.iter().position(|value| !value.is_finite()) {
            return Err(ColourError::NotFinite { index, got: values[index] });
        }
        if let Some(at) = values.windows(2).position(|pair| pair[0] > pair[1]) {
            return Err(ColourError::Order { index: at + 1 });
        }
        Ok(Self { values: values.to_vec(), colours: colours.to_vec() })
    }

    /// Returns the colour of a value; parts are rounded, halves up.
    pub fn colour(&self, value: f64) -> Rgba {
        if value.is_nan() {
            return [0; 4];
        }
        let above = self.values.partition_point(|&stop| stop <= value);
        let Some(below) = above.checked_sub(1) else { return self.colours[0] };
        let Some(&to_value) = self.values.get(above) else { return self.colours[below] };
        let from_value = self.values[below];
        let part = (value - from_value) / (to_value - from_value);
        let (from, to) = (self.colours[below], self.colours[above]);
        std::array::from_fn(|channel| {
            let (from, to) = (f64::from(from[channel]), f64::from(to[channel]));
            libm::round(from + (to - from) * part) as u8
        })
    }
}

/// The colour of each of the 65,536 integers of an encoding, so that a tile is painted by lookup.
/// The table takes 256 KB. Making it takes as long as decoding and colouring a tile of 256 × 256
/// value by value, so keep it.
///
/// ```
/// use mesonet::grid::{ColourScale, Encoding, TileColours};
/// let kelvin = Encoding::new(0.01, 273.15, i16::MIN)?;
/// let grey = ColourScale::new(&[263.15, 283.15], &[[0, 0, 0, 255], [255; 4]])?;
/// let colours = TileColours::new(kelvin, &grey);
/// // Raw -1000, which is 263.15 K, and no value.
/// let mut rgba = [1; 8];
/// colours.paint_into(&[0x18, 0xfc, 0x00, 0x80], &mut rgba)?;
/// assert_eq!(rgba, [0, 0, 0, 255, 0, 0, 0, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct TileColours {
    /// By the integer without its sign.
    table: Vec<Rgba>,
}

impl TileColours {
    /// Makes the table.
    pub fn new(encoding: Encoding, scale: &ColourScale) -> Self {
        let colour = |raw: u16| scale.colour(encoding.decode(raw.cast_signed()));
        Self { table: (0..=u16::MAX).map(colour).collect() }
    }

    /// Paints a tile from its transmitted form, 16-bit little-endian integers: four bytes per
    /// value, red, green, blue and opacity.
    ///
    /// # Errors
    /// If the number of bytes is odd, or the output does not have twice that length: nothing is
    /// written.
    pub fn paint_into(&self, bytes: &[u8], rgba: &mut [u8]) -> Result<(), EncodingError> {
        let (pairs, []) = bytes.as_chunks::<2>() else {
            return Err(EncodingError::OddBytes(bytes.len()));
        };
        let (pixels, rest) = rgba.as_chunks_mut::<4>();
        if pairs.len() != pixels.len() || !rest.is_empty() {
            let room = pixels.len();
            return Err(EncodingError::Length { values: pairs.len(), room });
        }
        for (pixel, &pair) in pixels.iter_mut().zip(pairs) {
            *pixel = self.table[usize::from(u16::from_le_bytes(pair))];
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "colour_tests.rs"]
mod tests;
