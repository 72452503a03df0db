//! Packed 16-bit tiles: `value = raw · scale + offset`, unless raw is the nodata value.

/// How the integers of a tile represent values.
///
/// NaN and values outside the range of the integers cannot be packed: NaN becomes nodata, other
/// values are clamped to ±32767.
///
/// ```
/// use mesonet::grid::Encoding;
/// let kelvin = Encoding::new(0.01, 273.15, i16::MIN)?;
/// assert_eq!((kelvin.decode(0), kelvin.decode(-1000)), (kelvin.offset(), 263.15));
/// assert!(kelvin.decode(kelvin.nodata()).is_nan());
/// assert_eq!(kelvin.encode(263.15), -1000);
/// # Ok::<(), mesonet::grid::EncodingError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "Parts")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Encoding {
    scale: f64,
    offset: f64,
    nodata: i16,
}

/// An encoding as read, not yet checked.
#[derive(serde::Deserialize)]
struct Parts {
    scale: f64,
    offset: f64,
    nodata: i16,
}

impl TryFrom<Parts> for Encoding {
    type Error = EncodingError;

    fn try_from(Parts { scale, offset, nodata }: Parts) -> Result<Self, EncodingError> {
        Self::new(scale, offset, nodata)
    }
}

/// The error for an invalid encoding, or for buffers of different lengths.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum EncodingError {
    /// The scale is zero or not finite.
    #[error("scale must be finite and not 0; got {0}")]
    Scale(f64),
    /// The offset is not finite.
    #[error("offset must be finite; got {0}")]
    Offset(f64),
    /// The output does not have the length of the input.
    #[error("{values} values were given room for {room}; the output must have the same length")]
    Length {
        /// The number of values in the input.
        values: usize,
        /// The length of the output.
        room: usize,
    },
    /// A byte buffer that is not a whole number of 16-bit integers.
    #[error("a tile is pairs of bytes; got {0} bytes")]
    OddBytes(usize),
}

impl Encoding {
    /// Returns the encoding with a scale, an offset and a nodata value.
    ///
    /// # Errors
    /// If the scale is 0, or the scale or the offset is not finite.
    pub fn new(scale: f64, offset: f64, nodata: i16) -> Result<Self, EncodingError> {
        if !scale.is_finite() || scale == 0.0 {
            return Err(EncodingError::Scale(scale));
        }
        if !offset.is_finite() {
            return Err(EncodingError::Offset(offset));
        }
        Ok(Self { scale, offset, nodata })
    }

    /// The packing of a product of a catalogue: values ascend with the integers, and the smallest
    /// integer stands for "no value".
    #[cfg(any(feature = "raster", all(feature = "grib", feature = "model")))]
    pub(crate) fn of_product(scale: f64, offset: f64) -> Result<Self, String> {
        if scale <= 0.0 {
            return Err(format!("scale must be above 0; got {scale}"));
        }
        Self::new(scale, offset, i16::MIN).map_err(|error| error.to_string())
    }

    /// Returns the value of one unit of the raw integer.
    pub fn scale(self) -> f64 {
        self.scale
    }

    /// Returns the value of raw 0.
    pub fn offset(self) -> f64 {
        self.offset
    }

    /// Returns the raw integer that stands for "no value".
    pub fn nodata(self) -> i16 {
        self.nodata
    }

    /// Returns the value of a raw integer; NaN for nodata.
    #[inline]
    pub fn decode(self, raw: i16) -> f64 {
        let value = f64::from(raw) * self.scale + self.offset;
        if raw == self.nodata { f64::NAN } else { value }
    }

    /// Returns 10 to the power of the number of decimals of its values: for example 100 for a scale
    /// of 0.01 and an offset of 273.15. `None` if there is no such power up to 10^12.
    ///
    /// `raw · scale + offset` is rounded twice, so its last bits are off. Rounding the value to
    /// this many decimals gives the double nearest to the intended number.
    ///
    /// ```
    /// use mesonet::grid::Encoding;
    /// let kelvin = Encoding::new(0.01, 273.15, i16::MIN)?;
    /// assert_eq!(kelvin.decimal_factor(), Some(100.0));
    /// assert_eq!(kelvin.decode(-105), 272.09999999999997);
    /// assert_eq!((kelvin.decode(-105) * 100.0).round() / 100.0, 272.1);
    /// # Ok::<(), mesonet::grid::EncodingError>(())
    /// ```
    pub fn decimal_factor(self) -> Option<f64> {
        let is_whole = |value: f64| {
            // The value is off only by the rounding of the product, not by part of a step.
            (value - libm::round(value)).abs() <= 1e-14 * value.abs()
        };
        let mut powers = std::iter::successors(Some(1.0_f64), |power| Some(power * 10.0)).take(13);
        powers.find(|power| is_whole(self.scale * power) && is_whole(self.offset * power))
    }

    /// Returns the raw integer nearest to a value, with halves rounded away from zero; nodata for
    /// NaN.
    ///
    /// A value that would land on the nodata integer is moved to the neighbour nearer to zero, so a
    /// value never turns into "no value".
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    #[allow(clippy::inline_always, reason = "each caller has the instructions that it may use")]
    pub fn encode(self, value: f64) -> i16 {
        // Without branches, so that loops are vectorised.
        let steps = rounded((value - self.offset) / self.scale).clamp(-32767.0, 32767.0);
        // The low bits of a sum with 1.5 · 2⁵² are the integer, below 0 too.
        let raw = (steps + 6_755_399_441_055_744.0).to_bits() as i16;
        let beside = raw.wrapping_sub(if raw > 0 { 1 } else { -1 });
        let raw = if raw == self.nodata { beside } else { raw };
        if value.is_nan() { self.nodata } else { raw }
    }

    /// Decodes a slice into the caller's buffer, NaN for nodata.
    ///
    /// # Errors
    /// If the buffer has another length: nothing is written.
    ///
    /// ```
    /// use mesonet::grid::Encoding;
    /// let mut values = [0.0; 3];
    /// Encoding::new(0.5, 10.0, -1)?.decode_into(&[0, 2, -1], &mut values)?;
    /// assert_eq!(values[..2], [10.0, 11.0]);
    /// assert!(values[2].is_nan());
    /// # Ok::<(), mesonet::grid::EncodingError>(())
    /// ```
    pub fn decode_into(self, raw: &[i16], values: &mut [f64]) -> Result<(), EncodingError> {
        if raw.len() != values.len() {
            return Err(EncodingError::Length { values: raw.len(), room: values.len() });
        }
        decode_all(self, raw, values);
        Ok(())
    }

    /// Decodes a tile from its transmitted form, 16-bit little-endian integers.
    ///
    /// # Errors
    /// If the number of bytes is odd, or the buffer does not have half that length: nothing is
    /// written.
    ///
    /// ```
    /// use mesonet::grid::Encoding;
    /// let mut values = [0.0; 2];
    /// Encoding::new(0.1, 0.0, i16::MIN)?.decode_bytes_into(&[5, 0, 0, 1], &mut values)?;
    /// assert_eq!(values, [0.5, 25.6]);
    /// # Ok::<(), mesonet::grid::EncodingError>(())
    /// ```
    pub fn decode_bytes_into(self, bytes: &[u8], values: &mut [f64]) -> Result<(), EncodingError> {
        decode_pairs(self, pairs_of(bytes, values.len())?, values);
        Ok(())
    }

    /// Decodes a tile from its transmitted form into single precision: each value is computed as by
    /// [`decode_bytes_into`](Self::decode_bytes_into), and then rounded.
    ///
    /// # Errors
    /// Those of [`decode_bytes_into`](Self::decode_bytes_into).
    ///
    /// ```
    /// use mesonet::grid::Encoding;
    /// let mut values = [0.0_f32; 2];
    /// Encoding::new(0.1, 0.0, i16::MIN)?.decode_bytes_into_f32(&[5, 0, 0, 1], &mut values)?;
    /// assert_eq!(values, [0.5, 25.6]);
    /// # Ok::<(), mesonet::grid::EncodingError>(())
    /// ```
    pub fn decode_bytes_into_f32(
        self,
        bytes: &[u8],
        values: &mut [f32],
    ) -> Result<(), EncodingError> {
        decode_pairs_f32(self, pairs_of(bytes, values.len())?, values);
        Ok(())
    }

    /// Packs a slice into the caller's buffer.
    ///
    /// # Errors
    /// If the buffer has another length: nothing is written.
    ///
    /// ```
    /// use mesonet::grid::Encoding;
    /// let (temperatures_k, mut raw) = ([263.15, f64::NAN, 900.0], [0; 3]);
    /// Encoding::new(0.01, 273.15, i16::MIN)?.encode_into(&temperatures_k, &mut raw)?;
    /// assert_eq!(raw, [-1000, i16::MIN, i16::MAX]);
    /// # Ok::<(), mesonet::grid::EncodingError>(())
    /// ```
    pub fn encode_into(self, values: &[f64], raw: &mut [i16]) -> Result<(), EncodingError> {
        if raw.len() != values.len() {
            return Err(EncodingError::Length { values: values.len(), room: raw.len() });
        }
        for (raw, &value) in raw.iter_mut().zip(values) {
            *raw = self.encode(value);
        }
        Ok(())
    }
}

/// How many steps a value may be changed by. The last bits of a step are rounding, not a value out of
/// range.
#[cfg(any(feature = "raster", all(feature = "grib", feature = "model")))]
const BEYOND: f64 = 0.5001;

/// The errors that packing made.
#[cfg(any(feature = "raster", all(feature = "grib", feature = "model")))]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct PackingLoss {
    /// The number of values beyond the integers.
    pub clamped: usize,
    /// The greatest change that packing made to any other value.
    pub max_error: f64,
}

#[cfg(any(feature = "raster", all(feature = "grib", feature = "model")))]
impl PackingLoss {
    /// Packs a value.
    #[inline]
    pub(crate) fn pack(&mut self, encoding: Encoding, value: f64) -> i16 {
        let raw = encoding.encode(value);
        let error = (encoding.decode(raw) - value).abs();
        if error > BEYOND * encoding.scale().abs() {
            self.clamped += 1;
        } else {
            // The error of a missing value is NaN and does not count.
            self.max_error = self.max_error.max(error);
        }
        raw
    }
}

#[cfg(all(feature = "grib", feature = "model"))]
impl PackingLoss {
    /// Packs values into as many places.
    pub(crate) fn pack_all(&mut self, encoding: Encoding, values: &[f32], raw: &mut [i16]) {
        let other = pack_all(encoding, values, raw);
        self.clamped += other.clamped;
        self.max_error = self.max_error.max(other.max_error);
    }
}

/// Packs values, several at once.
#[cfg(all(feature = "grib", feature = "model"))]
#[multiversion::multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
fn pack_all(encoding: Encoding, values: &[f32], raw: &mut [i16]) -> PackingLoss {
    const LANES: usize = 8;
    let limit = BEYOND * encoding.scale().abs();
    let (mut clamped, mut errors) = ([0_u64; LANES], [0_f64; LANES]);
    let (wide, rest) = values.as_chunks::<LANES>();
    let (wide_raw, rest_raw) = raw.as_chunks_mut::<LANES>();
    for (values, raw) in wide.iter().zip(wide_raw) {
        for i in 0..LANES {
            let value = f64::from(values[i]);
            raw[i] = encoding.encode(value);
            // That of a missing value is NaN, and neither.
            let error = (encoding.decode(raw[i]) - value).abs();
            clamped[i] += u64::from(error > limit);
            errors[i] = if error <= limit && error > errors[i] { error } else { errors[i] };
        }
    }
    let mut loss = PackingLoss {
        clamped: clamped.iter().sum::<u64>() as usize,
        max_error: errors.into_iter().fold(0.0, f64::max),
    };
    for (raw, &value) in rest_raw.iter_mut().zip(rest) {
        *raw = loss.pack(encoding, value.into());
    }
    loss
}

/// Rounds halves away from zero. The compiler has vector instructions for its own function; where it
/// has none, `libm`'s is there already.
#[inline]
fn rounded(value: f64) -> f64 {
    if cfg!(target_arch = "wasm32") { libm::round(value) } else { value.round() }
}

/// The integers of a tile's bytes, of which there must be one for each place of the output.
fn pairs_of(bytes: &[u8], room: usize) -> Result<&[[u8; 2]], EncodingError> {
    let (pairs, []) = bytes.as_chunks::<2>() else {
        return Err(EncodingError::OddBytes(bytes.len()));
    };
    let values = pairs.len();
    if values == room { Ok(pairs) } else { Err(EncodingError::Length { values, room }) }
}

#[cfg(not(target_arch = "wasm32"))]
fn decode_pairs(encoding: Encoding, pairs: &[[u8; 2]], values: &mut [f64]) {
    // The bytes pass through a block on the stack, so that the vector loop below serves both forms.
    let mut block = [0_i16; 512];
    for (pairs, values) in pairs.chunks(512).zip(values.chunks_mut(512)) {
        let raw = &mut block[..pairs.len()];
        for (raw, &pair) in raw.iter_mut().zip(pairs) {
            *raw = i16::from_le_bytes(pair);
        }
        decode_all(encoding, raw, values);
    }
}

#[cfg(target_arch = "wasm32")]
fn decode_pairs(encoding: Encoding, pairs: &[[u8; 2]], values: &mut [f64]) {
    let done = super::vectors::decode(encoding, pairs, values);
    for (value, &pair) in values[done..].iter_mut().zip(&pairs[done..]) {
        *value = encoding.decode(i16::from_le_bytes(pair));
    }
}

fn decode_pairs_f32(encoding: Encoding, pairs: &[[u8; 2]], values: &mut [f32]) {
    #[cfg(target_arch = "wasm32")]
    let done = super::vectors::decode_f32(encoding, pairs, values);
    #[cfg(not(target_arch = "wasm32"))]
    let done = 0;
    for (value, &pair) in values[done..].iter_mut().zip(&pairs[done..]) {
        *value = encoding.decode(i16::from_le_bytes(pair)) as f32;
    }
}

#[multiversion::multiversion(targets("x86_64+avx2"))]
fn decode_all(encoding: Encoding, raw: &[i16], values: &mut [f64]) {
    for (value, &raw) in values.iter_mut().zip(raw) {
        *value = encoding.decode(raw);
    }
}

#[cfg(test)]
#[path = "packing_tests.rs"]
mod tests;
