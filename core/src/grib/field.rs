//! The messages of a file and their fields.

use super::grid::Grid;
use super::octets::Octets;
use super::product::{Parameter, ProductSection, instant};
use super::{GribError, packing, sentinel};

/// The default limit on the points of a field that is unpacked: 2^26, enough for two global grids
/// of 0.05°. Its values take 256 MiB.
pub const MAX_POINTS: usize = 1 << 26;

/// The cost of a file made from one field, in unpacked cells.
const CELLS_OF_A_FIELD: u64 = 1 << 18;

/// How many cells of a constant field cost as much as one unpacked cell.
const CELLS_OF_ONE_VALUE: u64 = 256;

/// The beginning and the end of every message.
const START: &[u8] = b"GRIB";
const END: &[u8] = b"7777";

/// The most bytes allowed between messages: the headings of a bulletin and some padding.
const MAX_GAP: usize = 1024;

/// Returns the fields of a file in order, including those of messages with several fields.
///
/// Headings between messages are skipped. A broken message yields one error, and so do the remains
/// of a message between others: the end of a message without its beginning, or more than 1 KiB. The
/// fields before and the messages after are still returned.
///
/// ```
/// use mesonet::grib::GribError;
/// use mesonet::grib;
/// let mut fields = grib::fields(b"GRIB\0\0\0\x02\0\0\0\0\0\0\x01\0");
/// assert_eq!(fields.next(), Some(Err(GribError::Truncated { got: 16, needed: 256 })));
/// assert_eq!(fields.next(), None);
/// ```
pub fn fields(bytes: &[u8]) -> Fields<'_> {
    Fields { rest: bytes, message: None, octets: bytes.len(), seen: Preceding::Nothing }
}

/// An iterator over the fields of a file, returned by [`fields`].
///
/// ```
/// # let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../server-example/sample/safrica_ps_20100308T12Z_25hours.grib2");
/// use mesonet::grib;
/// let bytes = std::fs::read(sample)?;
/// let fields: grib::Fields<'_> = grib::fields(&bytes);
/// let water = fields.flatten().filter(|field| {
///     field.parameter().is_ok_and(|parameter| parameter.to_string() == "7:0.1.3")
/// });
/// assert_eq!(water.count(), 25, "one for each hour");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Fields<'a> {
    rest: &'a [u8],
    message: Option<MessageSections<'a>>,
    /// The length of the file.
    octets: usize,
    seen: Preceding,
}

/// What precedes the rest of a file.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Preceding {
    Nothing,
    /// A message that ends where the rest begins.
    Message,
    /// The beginning of a broken message: it is unknown how much of the following bytes belongs to
    /// it.
    Broken,
}

/// The rest of a message, and the latest section of each number so far.
#[derive(Clone, Debug)]
struct MessageSections<'a> {
    octets: usize,
    rest: &'a [u8],
    discipline: u8,
    /// The sections by number; sections that have not appeared yet are empty.
    sections: [&'a [u8]; 8],
    /// The last bit map that was not a reference to an earlier one.
    bitmap: &'a [u8],
}

/// One field: a parameter at a level and time on a grid.
///
/// ```
/// # let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../server-example/sample/safrica_ps_20100308T12Z_25hours.grib2");
/// use mesonet::{Iso8601, grib};
/// let bytes = std::fs::read(sample)?;
/// let field = grib::fields(&bytes).next().ok_or("no field")??;
/// assert_eq!(field.parameter()?.to_string(), "7:0.1.3"); // NCEP's precipitable water, kg/m²
/// assert_eq!(Iso8601(field.reference_ms()?).to_string(), "2010-03-08T12:00:00Z");
/// let product: grib::ProductSection = field.product()?;
/// assert_eq!((product.valid_ms, product.statistic), (field.reference_ms()?, None));
/// let values = field.values(grib::MAX_POINTS)?;
/// assert_eq!(values[..2], [14.929999, 14.33]);
/// assert_eq!(field.one_value(grib::MAX_POINTS)?, None, "it is not a constant field");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field<'a> {
    discipline: u8,
    /// The sections by number; 0 and 2 are not used.
    sections: [&'a [u8]; 8],
    bitmap: &'a [u8],
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<Field<'a>, GribError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(message) = &mut self.message {
                match message.next_field() {
                    Ok(Some(field)) => return Some(Ok(field)),
                    Ok(None) => self.message = None,
                    Err(error) => {
                        self.message = None;
                        return Some(Err(error));
                    }
                }
            }
            let start = self.rest.windows(START.len()).position(|bytes| bytes == START);
            let (gap, rest) = self.rest.split_at(start.unwrap_or(self.rest.len()));
            self.rest = rest;
            if let Some(error) = self.remains(gap) {
                return Some(Err(error));
            }
            start?;
            match self.open() {
                Ok(message) => (self.message, self.seen) = (Some(message), Preceding::Message),
                Err(error) => {
                    self.seen = Preceding::Broken;
                    return Some(Err(error));
                }
            }
        }
    }
}

impl<'a> Fields<'a> {
    /// Returns an error if bytes before the rest are those of a message that cannot be read.
    fn remains(&mut self, gap: &[u8]) -> Option<GribError> {
        let is_last = self.rest.is_empty();
        let is_begun = is_last && !gap.is_empty() && START.starts_with(gap);
        let is_ended = gap.windows(END.len()).any(|bytes| bytes == END);
        let is_known = match self.seen {
            Preceding::Nothing => is_last,
            Preceding::Message => false,
            Preceding::Broken => true,
        };
        if is_known || !(is_begun || is_ended || gap.len() > MAX_GAP) {
            return None;
        }
        // Nothing more can be said about the bytes up to the next message.
        self.seen = Preceding::Broken;
        let before = self.octets - self.rest.len() + 1;
        Some(GribError::Gap { octets: gap.len(), before })
    }

    /// Opens the message at the beginning of the rest, and moves the rest past it.
    fn open(&mut self) -> Result<MessageSections<'a>, GribError> {
        let indicator = Octets { section: 0, bytes: self.rest };
        let edition = indicator.u8(8);
        let octets = indicator.u32(9).and_then(|high| Ok((high, indicator.u32(13)?)));
        // If the message turns out to be invalid, the search goes on after its first word.
        self.rest = &self.rest[START.len()..];
        let edition = edition?;
        if edition != 2 {
            return Err(GribError::Edition(edition));
        }
        let (high, low) = octets?;
        let needed = u64::from(high) << 32 | u64::from(low);
        let whole = usize::try_from(needed).ok().and_then(|octets| indicator.bytes.get(..octets));
        let Some(whole) = whole else {
            return Err(GribError::Truncated { got: indicator.bytes.len(), needed });
        };
        let Some(sections) = whole.get(16..) else {
            return Err(GribError::Sections { octet: 16, octets: whole.len() });
        };
        self.rest = &indicator.bytes[whole.len()..];
        let discipline = indicator.u8(7)?;
        let octets = whole.len();
        Ok(MessageSections { octets, rest: sections, discipline, sections: [&[]; 8], bitmap: &[] })
    }
}

impl<'a> MessageSections<'a> {
    /// Returns the next field; `None` at the end of the message.
    fn next_field(&mut self) -> Result<Option<Field<'a>>, GribError> {
        let mut at = self.octets - self.rest.len();
        while self.rest != END {
            let misfit = GribError::Sections { octet: at + 1, octets: self.octets };
            let header = Octets { section: 0, bytes: self.rest };
            let (Ok(length), Ok(number @ 1..=7)) = (header.u32(1), header.u8(5)) else {
                return Err(misfit);
            };
            let length = length as usize;
            if length < 5 || length + END.len() > self.rest.len() {
                return Err(misfit);
            }
            let (section, rest) = self.rest.split_at(length);
            self.rest = rest;
            at += length;
            let needed = [0, 0, 1, 1, 3, 4, 5, 6][usize::from(number)];
            if needed > 0 && self.sections[usize::from(needed)].is_empty() {
                return Err(GribError::Order { section: number, needed });
            }
            // The sections of this field must not be taken for those of the next.
            self.sections[usize::from(number)..].fill(&[]);
            self.sections[usize::from(number)] = section;
            match number {
                6 => self.keep_bitmap(section)?,
                7 => {
                    let Self { discipline, sections, bitmap, .. } = *self;
                    return Ok(Some(Field { discipline, sections, bitmap }));
                }
                _ => {}
            }
        }
        Ok(None)
    }

    /// Code table 6.0: 0 is a bit map here, 254 the previous one, 255 none.
    fn keep_bitmap(&mut self, section: &'a [u8]) -> Result<(), GribError> {
        let octets = Octets { section: 6, bytes: section };
        if octets.u8(6)? == 0 {
            self.bitmap = octets.from(7);
        }
        Ok(())
    }
}

impl<'a> Field<'a> {
    fn section(&self, number: u8) -> Octets<'a> {
        Octets { section: number, bytes: self.sections[usize::from(number)] }
    }

    /// Returns the parameter: the quantity, and the centre that produced it (octets 7, 6–7 of
    /// section 1, 10–11 of section 4).
    ///
    /// # Errors
    /// If a section is cut short.
    pub fn parameter(&self) -> Result<Parameter, GribError> {
        let (identification, product) = (self.section(1), self.section(4));
        Ok(Parameter {
            centre: identification.u16(6)?,
            discipline: self.discipline,
            category: product.u8(10)?,
            number: product.u8(11)?,
        })
    }

    /// Returns the reference time, which is the start of the run for a model: milliseconds since
    /// 1970 (UTC).
    ///
    /// # Errors
    /// If the numbers are not a valid time.
    pub fn reference_ms(&self) -> Result<i64, GribError> {
        instant(self.section(1), 13, "the reference time")
    }

    /// Returns the level, the times and the statistic.
    ///
    /// # Errors
    /// If the template is not supported, or the numbers are not a valid time.
    pub fn product(&self) -> Result<ProductSection, GribError> {
        ProductSection::read(self.section(4), self.reference_ms()?)
    }

    /// Returns the number of its packing (code table 5.0): 0 simple, 3 complex with differences, 40
    /// JPEG 2000, and so on.
    ///
    /// # Errors
    /// If the section is cut short.
    pub fn packing(&self) -> Result<u16, GribError> {
        self.section(5).u16(10)
    }

    /// Returns the grid.
    ///
    /// # Errors
    /// If the template is not supported, or the grid is invalid.
    pub fn grid(&self) -> Result<Grid, GribError> {
        Grid::read(self.section(3))
    }

    /// Returns the field as a message of its own, even if it is one of several in its message.
    /// Local information (section 2) is left out.
    ///
    /// ```
    /// # let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../server-example/sample/safrica_ps_20100308T12Z_25hours.grib2");
    /// use mesonet::grib;
    /// let bytes = std::fs::read(sample)?;
    /// let field = grib::fields(&bytes).nth(1).ok_or("no second field")??;
    /// let message = field.to_message();
    /// assert_eq!(grib::fields(&message).next(), Some(Ok(field)));
    /// assert_eq!(grib::fields(&message).count(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn to_message(&self) -> Vec<u8> {
        const INDICATOR: usize = 16;
        let refers_back = matches!(self.section(6).u8(6), Ok(254));
        let bitmap_header = ((self.bitmap.len() + 6) as u32).to_be_bytes();
        let mut message = vec![0; INDICATOR];
        for number in [1, 3, 4, 5, 6, 7_u8] {
            if number == 6 && refers_back {
                message.extend(bitmap_header);
                message.extend([6, 0]);
                message.extend(self.bitmap);
            } else {
                message.extend(self.section(number).bytes);
            }
        }
        message.extend(END);
        message[..4].copy_from_slice(START);
        (message[6], message[7]) = (self.discipline, 2);
        let octets = (message.len() as u64).to_be_bytes();
        message[8..INDICATOR].copy_from_slice(&octets);
        message
    }

    /// Returns the cost of unpacking the field and writing its values, in cells: an upper bound for
    /// callers that accept fields from others. A message of 200 octets can hold a field of
    /// [`MAX_POINTS`] cells.
    ///
    /// A constant field costs next to nothing for its cells. Every field costs 262,144 cells for
    /// the file that is made from it, plus its octets.
    ///
    /// # Errors
    /// If the grid or the packing is not supported.
    ///
    /// ```
    /// # let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../server-example/sample/safrica_ps_20100308T12Z_25hours.grib2");
    /// use mesonet::grib;
    /// let bytes = std::fs::read(sample)?;
    /// let field = grib::fields(&bytes).next().ok_or("no field")??;
    /// let cells = 140 * 210;
    /// assert_eq!(field.work_cells()?, 262_144 + cells + 12_258); // the last of them octets
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn work_cells(&self) -> Result<u64, GribError> {
        let grid = self.grid()?;
        let cells = grid.rows() as u64 * grid.columns() as u64;
        let cells = if self.is_of_one_value()? { cells / CELLS_OF_ONE_VALUE } else { cells };
        let octets = self.sections.iter().map(|section| section.len()).sum::<usize>();
        Ok(CELLS_OF_A_FIELD + cells + (octets + self.bitmap.len()) as u64)
    }

    /// Returns the value of all points if the message is a constant field, which packs no values;
    /// NaN if that value is missing; `None` for every other field, which [`values`](Self::values)
    /// unpacks. Takes no memory for the points.
    ///
    /// # Errors
    /// As [`values`](Self::values).
    pub fn one_value(&self, max_points: usize) -> Result<Option<f32>, GribError> {
        if !self.is_of_one_value()? {
            return Ok(None);
        }
        let points = points_of(&self.grid()?, max_points)?;
        let value = packing::one_value(self.section(5), points)?;
        let is_none = |sentinel: &f32| is_sentinel(value, *sentinel);
        let sentinels = sentinel::sentinels(self.parameter()?);
        Ok(Some(if sentinels.iter().any(is_none) { f32::NAN } else { value }))
    }

    /// Returns the steps in which its values are packed; `None` if it has none.
    #[cfg(feature = "model")]
    pub(crate) fn steps(&self) -> Result<Option<packing::Steps>, GribError> {
        packing::steps(self.section(5))
    }

    fn is_of_one_value(&self) -> Result<bool, GribError> {
        Ok(self.section(6).u8(6)? == 255 && packing::is_of_one_value(self.section(5))?)
    }

    /// Unpacks the values, row by row in the order of [`Grid`]: row 0 contains the first point of
    /// the message, and every row runs in the direction of i.
    ///
    /// A missing value is NaN, whether it is marked by the bit map, by the packing, or by one of
    /// the numbers that its producer uses for "nothing here". If a radar sees no echo, the value is
    /// [`Parameter::no_echo`](super::Parameter::no_echo). Other values are computed in `f64` and
    /// rounded once.
    ///
    /// # Errors
    /// If the grid, packing or bit map is not supported or contradicts itself, or the field has
    /// more than `max_points` points (see [`MAX_POINTS`]). Nothing is allocated for a field
    /// that is refused for its size.
    pub fn values(&self, max_points: usize) -> Result<Vec<f32>, GribError> {
        let grid = self.grid()?;
        let points = points_of(&grid, max_points)?;
        let bitmap = match self.section(6).u8(6)? {
            255 => None,
            0 | 254 => Some(self.bitmap),
            got => {
                let (what, allowed) = ("bit map indicator", "0, 254, 255");
                return Err(GribError::Unsupported { what, got: got.into(), allowed });
            }
        };
        let mut values = packing::unpack(self.section(5), self.section(7), bitmap, points)?;
        let parameter = self.parameter()?;
        for sentinel in sentinel::sentinels(parameter) {
            for value in &mut values {
                *value = if is_sentinel(*value, *sentinel) { f32::NAN } else { *value };
            }
        }
        Ok(grid.in_rows(values, self.section(3)))
    }
}

/// Returns the number of points that a message has values for, if its cells are within the limit.
fn points_of(grid: &Grid, limit: usize) -> Result<usize, GribError> {
    let got = grid.rows().saturating_mul(grid.columns());
    if got > limit { Err(GribError::Points { got, limit }) } else { Ok(grid.points()) }
}

/// Packing in decimal and binary steps matches the number only approximately.
#[inline]
fn is_sentinel(value: f32, sentinel: f32) -> bool {
    (value - sentinel).abs() <= 1e-6 * sentinel.abs()
}
