//! A chunk of a copy: a batch and its verdicts.

use crate::observation::{Batch, Qualifier, Reading, Report, ReportText, StationId};
use crate::store::{SeriesSlice, StoredReport, Verdicts};

/// Readings on their way into the copy.
#[derive(Debug, Default)]
pub(super) struct Chunk {
    pub batch: Batch,
    pub verdicts: Vec<Verdicts>,
    /// Number of readings, of reports of the weather, and of texts of reports.
    pub content: u64,
}

/// The readings of one series that are not in a chunk yet.
struct Head<'s, 'a> {
    /// Slices of the series; the first has the next reading.
    slices: &'s [SeriesSlice<'a>],
    at: usize,
}

impl Head<'_, '_> {
    fn ts_ms(&self) -> Option<i64> {
        Some(self.slices.first()?.ts_ms[self.at])
    }

    fn step(&mut self) {
        self.at += 1;
        if self.slices.first().is_some_and(|slice| slice.ts_ms.len() == self.at) {
            self.slices = &self.slices[1..];
            self.at = 0;
        }
    }
}

impl Chunk {
    /// Adds the readings of a station as reports, by time and revision. Calls `look` after each, which
    /// may take the chunk.
    ///
    /// A verdict is added if it differs from the verdict that the reading came in with; if the copy
    /// may have other verdicts, every verdict is added.
    pub(super) fn add<E>(
        &mut self,
        station: StationId,
        slices: &[SeriesSlice<'_>],
        all_verdicts: bool,
        look: &mut dyn FnMut(&mut Self) -> Result<(), E>,
    ) -> Result<(), E> {
        let of_series = slices.chunk_by(|one, next| one.series.id == next.series.id);
        let mut heads: Vec<_> = of_series.map(|slices| Head { slices, at: 0 }).collect();
        while let Some(ts_ms) = heads.iter().filter_map(Head::ts_ms).min() {
            let from = self.batch.reports.len();
            for head in &mut heads {
                if head.ts_ms() == Some(ts_ms) {
                    self.put(station, &head.slices[0], head.at, from, all_verdicts);
                    head.step();
                }
            }
            self.batch.reports[from..].sort_by_key(|report| report.revision);
            look(self)?;
        }
        Ok(())
    }

    /// Adds a reading to the report of its revision, among the reports from a position on.
    fn put(
        &mut self,
        station: StationId,
        slice: &SeriesSlice<'_>,
        at: usize,
        from: usize,
        all_verdicts: bool,
    ) {
        let (ts_ms, revision) = (slice.ts_ms[at], slice.revision[at]);
        let (quality, source) = (slice.quality[at], slice.source[at]);
        let reading = Reading {
            series: slice.series.key.clone(),
            value: slice.value[at],
            quality: source.quality(),
            qualifier: Qualifier::of_code(slice.qualifier[at]),
        };
        let of_revision =
            self.batch.reports[from..].iter_mut().find(|report| report.revision == revision);
        if let Some(report) = of_revision {
            report.readings.push(reading);
        } else {
            let readings = vec![reading];
            let report =
                Report { station, ts_ms, revision, present_weather: None, text: None, readings };
            self.batch.reports.push(report);
        }
        self.content += 1;
        if all_verdicts || quality != source {
            let (series, quality) = (slice.series.id, quality.quality());
            // The last series of the station may be several back.
            let own = self.verdicts.iter_mut().rev().take_while(|of| of.station == station);
            if let Some(of) = own.into_iter().find(|of| of.series == series) {
                of.ts_ms.push(ts_ms);
                of.quality.push(quality);
            } else {
                let (ts_ms, quality) = (vec![ts_ms], vec![quality]);
                self.verdicts.push(Verdicts { station, series, ts_ms, quality });
            }
        }
    }

    /// Adds what a report says of the weather.
    pub(super) fn add_weather(
        &mut self,
        station: StationId,
        ts_ms: i64,
        revision: u8,
        words: &[String],
    ) {
        let present_weather = Some(words.to_vec());
        let (text, readings) = (None, Vec::new());
        let report = Report { station, ts_ms, revision, present_weather, text, readings };
        self.batch.reports.push(report);
        self.content += 1;
    }

    /// Adds the text of a report.
    pub(super) fn add_text(&mut self, station: StationId, kept: &StoredReport<'_>) {
        let StoredReport { ts_ms, revision, header, text } = *kept;
        let text = ReportText::new(text, header);
        let (present_weather, readings) = (None, Vec::new());
        let report = Report { station, ts_ms, revision, present_weather, text, readings };
        self.batch.reports.push(report);
        self.content += 1;
    }
}
