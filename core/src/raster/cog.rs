//! The file of a raster: a Cloud Optimized GeoTIFF.
//!
//! The positions of all tiles come first, then the tiles themselves, smallest copy first: a reader
//! needs one request for the beginning and one for each tile. Each tile is preceded by its length
//! and followed by a repetition of its last four octets, as the first octets after the header
//! promise (the layout that GDAL's COG driver writes and looks for).

use std::collections::HashMap;
use std::io::{Cursor, Write};
use std::rc::Rc;

use geotiff_core::tags::TAG_GDAL_NODATA;
use tiff_core::{ByteOrder, Compression, Predictor, Tag, TagValue};
use tiff_writer::compress::{BlockEncodingOptions, compress_block};
use tiff_writer::{ImageBuilder, encoder};

use super::error::RasterError;
use super::packed::Raster;
use super::pyramid::{PyramidLevel, Samples};
use super::seal::{self, SealedWriter};

/// The width and height of a tile.
pub(super) const TILE: usize = 512;

/// The tags of the tiles' positions and lengths.
const TILE_OFFSETS: u16 = 324;
const TILE_BYTE_COUNTS: u16 = 325;
/// The tag of GDAL's own metadata (an XML text): unit, scale, offset, notes.
pub(super) const TAG_GDAL_METADATA: u16 = 42112;

const LITTLE: ByteOrder = ByteOrder::LittleEndian;

/// The text that promises the layout of the file. Its stated length is that of the text after its
/// first line.
const LAYOUT: &str = "LAYOUT=IFDS_BEFORE_DATA\nBLOCK_ORDER=ROW_MAJOR\nBLOCK_LEADER=SIZE_AS_UINT4\n\
    BLOCK_TRAILER=LAST_4_BYTES_REPEATED\nKNOWN_INCOMPATIBLE_EDITION=NO\n ";

/// One of the rasters of a file, with its compressed tiles.
struct Image {
    tags: Vec<Tag>,
    tiles: Vec<Rc<Vec<u8>>>,
}

impl Raster {
    /// Writes the raster as a Cloud Optimized GeoTIFF: tiles of 512 × 512, copies of half the size
    /// down to a single tile, Deflate over horizontal differences; scale, offset, unit and times as
    /// GDAL reads them. A checksum is at the end of the file; [`File::check`](super::File::check)
    /// verifies it.
    ///
    /// # Errors
    /// If the output fails.
    pub fn write_cog<W: Write>(&self, out: &mut W) -> Result<(), RasterError> {
        let failed = |error: &dyn ToString| RasterError::Tiff(error.to_string());
        self.write(out).map_err(|error| failed(&error))
    }

    fn write<W: Write>(&self, out: &mut W) -> Result<(), Box<dyn std::error::Error>> {
        let images = self.images()?;
        let layout = format!("GDAL_STRUCTURAL_METADATA_SIZE={:06} bytes\n{LAYOUT}", LAYOUT.len());
        let head = encoder::CLASSIC_HEADER_LEN as usize + layout.len();
        let padding = head % 2;

        // The lengths of the tags are known, so the positions of the tiles are too.
        let mut end = (head + padding) as u64;
        for image in &images {
            end += encoder::estimate_ifd_size(LITTLE, false, &image.tags)?;
        }
        let mut offsets = Vec::new();
        for image in images.iter().rev() {
            let of_image = image.tiles.iter().map(|tile| {
                let offset = end + 4;
                end = offset + tile.len() as u64 + 4;
                u32::try_from(offset)
            });
            offsets.push(of_image.collect::<Result<Vec<u32>, _>>()?);
        }
        offsets.reverse();

        let mut head = Cursor::new(Vec::new());
        encoder::write_header(&mut head, LITTLE, false)?;
        head.write_all(layout.as_bytes())?;
        head.write_all(&[0][..padding])?;
        let mut directories = Vec::new();
        for (image, offsets) in images.iter().zip(offsets) {
            let mut tags = image.tags.clone();
            if let Some(tag) = tags.iter_mut().find(|tag| tag.code == TILE_OFFSETS) {
                *tag = Tag::new(TILE_OFFSETS, TagValue::Long(offsets));
            }
            let tiles = image.tiles.len();
            directories.push(encoder::write_ifd(
                &mut head,
                LITTLE,
                false,
                &tags,
                TILE_OFFSETS,
                TILE_BYTE_COUNTS,
                tiles,
            )?);
        }
        encoder::patch_first_ifd(&mut head, 0, LITTLE, false, directories[0].ifd_offset)?;
        for pair in directories.windows(2) {
            let (pointer, next) = (pair[0].next_ifd_pointer_offset, pair[1].ifd_offset);
            encoder::patch_next_ifd(&mut head, LITTLE, false, pointer, next)?;
        }
        let mut out = SealedWriter::new(out);
        out.write_all(&head.into_inner())?;
        for tile in images.iter().rev().flat_map(|image| &image.tiles) {
            out.write_all(&(tile.len() as u32).to_le_bytes())?;
            out.write_all(tile)?;
            out.write_all(tile.last_chunk::<4>().unwrap_or(&[0; 4]))?;
        }
        out.seal()?;
        Ok(())
    }

    /// Returns the raster and its copies, largest first.
    fn images(&self) -> Result<Vec<Image>, Box<dyn std::error::Error>> {
        let nodata = self.encoding.nodata();
        let mut base = builder(&self.level, nodata);
        for tag in self.georeference.tags()? {
            base = base.tag(tag);
        }
        let metadata = TagValue::Ascii(self.metadata());
        base = base.tag(Tag::new(TAG_GDAL_METADATA, metadata));
        let mut images = vec![image(&base, &self.level, nodata)?];
        let mut level = None::<PyramidLevel>;
        loop {
            let last = level.as_ref().unwrap_or(&self.level);
            if last.width <= TILE && last.height <= TILE {
                return Ok(images);
            }
            let next = last.halved(nodata, self.overviews);
            images.push(image(&builder(&next, nodata).overview(), &next, nodata)?);
            level = Some(next);
        }
    }

    /// Returns GDAL's metadata items: those with a role belong to the band.
    fn metadata(&self) -> String {
        let mut text = String::from("<GDALMetadata>\n");
        let mut item = |name: &str, role: &str, value: &str| {
            let role = match role {
                "" => String::new(),
                role => format!(" sample=\"0\" role=\"{role}\""),
            };
            for part in ["  <Item name=\"", name, "\"", &role, ">", &escaped(value), "</Item>\n"] {
                text += part;
            }
        };
        for (name, value) in &self.notes {
            item(name, "", value);
        }
        if self.clamped() > 0 {
            item("CLAMPED_VALUES", "", &self.clamped().to_string());
        }
        item(seal::ITEM.0, "", seal::ITEM.1);
        item("DESCRIPTION", "description", &self.title);
        item("OFFSET", "offset", &self.encoding.offset().to_string());
        item("SCALE", "scale", &self.encoding.scale().to_string());
        item("UNITTYPE", "unittype", &self.unit);
        text + "</GDALMetadata>\n"
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn builder(level: &PyramidLevel, nodata: i16) -> ImageBuilder {
    let nodata = TagValue::Ascii(nodata.to_string());
    ImageBuilder::new(level.width as u32, level.height as u32)
        .sample_type::<i16>()
        .compression(Compression::Deflate)
        .predictor(Predictor::Horizontal)
        .tiles(TILE as u32, TILE as u32)
        .tag(Tag::new(TAG_GDAL_NODATA, nodata))
}

/// Compresses the tiles of a raster, row by row of tiles.
fn image(
    builder: &ImageBuilder,
    level: &PyramidLevel,
    nodata: i16,
) -> Result<Image, tiff_writer::Error> {
    let (across, down) = (level.width.div_ceil(TILE), level.height.div_ceil(TILE));
    let mut tiles = Vec::with_capacity(across * down);
    let mut tile = vec![nodata; TILE * TILE];
    // If the field is constant, all tiles at equivalent positions are equal.
    let mut alike = HashMap::new();
    for index in 0..across * down {
        let (left, top) = (index % across * TILE, index / across * TILE);
        let (width, height) = (TILE.min(level.width - left), TILE.min(level.height - top));
        if let Some(known) = alike.get(&(width, height)) {
            tiles.push(Rc::clone(known));
            continue;
        }
        // Pixels beyond the edge of the raster have no value.
        tile.fill(nodata);
        for (row, room) in tile.chunks_exact_mut(TILE).take(height).enumerate() {
            let room = &mut room[..width];
            match &level.samples {
                Samples::All(one) => room.fill(*one),
                Samples::Each(each) => {
                    let from = (top + row) * level.width + left;
                    room.copy_from_slice(&each[from..from + width]);
                }
            }
        }
        let options = BlockEncodingOptions {
            byte_order: LITTLE,
            compression: Compression::Deflate,
            predictor: Predictor::Horizontal,
            samples_per_pixel: 1,
            row_width_pixels: TILE,
            jpeg_options: None,
            jpeg_sampling: None,
            deflate_level: None,
        };
        let packed = Rc::new(compress_block(&tile, options, index)?);
        if matches!(level.samples, Samples::All(_)) {
            alike.insert((width, height), Rc::clone(&packed));
        }
        tiles.push(packed);
    }
    let lengths = tiles.iter().map(|tile| tile.len() as u32).collect();
    let mut tags = builder.checked_build_tags(false)?;
    if let Some(tag) = tags.iter_mut().find(|tag| tag.code == TILE_BYTE_COUNTS) {
        *tag = Tag::new(TILE_BYTE_COUNTS, TagValue::Long(lengths));
    }
    Ok(Image { tags, tiles })
}
