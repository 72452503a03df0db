//! The check of a product's file.

use std::io::{self, Read, Seek, SeekFrom};

use flate2::read::ZlibDecoder;
use geotiff_core::tags::TAG_GDAL_NODATA;
use tiff::decoder::{ChunkType, Decoder};
use tiff::tags::Tag;
use tiff::{ColorType, TiffError};

use super::cog::{TAG_GDAL_METADATA, TILE};
use super::error::RasterError;
use super::seal::{self, ITEM, SEAL_BYTES, Seal};
use crate::grib;
use crate::time::parse_instant;

/// The tag that gives the position of the pixels in every file: GeoKeyDirectoryTag.
const TAG_GEO_KEYS: u16 = 34735;

/// The length of an unpacked tile.
const TILE_BYTES: u64 = (TILE * TILE * 2) as u64;

/// The octets after each tile, which repeat its last ones.
const TRAILER: u64 = 4;

/// The tags of an image that every reader relies on, with the only values written here: 16 bits,
/// signed, Deflate with horizontal differences, tiles.
const FIXED: [(Tag, u64); 6] = [
    (Tag::BitsPerSample, 16),
    (Tag::SampleFormat, 2),
    (Tag::Compression, 8),
    (Tag::Predictor, 2),
    (Tag::TileWidth, TILE as u64),
    (Tag::TileLength, TILE as u64),
];

/// The contents of a product's file that was found intact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Number of columns.
    pub width: usize,
    /// Number of rows.
    pub height: usize,
    /// The product; `None` if the file does not name it.
    pub product: Option<String>,
    /// The length of time that it covers; `None` if the file does not state it, empty for an
    /// instant.
    pub duration: Option<String>,
    /// The valid time, in milliseconds since 1970 (UTC); `None` if the file does not state it.
    pub valid_ms: Option<i64>,
    /// Whether it has a checksum.
    pub is_sealed: bool,
    /// Length in bytes.
    pub length: u64,
}

impl File {
    /// Checks a file written by [`Raster::write_cog`](super::Raster::write_cog): its checksum and
    /// its structure. With `every_tile`, or if it has no checksum, all pixels are decoded as well.
    ///
    /// # Errors
    /// [`RasterError::Damaged`] if the file does not hold what was written;
    /// [`RasterError::Unreadable`] if the file system reports an error.
    pub fn check<R: Read + Seek>(mut file: R, every_tile: bool) -> Result<Self, RasterError> {
        let length = file.seek(SeekFrom::End(0)).map_err(unreadable)?;
        file.rewind().map_err(unreadable)?;
        if length <= SEAL_BYTES {
            return Err(damaged(format!("{length} bytes are too few for a GeoTIFF")));
        }
        let seal = seal::check(&mut file, length).map_err(unreadable)?;
        if seal == Seal::Broken {
            return Err(damaged("its checksum does not match its bytes"));
        }
        file.rewind().map_err(unreadable)?;
        let mut decoder = Decoder::new(file).map_err(wrong)?;
        let metadata = decoder.get_tag_ascii_string(Tag::Unknown(TAG_GDAL_METADATA));
        let metadata = metadata.map_err(wrong)?;
        let is_sealed = item(&metadata, ITEM.0).is_some();
        if is_sealed != (seal == Seal::Whole) {
            return Err(damaged("its checksum is not where its metadata say"));
        }
        let (width, height) = decoder.dimensions().map_err(wrong)?;
        decoder.get_tag(Tag::Unknown(TAG_GEO_KEYS)).map_err(wrong)?;
        check_images(&mut decoder, length - if is_sealed { SEAL_BYTES } else { 0 }, || {
            every_tile || !is_sealed
        })?;
        let valid_ms = item(&metadata, "VALID_TIME").map(parse_instant).transpose();
        Ok(Self {
            width: width as usize,
            height: height as usize,
            product: item(&metadata, "PRODUCT").map(str::to_owned),
            duration: item(&metadata, "DURATION").map(str::to_owned),
            valid_ms: valid_ms.map_err(|error| damaged(error.to_string()))?,
            is_sealed,
            length,
        })
    }
}

/// Checks the raster and its smaller copies; the last tile must end where the data do.
fn check_images<R: Read + Seek>(
    decoder: &mut Decoder<R>,
    data_end: u64,
    decodes: impl Fn() -> bool,
) -> Result<(), RasterError> {
    let (mut width, mut height) = decoder.dimensions().map_err(wrong)?;
    if u64::from(width) * u64::from(height) > grib::MAX_POINTS as u64 {
        return Err(damaged(format!("it has {width} × {height} pixels")));
    }
    let mut end = 0;
    loop {
        for (tag, value) in FIXED {
            let found = decoder.get_tag_u64(tag).map_err(wrong)?;
            if found != value {
                return Err(damaged(format!("{tag:?} is {found}; expected {value}")));
            }
        }
        let nodata = decoder.get_tag_ascii_string(Tag::Unknown(TAG_GDAL_NODATA)).map_err(wrong)?;
        if nodata.trim_end_matches('\0').parse::<i16>().is_err() {
            return Err(damaged("invalid nodata value: it must be a 16-bit integer"));
        }
        if decoder.get_chunk_type() != ChunkType::Tile
            || decoder.colortype().map_err(wrong)? != ColorType::Gray(16)
        {
            return Err(damaged("it does not hold tiles of 16-bit integers"));
        }
        let tile = TILE as u32;
        let tiles = width.div_ceil(tile) * height.div_ceil(tile);
        let offsets = decoder.get_tag_u64_vec(Tag::TileOffsets).map_err(wrong)?;
        let lengths = decoder.get_tag_u64_vec(Tag::TileByteCounts).map_err(wrong)?;
        if offsets.len() != tiles as usize || lengths.len() != offsets.len() {
            return Err(damaged(format!("it has {} tiles; expected {tiles}", offsets.len())));
        }
        for (&offset, &length) in offsets.iter().zip(&lengths) {
            let tile_end = offset.saturating_add(length).saturating_add(TRAILER);
            if length == 0 || tile_end > data_end {
                return Err(damaged("a tile lies beyond its end"));
            }
            end = end.max(tile_end);
        }
        if decodes() {
            for (offset, length) in offsets.into_iter().zip(lengths) {
                check_tile(decoder.inner(), offset, length)?;
            }
        }
        if width <= tile && height <= tile {
            break;
        }
        (width, height) = (width.div_ceil(2), height.div_ceil(2));
        if !decoder.more_images() {
            return Err(damaged("a smaller copy is missing"));
        }
        decoder.next_image().map_err(wrong)?;
        let found = decoder.dimensions().map_err(wrong)?;
        if found != (width, height) {
            return Err(damaged(format!(
                "a copy has {} × {} pixels; expected {width} × {height}",
                found.0, found.1
            )));
        }
    }
    if decoder.more_images() {
        return Err(damaged("it has one copy too many"));
    }
    if end != data_end {
        return Err(damaged(format!("its tiles end at {end}; expected {data_end}")));
    }
    Ok(())
}

/// Unpacks a tile; each tile has its own checksum at its end.
fn check_tile<R: Read + Seek>(file: &mut R, offset: u64, length: u64) -> Result<(), RasterError> {
    file.seek(SeekFrom::Start(offset)).map_err(unreadable)?;
    let most = TILE_BYTES + 1;
    let mut unpacked = ZlibDecoder::new(file.take(length)).take(most);
    match io::copy(&mut unpacked, &mut io::sink()) {
        Ok(TILE_BYTES) => Ok(()),
        Ok(found) => Err(damaged(format!("the tile at {offset} unpacks to {found} bytes"))),
        Err(error) => Err(damaged(format!("the tile at {offset} cannot be unpacked: {error}"))),
    }
}

/// Returns the text of an item of GDAL's metadata.
fn item<'a>(metadata: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = metadata.split_once(&format!("<Item name=\"{name}\">"))?;
    rest.split_once("</Item>").map(|(text, _)| text)
}

fn damaged(cause: impl Into<String>) -> RasterError {
    RasterError::Damaged(cause.into())
}

#[allow(clippy::needless_pass_by_value, reason = "it stands where errors are mapped")]
fn unreadable(error: io::Error) -> RasterError {
    RasterError::Unreadable(error.to_string())
}

#[allow(clippy::needless_pass_by_value, reason = "it stands where errors are mapped")]
fn wrong(error: TiffError) -> RasterError {
    damaged(error.to_string())
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
