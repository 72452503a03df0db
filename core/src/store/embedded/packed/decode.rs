//! Makes readings of packed rows.

use std::ops::Range;

use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;

use super::batch::PackedBatch;
use super::bits::{bits_before, for_bits};
use super::form::{Presence, Width};
use super::row::{Chunk, PackedRow};
use super::run::PackedRun;
use super::scale::SCALES;
use crate::store::embedded::report_texts::{TEXTS, TextPart, decompress};
use crate::store::embedded::run::{LostPart, SeriesPart};

/// Where readings are made, and the times made so far: series of a station mostly share theirs.
pub(in crate::store::embedded) struct Decoder<'s> {
    bump: &'s Bump,
    /// Whether texts of reports are wanted with their codes.
    with_texts: bool,
    axes: BumpVec<'s, Axis<'s>>,
}

/// The times of a row of a file in a span.
#[derive(Clone, Copy)]
struct Axis<'s> {
    /// The first column of the file's batch, which tells files apart.
    of: *const i32,
    chunk: u32,
    span: (i64, i64),
    start: usize,
    ts_ms: &'s [i64],
}

impl<'s> Decoder<'s> {
    pub(in crate::store::embedded) fn new(bump: &'s Bump) -> Self {
        Self { bump, with_texts: true, axes: BumpVec::new_in(bump) }
    }

    /// Makes texts without their content: all texts of a row are compressed together.
    pub(in crate::store::embedded) fn without_texts(self) -> Self {
        Self { with_texts: false, ..self }
    }
}

impl PackedRun {
    /// Returns the readings of a row between two times, both included; `None` if some of what they
    /// are made of is damaged.
    pub(in crate::store::embedded) fn whole_part<'s>(
        &'s self,
        row: &PackedRow,
        span: (i64, i64),
        decoder: &mut Decoder<'s>,
    ) -> Option<SeriesPart<'s>> {
        let (range, ts_ms) = self.times(row, span, decoder)?;
        if range.is_empty() {
            return Some(SeriesPart::default());
        }
        self.made(self.batch_of(row), row, range, ts_ms, decoder)
    }

    /// Returns which readings of a row lie between two times, and their times.
    fn times<'s>(
        &'s self,
        row: &PackedRow,
        span: (i64, i64),
        decoder: &mut Decoder<'s>,
    ) -> Option<(Range<usize>, &'s [i64])> {
        let axis = self.axis(row, span, decoder)?;
        let batch = self.batch_of(row);
        let times = axis.start..axis.start + axis.ts_ms.len();
        let range = self.range(batch, row, times.clone())?;
        let bump = decoder.bump;
        let ts_ms = match row.presence {
            Presence::All => axis.ts_ms,
            Presence::Bits => {
                let mut ts_ms = BumpVec::with_capacity_in(range.len(), bump);
                for_bits(self.bits(batch, row), times, |place| {
                    ts_ms.push(axis.ts_ms[place - axis.start]);
                });
                ts_ms.into_bump_slice()
            }
            Presence::Places => {
                let at = row.present_at as usize;
                let places = &batch.short.items[at + range.start..at + range.end];
                let time = |place: i16| axis.ts_ms.get((place as usize).checked_sub(axis.start)?);
                let mut ts_ms = BumpVec::with_capacity_in(range.len(), bump);
                for &place in places {
                    ts_ms.push(*time(place)?);
                }
                ts_ms.into_bump_slice()
            }
        };
        Some((range, ts_ms))
    }

    /// Visits what is intact of the readings of a row between two times, both included, and reports
    /// the damaged blocks that the others are made of.
    #[cold]
    pub(in crate::store::embedded) fn damaged_parts<'s>(
        &'s self,
        row: &PackedRow,
        span: (i64, i64),
        decoder: &mut Decoder<'s>,
        found: &mut dyn FnMut(SeriesPart<'s>),
        lost: &mut dyn FnMut(LostPart),
    ) {
        let Some((range, ts_ms)) = self.times(row, span, decoder) else {
            return self.lose_row(row, span, lost);
        };
        let batch = self.batch_of(row);
        let values = value_bytes(batch, row, range.clone());
        let Some(width) = (!values.is_empty()).then(|| values.len() / range.len()) else {
            return self.lose_row(row, span, lost);
        };
        // Values that damaged blocks hold are missing alone.
        let pieces: Vec<_> = self
            .mapped
            .pieces(&self.mapped.bytes().as_slice()[values])
            .map(|piece| piece.range.start / width..piece.range.end / width)
            .collect();
        for piece in pieces {
            let places = range.start + piece.start..range.start + piece.end;
            if let Some(part) =
                self.made(batch, row, places.clone(), &ts_ms[piece.clone()], decoder)
            {
                found(part);
            } else {
                let of_piece = (ts_ms[piece.start], ts_ms[piece.end - 1]);
                self.lose_values(row, places, of_piece, lost);
            }
        }
    }

    /// Returns the last reading of a row between two times, both included, as
    /// [`whole_part`](Self::whole_part).
    pub(in crate::store::embedded) fn whole_last<'s>(
        &'s self,
        row: &PackedRow,
        (first_ms, last_ms): (i64, i64),
        decoder: &mut Decoder<'s>,
    ) -> Option<SeriesPart<'s>> {
        let batch = self.batch_of(row);
        let (chunk, axis) = self.whole_axis(row)?;
        let time = |place: usize| time_of(chunk, batch, axis[place]);
        let end = if chunk.last_ms <= last_ms {
            axis.len()
        } else {
            axis.partition_point(|&offset| time_of(chunk, batch, offset) <= last_ms)
        };
        let range = self.range(batch, row, 0..end)?;
        let Some(last) = range.end.checked_sub(1) else { return Some(SeriesPart::default()) };
        let place = match row.presence {
            Presence::All => last,
            Presence::Bits => {
                let bits = self.bits(batch, row);
                (0..end).rev().find(|place| bits[place / 8] >> (place % 8) & 1 == 1)?
            }
            Presence::Places => batch.short.items[row.present_at as usize + last] as usize,
        };
        let ts_ms = (place < axis.len()).then(|| time(place))?;
        if ts_ms < first_ms {
            return Some(SeriesPart::default());
        }
        let bump = decoder.bump;
        self.made(batch, row, last..range.end, bump.alloc_slice_copy(&[ts_ms]), decoder)
    }

    /// Reports the damaged blocks that all readings of a row are made of.
    #[cold]
    fn lose_row(
        &self,
        row: &PackedRow,
        (first_ms, last_ms): (i64, i64),
        lost: &mut dyn FnMut(LostPart),
    ) {
        let chunk = &self.chunks[row.chunk as usize];
        if chunk.first_ms <= last_ms && chunk.last_ms >= first_ms {
            self.lose_values(row, 0..row.len as usize, (chunk.first_ms, chunk.last_ms), lost);
        }
    }

    /// Reports the damaged blocks that some readings of a row are made of.
    fn lose_values(
        &self,
        row: &PackedRow,
        range: Range<usize>,
        (first_ms, last_ms): (i64, i64),
        lost: &mut dyn FnMut(LostPart),
    ) {
        let batch = self.batch_of(row);
        let chunk = &self.chunks[row.chunk as usize];
        let of = chunk.row as usize;
        let mut bytes = vec![
            batch.bytes_of(batch.time.of(of)),
            batch.bytes_of(batch.verdict.of(of)),
            batch.bytes_of(&batch.count[batch.verdict.at(of)]),
            value_bytes(batch, row, range),
            batch.bytes_of(self.text_bytes(batch, row)),
        ];
        bytes.extend(other_bytes(batch, row));
        let mut blocks: Vec<u32> =
            bytes.into_iter().flat_map(|range| self.mapped.damaged_blocks(range)).collect();
        if blocks.is_empty() {
            // Intact, but wrong: this cannot come from a disk.
            let cause = format!("series {} cannot be read", row.series);
            self.mapped.note(format!("row {} of batch {}: {cause}", chunk.row, chunk.batch));
            blocks.push(0);
        }
        blocks.sort_unstable();
        blocks.dedup();
        for block in blocks {
            lost(LostPart { block, first_ms, last_ms });
        }
    }

    fn batch_of(&self, row: &PackedRow) -> &PackedBatch {
        &self.batches[self.chunks[row.chunk as usize].batch as usize]
    }

    fn bits<'b>(&self, batch: &'b PackedBatch, row: &PackedRow) -> &'b [u8] {
        let times = batch.time.at(self.chunks[row.chunk as usize].row as usize).len();
        &batch.present.items[row.present_at as usize..][..times.div_ceil(8)]
    }

    /// Returns the times of the row of the file, if they are intact.
    fn whole_axis(&self, row: &PackedRow) -> Option<(&Chunk, &[i32])> {
        let chunk = &self.chunks[row.chunk as usize];
        let batch = &self.batches[chunk.batch as usize];
        let axis = batch.time.of(chunk.row as usize);
        batch.is_whole(axis).then_some((chunk, axis))
    }

    /// Returns the times of the row of the file in a span, if they are intact.
    fn axis<'s>(
        &'s self,
        row: &PackedRow,
        span: (i64, i64),
        decoder: &mut Decoder<'s>,
    ) -> Option<Axis<'s>> {
        let batch = self.batch_of(row);
        let (of, chunk) = (batch.step_ms.as_ptr(), row.chunk);
        let known = |axis: &&Axis<'s>| axis.of == of && axis.chunk == chunk && axis.span == span;
        if let Some(axis) = decoder.axes.iter().rev().find(known) {
            return Some(*axis);
        }
        let (chunk, times) = self.whole_axis(row)?;
        let start = if chunk.first_ms >= span.0 {
            0
        } else {
            times.partition_point(|&offset| time_of(chunk, batch, offset) < span.0)
        };
        let end = if chunk.last_ms <= span.1 {
            times.len()
        } else {
            times.partition_point(|&offset| time_of(chunk, batch, offset) <= span.1)
        };
        let times = &times[start..end.max(start)];
        let ts_ms = decoder
            .bump
            .alloc_slice_fill_with(times.len(), |place| time_of(chunk, batch, times[place]));
        let axis = Axis { of, chunk: row.chunk, span, start, ts_ms };
        decoder.axes.push(axis);
        Some(axis)
    }

    /// Returns which readings of a row have some of the times of the row of the file.
    fn range(
        &self,
        batch: &PackedBatch,
        row: &PackedRow,
        times: Range<usize>,
    ) -> Option<Range<usize>> {
        Some(match row.presence {
            Presence::All => times,
            Presence::Bits => {
                let bits = self.bits(batch, row);
                bits_before(bits, times.start)..bits_before(bits, times.end)
            }
            Presence::Places => {
                let at = row.present_at as usize;
                let places = &batch.short.items[at..at + row.len as usize];
                if !batch.is_whole(places) {
                    return None;
                }
                let before = |time: usize| places.partition_point(|&place| (place as usize) < time);
                let start = before(times.start);
                start..before(times.end).max(start)
            }
        })
    }

    /// Makes some readings of a row, which have these times.
    fn made<'s>(
        &'s self,
        batch: &'s PackedBatch,
        row: &PackedRow,
        range: Range<usize>,
        ts_ms: &'s [i64],
        decoder: &Decoder<'s>,
    ) -> Option<SeriesPart<'s>> {
        let bump = decoder.bump;
        let bytes = value_bytes(batch, row, range.clone());
        if !batch.bytes_are_whole(bytes) {
            return None;
        }
        let value = values(batch, row, range.clone(), bump)?;
        let before = row.before as usize;
        let [quality, source, revision, qualifier] =
            self.codes(batch, row, before + range.start..before + range.end, bump)?;
        let text = if row.series == TEXTS && decoder.with_texts {
            self.texts(batch, row, range, bump)?
        } else {
            TextPart::default()
        };
        (ts_ms.len() == value.len()).then_some(SeriesPart {
            ts_ms,
            value,
            quality,
            source,
            revision,
            qualifier,
            text,
        })
    }

    /// Returns the bytes of the texts of a row of the file.
    fn text_bytes<'b>(&self, batch: &'b PackedBatch, row: &PackedRow) -> &'b [u8] {
        let of = self.chunks[row.chunk as usize].row as usize;
        match &batch.text {
            Some(text) if row.series == TEXTS => text.of(of),
            _ => &[],
        }
    }

    fn texts<'s>(
        &'s self,
        batch: &'s PackedBatch,
        row: &PackedRow,
        range: Range<usize>,
        bump: &'s Bump,
    ) -> Option<TextPart<'s>> {
        let bytes = self.text_bytes(batch, row);
        let (ends, texts) =
            batch.is_whole(bytes).then(|| decompress(bytes, row.len as usize))??;
        let all = TextPart::new(bump.alloc_slice_copy(&ends), bump.alloc_str(&texts));
        Some(all.range(range))
    }

    /// Returns the verdicts, sources, revisions and qualifiers of some readings of the row of the
    /// file.
    fn codes<'s>(
        &'s self,
        batch: &PackedBatch,
        row: &PackedRow,
        wanted: Range<usize>,
        bump: &'s Bump,
    ) -> Option<[&'s [u8]; 4]> {
        let chunk = &self.chunks[row.chunk as usize];
        let runs = batch.verdict.at(chunk.row as usize);
        let (counts, codes) = (&batch.count[runs.clone()], &batch.verdict.items[runs]);
        if !batch.is_whole(counts) || !batch.is_whole(codes) {
            return None;
        }
        let mut found: [&mut [u8]; 4] = Default::default();
        let (mut kind, mut at) = (0, 0);
        for (&count, &code) in counts.iter().zip(codes) {
            let out = found.get_mut(kind)?;
            let end = at + usize::from(count);
            let (from, to) = (at.max(wanted.start), end.min(wanted.end));
            if from < to {
                if out.is_empty() {
                    *out = bump.alloc_slice_fill_copy(wanted.len(), code);
                } else {
                    out[from - wanted.start..to - wanted.start].fill(code);
                }
            }
            at = end;
            if at == chunk.readings as usize {
                (kind, at) = (kind + 1, 0);
            }
        }
        (kind == 4 && at == 0).then(|| found.map(|codes| &*codes))
    }
}

fn time_of(chunk: &Chunk, batch: &PackedBatch, offset: i32) -> i64 {
    let step_ms = i64::from(batch.step_ms[chunk.row as usize]);
    chunk.first_ms.wrapping_add(step_ms * i64::from(offset))
}

fn values<'s>(
    batch: &'s PackedBatch,
    row: &PackedRow,
    range: Range<usize>,
    bump: &'s Bump,
) -> Option<&'s [f64]> {
    let scale = SCALES.get(usize::from(row.scale))?;
    let (at, len) = (row.value_at as usize + range.start, range.len());
    let base = i32::from(row.base);
    let numbers = match row.width {
        Width::Same => {
            let mut value = [f64::from(base)];
            scale.apply(&mut value);
            return Some(bump.alloc_slice_fill_copy(len, value[0]));
        }
        Width::Byte => {
            let bytes = &batch.byte.items[at..at + len];
            bump.alloc_slice_fill_with(len, |i| f64::from(base + i32::from(bytes[i])))
        }
        Width::Short => {
            let numbers = &batch.short.items[at..at + len];
            bump.alloc_slice_fill_with(len, |i| f64::from(numbers[i]))
        }
        Width::Int => {
            let numbers = &batch.int.items[at..at + len];
            bump.alloc_slice_fill_with(len, |i| f64::from(numbers[i]))
        }
        Width::Double => return Some(&batch.double.items[at..at + len]),
        Width::Table => {
            let table = table(batch, row);
            if !batch.is_whole(table) {
                return None;
            }
            let places = &batch.byte.items[at..at + len];
            let mut values = BumpVec::with_capacity_in(len, bump);
            for &place in places {
                values.push(*table.get(usize::from(place))?);
            }
            return Some(values.into_bump_slice());
        }
    };
    scale.apply(numbers);
    Some(numbers)
}

fn table<'b>(batch: &'b PackedBatch, row: &PackedRow) -> &'b [f64] {
    let count = if row.width == Width::Table { row.base as usize } else { 0 };
    &batch.double.items[row.table_at as usize..][..count]
}

/// Returns which bytes of the file hold values of a row.
fn value_bytes(batch: &PackedBatch, row: &PackedRow, range: Range<usize>) -> Range<usize> {
    let at = row.value_at as usize;
    let at = at + range.start..at + range.end;
    match row.width {
        Width::Same => 0..0,
        Width::Byte | Width::Table => batch.bytes_of(&batch.byte.items[at]),
        Width::Short => batch.bytes_of(&batch.short.items[at]),
        Width::Int => batch.bytes_of(&batch.int.items[at]),
        Width::Double => batch.bytes_of(&batch.double.items[at]),
    }
}

/// Returns which bytes of the file hold the table of a row, and the places of its times.
fn other_bytes(batch: &PackedBatch, row: &PackedRow) -> [Range<usize>; 2] {
    let (at, count) = (row.present_at as usize, row.len as usize);
    let places = if row.presence == Presence::Places { at..at + count } else { 0..0 };
    [batch.bytes_of(table(batch, row)), batch.bytes_of(&batch.short.items[places])]
}
