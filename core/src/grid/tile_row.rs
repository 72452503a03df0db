//! The pixels of a row of a tile, several at once.

use super::{Encoding, TILE_SIDE};

/// What the cells around the pixels of a row hold: those above to the left and right of each pixel,
/// and those below. Pixels that are not interpolated have only the first.
pub(super) type Corners<T> = [[T; TILE_SIDE]; 4];

/// Interpolates by rows and columns: `right` and `down` are the distances from the first corner.
#[inline(always)]
#[allow(clippy::inline_always, reason = "each caller has the instructions that it may use")]
fn between([first, second, third, fourth]: [f64; 4], [right, down]: [f64; 2]) -> f64 {
    let top = first + (second - first) * right;
    let bottom = third + (fourth - third) * right;
    top + (bottom - top) * down
}

/// Interpolates a row of pixels from packed integers. A pixel with a missing corner is missing.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
pub(super) fn interpolate_raw(
    corners: &Corners<i16>,
    fractions: &[[f64; 2]],
    encoding: Encoding,
    pixels: &mut [i16],
) {
    let (nodata, scale, offset) = (encoding.nodata(), encoding.scale(), encoding.offset());
    let (fractions, pixels) = (&fractions[..TILE_SIDE], &mut pixels[..TILE_SIDE]);
    for i in 0..TILE_SIDE {
        let raw = corners.each_ref().map(|corner| corner[i]);
        let value = between(raw.map(f64::from), fractions[i]) * scale + offset;
        let is_missing = raw.contains(&nodata);
        pixels[i] = if is_missing { nodata } else { encoding.encode(value) };
    }
}

/// Interpolates a row of pixels from values, of which those missing are NaN.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
pub(super) fn interpolate(
    corners: &Corners<f64>,
    fractions: &[[f64; 2]],
    encoding: Encoding,
    pixels: &mut [i16],
) {
    let (fractions, pixels) = (&fractions[..TILE_SIDE], &mut pixels[..TILE_SIDE]);
    for i in 0..TILE_SIDE {
        let value = between(corners.each_ref().map(|corner| corner[i]), fractions[i]);
        pixels[i] = encoding.encode(value);
    }
}

/// Packs a row of pixels.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
pub(super) fn encode_all(values: &[f64; TILE_SIDE], encoding: Encoding, pixels: &mut [i16]) {
    for (pixel, &value) in pixels.iter_mut().zip(values) {
        *pixel = encoding.encode(value);
    }
}
