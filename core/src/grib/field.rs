//! The messages of a file and the fields in them.

use chrono::NaiveDate;

use super::grid::GribGrid;
use super::octets::Octets;
use super::product::{GribParameter, GribProduct};
use super::{GribError, packing, sentinel};

/// Most points of a field that are unpacked unless another number is given: 2^26, a grid of 0.05°
/// around the globe twice over. Its values take 256 MiB.
pub const GRIB_MAX_POINTS: usize = 1 << 26;

/// What a file that is made of a field costs, in cells that are unpacked.
const CELLS_OF_A_FIELD: u64 = 1 << 18;

/// Cells of a field of one value that cost as much as one that is unpacked.
const CELLS_OF_ONE_VALUE: u64 = 256;

/// What each message begins and ends with.
const START: &[u8] = b"GRIB";
const END: &[u8] = b"7777";

/// The fields of a file in its order, those of messages with several fields included.
///
/// What lies between messages is passed over. A broken message is one error; the fields before it
/// and the messages behind it are still there.
///
/// ```
/// use mesonet::{GribError, grib_fields};
/// let mut fields = grib_fields(b"GRIB\0\0\0\x02\0\0\0\0\0\0\x01\0");
/// assert_eq!(fields.next(), Some(Err(GribError::Truncated { got: 16, needed: 256 })));
/// assert_eq!(fields.next(), None);
/// ```
pub fn grib_fields(bytes: &[u8]) -> GribFields<'_> {
    GribFields { rest: bytes, message: None }
}

/// Iterator over the fields of a file, made by [`grib_fields`].
#[derive(Clone, Debug)]
pub struct GribFields<'a> {
    rest: &'a [u8],
    message: Option<Message<'a>>,
}

/// The rest of a message, and of each section the last one before it.
#[derive(Clone, Debug)]
struct Message<'a> {
    octets: usize,
    rest: &'a [u8],
    discipline: u8,
    /// By number; those that have not come yet are empty.
    sections: [&'a [u8]; 8],
    /// The last bit map that was not a reference to the one before.
    bitmap: &'a [u8],
}

/// One field: a parameter at a level and time on a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GribField<'a> {
    discipline: u8,
    /// By number; 0 and 2 are not looked at.
    sections: [&'a [u8]; 8],
    bitmap: &'a [u8],
}

impl<'a> Iterator for GribFields<'a> {
    type Item = Result<GribField<'a>, GribError>;

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
            let start = self.rest.windows(START.len()).position(|bytes| bytes == START)?;
            self.rest = &self.rest[start..];
            match self.open() {
                Ok(message) => self.message = Some(message),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

impl<'a> GribFields<'a> {
    /// The message at the beginning of the rest, which goes on behind it.
    fn open(&mut self) -> Result<Message<'a>, GribError> {
        let indicator = Octets { section: 0, bytes: self.rest };
        let edition = indicator.u8(8);
        let octets = indicator.u32(9).and_then(|high| Ok((high, indicator.u32(13)?)));
        // Where the message turns out to be none, the next one is looked for behind its first word.
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
        Ok(Message { octets, rest: sections, discipline, sections: [&[]; 8], bitmap: &[] })
    }
}

impl<'a> Message<'a> {
    /// The next field; `None` at the end of the message.
    fn next_field(&mut self) -> Result<Option<GribField<'a>>, GribError> {
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
            // What belongs to the field before must not be taken for the next one's.
            self.sections[usize::from(number)..].fill(&[]);
            self.sections[usize::from(number)] = section;
            match number {
                6 => self.keep_bitmap(section)?,
                7 => {
                    let Self { discipline, sections, bitmap, .. } = *self;
                    return Ok(Some(GribField { discipline, sections, bitmap }));
                }
                _ => {}
            }
        }
        Ok(None)
    }

    /// Code table 6.0: 0 is a bit map here, 254 the one before, 255 none.
    fn keep_bitmap(&mut self, section: &'a [u8]) -> Result<(), GribError> {
        let octets = Octets { section: 6, bytes: section };
        if octets.u8(6)? == 0 {
            self.bitmap = octets.from(7);
        }
        Ok(())
    }
}

impl<'a> GribField<'a> {
    fn section(&self, number: u8) -> Octets<'a> {
        Octets { section: number, bytes: self.sections[usize::from(number)] }
    }

    /// What was measured or computed, and by whom (octets 7, 6–7 of section 1, 10–11 of section 4).
    ///
    /// # Errors
    /// A section that is cut short.
    pub fn parameter(&self) -> Result<GribParameter, GribError> {
        let (identification, product) = (self.section(1), self.section(4));
        Ok(GribParameter {
            centre: identification.u16(6)?,
            discipline: self.discipline,
            category: product.u8(10)?,
            number: product.u8(11)?,
        })
    }

    /// The reference time, for a model the start of its run: milliseconds since 1970 (UTC).
    ///
    /// # Errors
    /// Numbers that are no time.
    pub fn reference_ms(&self) -> Result<i64, GribError> {
        instant(self.section(1), 13, "the reference time")
    }

    /// Level, times and statistic.
    ///
    /// # Errors
    /// A template that is not read, or numbers that are no time.
    pub fn product(&self) -> Result<GribProduct, GribError> {
        GribProduct::read(self.section(4), self.reference_ms()?)
    }

    /// The grid.
    ///
    /// # Errors
    /// A template that is not read, or a grid that makes no sense.
    pub fn grid(&self) -> Result<GribGrid, GribError> {
        GribGrid::read(self.section(3))
    }

    /// The field as a message of its own, be it one of several in its message or not. Local
    /// information (section 2) is left out.
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

    /// What it costs to unpack the field and to write what is in it, in cells: an upper bound for
    /// whoever takes fields from others. A message of 200 octets can be a field of
    /// [`GRIB_MAX_POINTS`] cells.
    ///
    /// A field of one value costs next to nothing for its cells; every field costs 262,144 for the
    /// file that is made of it, and its octets.
    ///
    /// # Errors
    /// A grid or packing that is not read.
    pub fn work_cells(&self) -> Result<u64, GribError> {
        let grid = self.grid()?;
        let cells = grid.rows() as u64 * grid.columns() as u64;
        let cells = if self.is_of_one_value()? { cells / CELLS_OF_ONE_VALUE } else { cells };
        let octets = self.sections.iter().map(|section| section.len()).sum::<usize>();
        Ok(CELLS_OF_A_FIELD + cells + (octets + self.bitmap.len()) as u64)
    }

    /// The value that all points have, NaN where it is missing, where the message says that they
    /// have one value without packing any; `None` of every other field, which
    /// [`values`](Self::values) unpacks. Takes no memory for the points.
    ///
    /// # Errors
    /// As [`values`](Self::values).
    pub fn one_value(&self, max_points: usize) -> Result<Option<f32>, GribError> {
        if !self.is_of_one_value()? {
            return Ok(None);
        }
        let points = self.points(&self.grid()?, max_points)?;
        let value = packing::one_value(self.section(5), points)?;
        let is_none = |sentinel: &f32| is_sentinel(value, *sentinel);
        let sentinels = sentinel::sentinels(self.parameter()?);
        Ok(Some(if sentinels.iter().any(is_none) { f32::NAN } else { value }))
    }

    fn is_of_one_value(&self) -> Result<bool, GribError> {
        Ok(self.section(6).u8(6)? == 255 && packing::is_of_one_value(self.section(5))?)
    }

    /// Number of points of its grid, if there may be so many.
    fn points(&self, grid: &GribGrid, limit: usize) -> Result<usize, GribError> {
        let got = grid.rows() * grid.columns();
        if got > limit { Err(GribError::Points { got, limit }) } else { Ok(got) }
    }

    /// Unpacks the values, row by row in the order of [`GribGrid`]: row 0 is that of the first
    /// point of the message, and every row runs in the direction of i.
    ///
    /// A value that is missing is NaN, be it by the bit map, by the packing, or as one of the
    /// numbers that its producer uses for "nothing here". The others are computed in `f64` and
    /// rounded once.
    ///
    /// # Errors
    /// A grid, packing or bit map that is not read or contradicts itself; more than `max_points`
    /// points (see [`GRIB_MAX_POINTS`]). Nothing is allocated for a field that is refused for its
    /// size.
    pub fn values(&self, max_points: usize) -> Result<Vec<f32>, GribError> {
        let grid = self.grid()?;
        let points = self.points(&grid, max_points)?;
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
                if is_sentinel(*value, *sentinel) {
                    *value = f32::NAN;
                }
            }
        }
        Ok(grid.in_rows(values))
    }
}

/// Packed in decimal and binary steps, the number is met only nearly.
#[inline]
fn is_sentinel(value: f32, sentinel: f32) -> bool {
    (value - sentinel).abs() <= 1e-6 * sentinel.abs()
}

/// A time in seven octets: year (2), month, day, hour, minute, second.
pub(super) fn instant(
    octets: Octets<'_>,
    octet: usize,
    what: &'static str,
) -> Result<i64, GribError> {
    let year = i32::from(octets.u16(octet)?);
    let mut parts = [0; 5];
    for (index, part) in parts.iter_mut().enumerate() {
        *part = u32::from(octets.u8(octet + 2 + index)?);
    }
    let [month, day, hour, minute, second] = parts;
    NaiveDate::from_ymd_opt(year, month, day)
        .and_then(|date| date.and_hms_opt(hour, minute, second))
        .map(|time| time.and_utc().timestamp_millis())
        .ok_or(GribError::Time(what))
}
