//! Copying: the original is read in windows of time, and written in chunks.

use std::hash::Hasher;
use std::sync::Arc;

use super::chunk::Chunk;
use super::compare::Comparison;
use super::mark::{CopyPosition, Mark, NOTE, Unfinished};
use super::sums::Fnv;
use super::walk::{WindowWalk, is_too_long, keeps_texts, span_ms};
use super::{CopyError, Duplicate, Original, ReferenceData};
use crate::observation::{Batch, Report, StationId, Variable};
use crate::store::{Damage, Selection, no_verdicts};
use crate::time::ClosedWindow;

/// Readings of a chunk. Each takes about 200 bytes while it is copied.
const CHUNK: u64 = 200_000;

/// Stations that are described in one batch.
const STATIONS_AT_ONCE: usize = 10_000;

/// A copy that is being made.
///
/// It holds a chunk of 200,000 readings in memory, in addition to what the stores need: a store may
/// hold the readings of one station over 32 days while it is read.
pub struct Copying<'a> {
    from: &'a dyn Original,
    to: &'a dyn Duplicate,
    /// The name of the original.
    of: String,
    reference: ReferenceData,
    /// A number that identifies this state of the original.
    state: u64,
    has_changed: bool,
    /// Whether both keep texts of reports.
    with_texts: bool,
    at: CopyPosition,
    chunk: Chunk,
    chunk_content: u64,
}

impl<'a> Copying<'a> {
    /// Begins a copy in an empty store, or goes on with an unfinished copy of the same original.
    /// From now until [`finish`](Self::finish), the store is marked as an unfinished copy.
    ///
    /// If the original has changed since, it is read again from its beginning; readings already in
    /// the copy are not written again.
    ///
    /// # Errors
    /// The store holds something else, or a store cannot be read or written.
    pub fn begin(
        from: &'a dyn Original,
        to: &'a dyn Duplicate,
        of: &str,
    ) -> Result<Self, CopyError> {
        let reference = from.reference_data()?;
        let state = state_of(&reference);
        let mark = to.note(NOTE)?.map(|text| Mark::parse(&text)).transpose()?;
        let stations = to.directory()?.stations.len();
        let (at, has_changed) = match mark {
            Some(Mark::Unfinished(known)) if known.of != of => {
                return Err(CopyError::OtherCopy { of: known.of });
            }
            Some(Mark::Unfinished(known)) if known.state == state => (known.at, known.has_changed),
            Some(Mark::Unfinished(_)) => (CopyPosition::default(), true),
            None if stations == 0 => (CopyPosition::default(), false),
            None => return Err(CopyError::Occupied { stations }),
            Some(Mark::Verified { of, .. }) => return Err(CopyError::Finished { of }),
        };
        let (of, chunk) = (of.to_owned(), Chunk::default());
        let chunk_content = CHUNK;
        let with_texts = keeps_texts(from)? && keeps_texts(to)?;
        let copying = Self {
            from,
            to,
            of,
            reference,
            state,
            has_changed,
            with_texts,
            at,
            chunk,
            chunk_content,
        };
        copying.note()?;
        Ok(copying)
    }

    /// The approximate number of readings and weather reports in the original.
    pub fn expected(&self) -> u64 {
        self.reference.readings
    }

    /// How many of them have been copied, including by earlier runs.
    pub fn done(&self) -> u64 {
        self.at.done
    }

    /// Copies all that is left. `progress` receives [`done`](Self::done) after each chunk.
    ///
    /// # Errors
    /// A store cannot be read or written, or the original is damaged. What was copied stays, and the
    /// copy can go on.
    pub fn run(&mut self, progress: &mut dyn FnMut(u64)) -> Result<(), CopyError> {
        self.copy_stations()?;
        let directory = Arc::clone(&self.reference.directory);
        let ids: Vec<StationId> =
            directory.stations.iter().map(|record| record.station.id).collect();
        let walk = WindowWalk::new(span_ms(&self.reference), self.chunk_content);
        let walk = match self.at.window {
            // The window that was begun is ended first.
            Some((start_ms, end_ms)) => {
                if let Ok(window) = ClosedWindow::new(start_ms, end_ms) {
                    self.copy_window(&ids, window, progress)?;
                }
                end_ms.checked_add(1).map(|next_ms| walk.from(next_ms))
            }
            None => Some(walk),
        };
        if let Some(walk) = walk {
            walk.each(&mut |window| {
                self.at.station = None;
                self.at.window = Some((window.start_ms(), window.end_ms()));
                self.copy_window(&ids, window, progress)
            })?;
        }
        self.flush(progress)?;
        Ok(self.to.upkeep(true)?)
    }

    /// Marks the copy as finished.
    ///
    /// # Errors
    /// The copy differs from the original, or cannot be written.
    pub fn finish(self, comparison: &Comparison) -> Result<(), CopyError> {
        if !comparison.is_equal() {
            return Err(CopyError::Differs { differences: comparison.count });
        }
        let (of, summary) = (self.of, comparison.original.to_string());
        self.to.set_note(NOTE, &Mark::Verified { of, summary }.to_string())?;
        Ok(())
    }

    fn note(&self) -> Result<(), CopyError> {
        let Self { of, state, has_changed, at, .. } = self;
        let (of, state, has_changed, at) = (of.clone(), *state, *has_changed, *at);
        let mark = Mark::Unfinished(Unfinished { of, state, has_changed, at });
        Ok(self.to.set_note(NOTE, &mark.to_string())?)
    }

    /// Describes the stations, with the times and the weather of their last reports, which may be
    /// older than all readings.
    fn copy_stations(&self) -> Result<(), CopyError> {
        let ReferenceData { directory, weather_of, retain_from_ms, .. } = &self.reference;
        // A station's last weather stays known after retention has deleted its report, even if the
        // cutoff has gone back since. If its time is before the cutoff, it does not become a report
        // here. Reports on record come with their windows.
        if let Some(from_ms) = *retain_from_ms {
            let last_ms = weather_of.iter().flatten().map(|&(ts_ms, _)| ts_ms).max();
            self.to.retain(
                last_ms.map_or(from_ms, |last_ms| from_ms.max(last_ms.saturating_add(1))),
            )?;
        }
        let all = directory.stations.iter().zip(weather_of).collect::<Vec<_>>();
        for some in all.chunks(STATIONS_AT_ONCE) {
            let mut batch = Batch::default();
            for (record, weather_of) in some {
                let station = record.station.id;
                batch.stations.push(record.station.clone());
                let mut report = |ts_ms, revision, present_weather| {
                    let readings = Vec::new();
                    batch.reports.push(Report {
                        station,
                        ts_ms,
                        revision,
                        present_weather,
                        text: None,
                        readings,
                    });
                };
                if let Some(ts_ms) = record.update_time_ms {
                    report(ts_ms, 0, None);
                }
                if let Some((ts_ms, revision)) = **weather_of {
                    report(ts_ms, revision, record.present_weather.clone());
                }
            }
            self.to.append(&batch, &mut no_verdicts)?;
        }
        if let Some(from_ms) = *retain_from_ms {
            self.to.retain(from_ms)?;
        }
        self.to.appear(&directory.stations)?;
        Ok(())
    }

    /// Copies a window, or what is left of it; `None` if the window is too long for its content.
    fn copy_window(
        &mut self,
        ids: &[StationId],
        window: ClosedWindow,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Option<u64>, CopyError> {
        let from_place = self.at.station.map_or(0, |last| ids.partition_point(|id| *id <= last));
        let left = &ids[from_place..];
        let (from, all_verdicts) = (self.from, self.has_changed);
        let (mut found, mut failed) = (0, None);
        let selection = Selection { stations: left, variables: Variable::ALL, window };
        let damage = from.scan(&selection, &mut |i, slices| {
            if failed.is_some() || is_too_long(window) && found > 0 {
                return;
            }
            found += slices.iter().map(|slice| slice.ts_ms.len() as u64).sum::<u64>();
            if is_too_long(window) {
                return;
            }
            // The stations before this one are in the chunk.
            if i > 0 {
                self.at.station = Some(left[i - 1]);
            }
            let mut chunk = std::mem::take(&mut self.chunk);
            let added = chunk.add(left[i], slices, all_verdicts, &mut |chunk| {
                self.chunk = std::mem::take(chunk);
                let flushed = self.flush_if_full(progress);
                *chunk = std::mem::take(&mut self.chunk);
                flushed
            });
            self.chunk = chunk;
            failed = added.err();
        })?;
        intact(&damage)?;
        failed.take().map_or(Ok(()), Err)?;
        if found > 0 && is_too_long(window) {
            return Ok(None);
        }
        self.at.station = ids.last().copied();
        let damage = from.scan_weather(ids, window, &mut |i, ts_ms, revision, words| {
            found += 1;
            if failed.is_none() && !is_too_long(window) {
                self.chunk.add_weather(ids[i], ts_ms, revision, words);
                failed = self.flush_if_full(progress).err();
            }
        })?;
        intact(&damage)?;
        failed.take().map_or(Ok(()), Err)?;
        if self.with_texts {
            let damage = from.scan_reports(ids, window, &mut |i, kept| {
                found += 1;
                if failed.is_none() && !is_too_long(window) {
                    self.chunk.add_text(ids[i], kept);
                    failed = self.flush_if_full(progress).err();
                }
            })?;
            intact(&damage)?;
        }
        failed.map_or(Ok(()), Err)?;
        Ok(Some(found).filter(|&found| found == 0 || !is_too_long(window)))
    }

    fn flush_if_full(&mut self, progress: &mut dyn FnMut(u64)) -> Result<(), CopyError> {
        if self.chunk.content >= self.chunk_content { self.flush(progress) } else { Ok(()) }
    }

    /// Writes the chunk, and notes how far the copy has come. The chunk may be written again if the
    /// process is killed between the two; that changes nothing.
    fn flush(&mut self, progress: &mut dyn FnMut(u64)) -> Result<(), CopyError> {
        let Chunk { batch, mut verdicts, content } = std::mem::take(&mut self.chunk);
        if content > 0 {
            self.to.append(&batch, &mut |_| Ok(std::mem::take(&mut verdicts)))?;
        }
        drop(batch);
        self.to.upkeep(false)?;
        self.at.done += content;
        self.note()?;
        progress(self.at.done);
        Ok(())
    }

    /// Makes the chunks smaller, for tests.
    #[cfg(test)]
    pub(super) fn in_chunks_of(mut self, content: u64) -> Self {
        self.chunk_content = content;
        self
    }
}

fn intact(damage: &Damage) -> Result<(), CopyError> {
    match damage.blocks() {
        0 => Ok(()),
        blocks => Err(CopyError::Damaged { side: "original", blocks }),
    }
}

/// A number that identifies the state of a record, from its generation, the cutoff, and the
/// stations with the time of their last report.
fn state_of(reference: &ReferenceData) -> u64 {
    let mut hasher = Fnv::default();
    hasher.write_u64(reference.directory.generation);
    hasher.write_i64(reference.retain_from_ms.unwrap_or(i64::MIN));
    for record in reference.directory.stations.iter() {
        hasher.write(record.station.id.as_bytes());
        hasher.write_i64(record.update_time_ms.unwrap_or(i64::MIN));
    }
    hasher.finish()
}
