//! Numbers packed as an image: templates 7.40 and 7.41.
//!
//! The decoding libraries allocate whatever a file tells them to. So the sizes in the file are
//! first checked against the number of packed values.

use std::io::Cursor;

use hayro_jpeg2000::{DecodeSettings, DecoderContext, Image};
use png::{ColorType, Decoder, Limits};

use super::GribError;
use super::octets::{Bits, Octets};

/// The largest bit depth of a JPEG 2000 sample: up to this depth the library is exact.
const JPEG2000_MAX_BITS: u8 = 24;

/// Least sum of the exponents of a code-block's width and height, each above 2: 256 samples.
const LEAST_BLOCK: u8 = 4;

/// What the PNG library may allocate in addition to the image.
const PNG_BYTES: usize = 1 << 24;

fn failed(codec: &'static str, reason: &dyn ToString) -> GribError {
    GribError::Codec { codec, reason: reason.to_string() }
}

fn same_size(codec: &'static str, width: u32, height: u32, packed: usize) -> Result<(), GribError> {
    let pixels = u64::from(width) * u64::from(height);
    if pixels == packed as u64 {
        return Ok(());
    }
    Err(failed(codec, &format!("it has {width} × {height} pixels for {packed} values")))
}

/// An image of one component, row after row.
pub(super) fn jpeg2000(
    data: &[u8],
    packed: usize,
    value: impl Fn(i64) -> f32,
) -> Result<Vec<f32>, GribError> {
    const CODEC: &str = "JPEG 2000";
    check_codestream(Octets { section: 7, bytes: data })?;
    let image = Image::new(data, &DecodeSettings::default()).map_err(|e| failed(CODEC, &e))?;
    same_size(CODEC, image.width(), image.height(), packed)?;
    if image.original_bit_depth() > JPEG2000_MAX_BITS {
        let reason = format!("samples of {} bits; the limit is 24", image.original_bit_depth());
        return Err(failed(CODEC, &reason));
    }
    let mut context = DecoderContext::default();
    let decoded = image.decode(&mut context).map_err(|e| failed(CODEC, &e))?;
    let [component] = decoded.components() else {
        return Err(failed(CODEC, &"it must have exactly one component"));
    };
    let samples = component.samples();
    same_size(CODEC, samples.len() as u32, 1, packed)?;
    Ok(samples.iter().map(|&sample| value(sample as i64)).collect())
}

/// Checks the beginning of a codestream: the markers SOC and SIZ (ISO/IEC 15444-1, A.4 and A.5),
/// exactly one component, and at most one tile, because each tile takes its own memory.
fn check_codestream(data: Octets<'_>) -> Result<(), GribError> {
    let refuse = |reason| Err(failed("JPEG 2000", &reason));
    if !data.bytes.starts_with(b"\xff\x4f\xff\x51") {
        return refuse("it is not a codestream");
    }
    let [width, height, left, top] = [9, 13, 17, 21].map(|octet| data.u32(octet));
    let [tile_width, tile_height, tile_left, tile_top] =
        [25, 29, 33, 37].map(|octet| data.u32(octet));
    if data.u16(41)? != 1 {
        return refuse("it must have exactly one component");
    }
    if [left?, top?, tile_left?, tile_top?] != [0; 4] {
        return refuse("its image does not begin at its first pixel");
    }
    if tile_width? < width? || tile_height? < height? {
        return refuse("it has several tiles");
    }
    check_coding(data)
}

/// Checks the headers from SIZ up to the data (A.3, A.6): blocks and precincts must have usual
/// sizes, because memory is taken for each of them, and no second tile-part may follow that could
/// change them.
fn check_coding(data: Octets<'_>) -> Result<(), GribError> {
    const COD: u16 = 0xff52;
    const COC: u16 = 0xff53;
    const SOT: u16 = 0xff90;
    const SOD: u16 = 0xff93;
    let refuse = |reason| Err(failed("JPEG 2000", &reason));
    // The marker SIZ.
    let mut octet = 3;
    loop {
        match data.u16(octet)? {
            SOD => return Ok(()),
            COC => return refuse("its component has its own coding style"),
            COD if data.u8(octet + 4)? & 1 != 0 => return refuse("it defines precincts"),
            COD if data.u8(octet + 10)?.saturating_add(data.u8(octet + 11)?) < LEAST_BLOCK => {
                return refuse("its code-blocks are too small");
            }
            SOT => {
                let length = data.u32(octet + 6)? as usize;
                // Only the end of the codestream and the padding of the octets may follow.
                let end = (octet - 1).saturating_add(length);
                if length > 0 && data.from(end.saturating_add(1)).starts_with(b"\xff\x90") {
                    return refuse("it has several tile-parts");
                }
            }
            _ => {}
        }
        octet += 2 + usize::from(data.u16(octet + 2)?);
    }
}

/// Decodes an image of one sample of 1 to 16 bits, or of three or four 8-bit samples that form one
/// number.
pub(super) fn png(
    data: &[u8],
    packed: usize,
    value: impl Fn(i64) -> f32,
) -> Result<Vec<f32>, GribError> {
    const CODEC: &str = "PNG";
    let limits = Limits { bytes: PNG_BYTES.saturating_add(packed.saturating_mul(8)) };
    let mut decoder = Decoder::new_with_limits(Cursor::new(data), limits);
    let header = decoder.read_header_info().map_err(|e| failed(CODEC, &e))?;
    same_size(CODEC, header.width, header.height, packed)?;
    let mut reader = decoder.read_info().map_err(|e| failed(CODEC, &e))?;
    let (color, depth) = reader.output_color_type();
    if color == ColorType::Indexed {
        return Err(failed(CODEC, &"it has a palette"));
    }
    let bits = color.samples() as u32 * depth as u32;
    if bits > 32 {
        return Err(failed(CODEC, &format!("pixels of {bits} bits; the limit is 32")));
    }
    let size = reader.output_buffer_size().ok_or_else(|| failed(CODEC, &"it is too large"))?;
    let mut image = vec![0; size];
    let frame = reader.next_frame(&mut image).map_err(|e| failed(CODEC, &e))?;
    let mut values = Vec::with_capacity(packed);
    for row in image.chunks_exact(frame.line_size) {
        let mut pixels = Bits::new(row);
        values.extend((0..frame.width).map(|_| value(pixels.read(bits).into())));
    }
    same_size(CODEC, values.len() as u32, 1, packed)?;
    Ok(values)
}
