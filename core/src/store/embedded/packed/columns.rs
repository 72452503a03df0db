//! The columns of a record batch, built station by station.

use std::io;

use super::form::{FEWEST_TABLE, MOST_TIMES, Presence, Width, form};
use super::scale::find_scale;
use crate::observation::StationId;
use crate::store::embedded::report_texts::{Content, compress};
use crate::store::embedded::run::{SeriesPart, SortedRun};

/// Lists one after another, one for each row.
#[derive(Debug)]
pub(super) struct Lists<T> {
    pub offsets: Vec<i32>,
    pub items: Vec<T>,
}

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Self { offsets: vec![0], items: Vec::new() }
    }
}

impl<T> Lists<T> {
    fn end_row(&mut self) {
        self.offsets.push(self.items.len() as i32);
    }
}

/// A series of a row: its number in the file, and how its readings are kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct SeriesEntry {
    pub number: u16,
    pub form: u8,
    pub scale: u8,
}

/// The columns of a record batch; [`super`] says what they mean.
#[derive(Debug, Default)]
pub(in crate::store::embedded) struct PackedColumns {
    pub(super) station: Vec<u8>,
    pub(super) first_ms: Vec<i64>,
    pub(super) last_ms: Vec<i64>,
    pub(super) step_ms: Vec<i32>,
    pub(super) readings: Vec<i32>,
    pub(super) time: Lists<i32>,
    pub(super) series: Lists<SeriesEntry>,
    pub(super) present: Lists<u8>,
    pub(super) base: Lists<i16>,
    pub(super) byte: Lists<u8>,
    pub(super) short: Lists<i16>,
    pub(super) int: Lists<i32>,
    pub(super) double: Lists<f64>,
    pub(super) verdict: Lists<(u16, u8)>,
    pub(super) text: Lists<u8>,
    total: u64,
    scratch: Scratch,
}

#[derive(Debug, Default)]
struct Scratch {
    axis: Vec<i64>,
    union: Vec<i64>,
    numbers: Vec<i32>,
    table: Vec<u64>,
}

impl PackedColumns {
    /// Returns the number of readings added.
    pub(in crate::store::embedded) fn readings(&self) -> u64 {
        self.total
    }

    /// Adds what a station of a run has of a content; `number` gives the number of a series by its
    /// slot.
    ///
    /// # Errors
    /// Texts cannot be compressed.
    pub(in crate::store::embedded) fn add_station(
        &mut self,
        run: &SortedRun,
        place: usize,
        content: Content,
        number: impl Fn(u32) -> u16,
    ) -> io::Result<()> {
        let (id, rows) = (run.stations[place].0, &run.rows[run.rows_at(place)]);
        let rows = rows.iter().filter(|row| Content::of(row.series) == content);
        let parts: Vec<(u16, SeriesPart<'_>)> =
            rows.map(|row| (number(row.slot), run.part(row, 0..row.len as usize))).collect();
        self.scratch.find_axis(&parts);
        let axis = std::mem::take(&mut self.scratch.axis);
        let mut taken = vec![0; parts.len()];
        let mut rest = &axis[..];
        while !rest.is_empty() {
            let (count, step_ms) = chunk(rest);
            self.add_row(id, &rest[..count], step_ms, &parts, &mut taken)?;
            rest = &rest[count..];
        }
        self.scratch.axis = axis;
        Ok(())
    }

    /// Adds the readings of a station at some times. `taken` counts the readings of each series
    /// that were added before.
    fn add_row(
        &mut self,
        station: StationId,
        axis: &[i64],
        step_ms: i32,
        parts: &[(u16, SeriesPart<'_>)],
        taken: &mut [usize],
    ) -> io::Result<()> {
        let (first_ms, last_ms) = (axis[0], axis[axis.len() - 1]);
        let offset = |ts_ms: &i64| ((ts_ms - first_ms) / i64::from(step_ms)) as i32;
        self.station.extend_from_slice(station.as_bytes());
        self.first_ms.push(first_ms);
        self.last_ms.push(last_ms);
        self.step_ms.push(step_ms);
        self.time.items.extend(axis.iter().map(offset));
        let mut verdicts: [RunLengths; 4] = Default::default();
        let mut readings = 0;
        for ((number, part), taken) in parts.iter().zip(taken) {
            let count = part.ts_ms[*taken..].partition_point(|&ts_ms| ts_ms <= last_ms);
            if count == 0 {
                continue;
            }
            let part = part.range(*taken..*taken + count);
            *taken += count;
            readings += count;
            let presence = self.put_presence(axis, part.ts_ms);
            let (width, scale) = self.put_values(part.value);
            let form = form(presence, width);
            self.series.items.push(SeriesEntry { number: *number, form, scale });
            let codes = [part.quality, part.source, part.revision, part.qualifier];
            for (runs, codes) in verdicts.iter_mut().zip(codes) {
                runs.extend(codes);
            }
            if part.text.iter().next().is_some() {
                self.text.items.extend(compress(&part.text)?);
            }
        }
        for runs in &verdicts {
            self.verdict.items.extend(&runs.0);
        }
        self.readings.push(readings as i32);
        self.total += readings as u64;
        self.time.end_row();
        self.series.end_row();
        self.present.end_row();
        self.base.end_row();
        self.byte.end_row();
        self.short.end_row();
        self.int.end_row();
        self.double.end_row();
        self.verdict.end_row();
        self.text.end_row();
        Ok(())
    }

    /// Adds which times of the row a series has.
    fn put_presence(&mut self, axis: &[i64], ts_ms: &[i64]) -> Presence {
        if ts_ms.len() == axis.len() {
            return Presence::All;
        }
        let mut at = 0;
        let places = ts_ms.iter().map(|&ts_ms| {
            at += axis[at..].partition_point(|&other| other < ts_ms);
            at
        });
        let bytes = axis.len().div_ceil(8);
        if 2 + 2 * ts_ms.len() < bytes {
            self.base.items.push(ts_ms.len() as i16);
            self.short.items.extend(places.map(|place| place as i16));
            return Presence::Places;
        }
        let start = self.present.items.len();
        self.present.items.resize(start + bytes, 0);
        for place in places {
            self.present.items[start + place / 8] |= 1 << (place % 8);
        }
        Presence::Bits
    }

    /// Adds the values of a series in the smallest form that gives them back bit for bit.
    fn put_values(&mut self, values: &[f64]) -> (Width, u8) {
        let Scratch { numbers, table, .. } = &mut self.scratch;
        if let Some(scale) = find_scale(values, numbers) {
            let (least, most) =
                numbers.iter().fold((i32::MAX, i32::MIN), |(a, b), &n| (a.min(n), b.max(n)));
            let is_short = |number: i32| i16::try_from(number).is_ok();
            let range = i64::from(most) - i64::from(least);
            let width = if range == 0 && is_short(least) {
                self.base.items.push(least as i16);
                Width::Same
            } else if range < 256 && is_short(least) {
                self.base.items.push(least as i16);
                self.byte.items.extend(numbers.iter().map(|number| (number - least) as u8));
                Width::Byte
            } else if is_short(least) && is_short(most) {
                self.short.items.extend(numbers.iter().map(|&number| number as i16));
                Width::Short
            } else {
                self.int.items.extend_from_slice(numbers);
                Width::Int
            };
            return (width, scale);
        }
        table.clear();
        if values.len() >= FEWEST_TABLE {
            table.extend(values.iter().map(|value| value.to_bits()));
            table.sort_unstable();
            table.dedup();
        }
        let is_small = table.len() <= 256 && 2 + 8 * table.len() + values.len() < 8 * values.len();
        if table.is_empty() || !is_small {
            self.double.items.extend_from_slice(values);
            return (Width::Double, 0);
        }
        self.base.items.push(table.len() as i16);
        self.double.items.extend(table.iter().map(|&bits| f64::from_bits(bits)));
        let place = |value: &f64| table.partition_point(|&bits| bits < value.to_bits()) as u8;
        self.byte.items.extend(values.iter().map(place));
        (Width::Table, 0)
    }
}

impl Scratch {
    /// Finds all times of a station.
    fn find_axis(&mut self, parts: &[(u16, SeriesPart<'_>)]) {
        let Self { axis, union, .. } = self;
        axis.clear();
        for (_, part) in parts {
            // The series of a station mostly have the same times.
            if part.ts_ms == &axis[..] {
                continue;
            }
            union.clear();
            let (mut old, mut new) = (&axis[..], part.ts_ms);
            while let (Some(&a), Some(&b)) = (old.first(), new.first()) {
                union.push(a.min(b));
                old = &old[usize::from(a <= b)..];
                new = &new[usize::from(b <= a)..];
            }
            union.extend_from_slice(old);
            union.extend_from_slice(new);
            std::mem::swap(axis, union);
        }
    }
}

/// Codes as counts of equal ones.
#[derive(Default)]
struct RunLengths(Vec<(u16, u8)>);

impl RunLengths {
    fn extend(&mut self, codes: &[u8]) {
        for equal in codes.chunk_by(|a, b| a == b) {
            let mut count = equal.len();
            if let Some((last, code)) = self.0.last_mut()
                && *code == equal[0]
            {
                let more = count.min(usize::from(u16::MAX - *last));
                *last += more as u16;
                count -= more;
            }
            while count > 0 {
                let run = count.min(usize::from(u16::MAX));
                self.0.push((run as u16, equal[0]));
                count -= run;
            }
        }
    }
}

/// Returns how many of the times fit into a row, and their step: the largest that divides all
/// differences.
fn chunk(axis: &[i64]) -> (usize, i32) {
    let most = i64::from(i32::MAX);
    let mut step_ms = 0;
    for count in 1..axis.len().min(MOST_TIMES) {
        let next = match common_divisor(step_ms, axis[count] - axis[count - 1]) {
            next if next > most => 1,
            next => next,
        };
        if (axis[count] - axis[0]) / next > most {
            return (count, step_ms.max(1) as i32);
        }
        step_ms = next;
    }
    (axis.len().min(MOST_TIMES), step_ms.max(1) as i32)
}

fn common_divisor(mut a: i64, mut b: i64) -> i64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
