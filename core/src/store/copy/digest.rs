//! Counts and checksums of readings.

use std::fmt;

use super::sums::{self, Sum};
use crate::store::{SeriesSlice, StoredReport};

/// Counts and a checksum of readings.
///
/// The checksum covers series, time, value, verdict, the verdict that a reading came in with, revision
/// and qualifier of every reading, and time, revision and words of every report of the weather,
/// and heading and content of every text of a report. It does not depend on their order, and is the same for every store and in every build.
///
/// ```
/// use mesonet::store::copy::Digest;
/// let digest = Digest { readings: 12, weather: 1, texts: 0, checksum: 0x9f };
/// assert_eq!(digest.to_string(), "12 readings, 1 reports of the weather, checksum 000000000000009f");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Digest {
    /// Number of readings.
    pub readings: u64,
    /// Number of reports of the weather.
    pub weather: u64,
    /// Number of texts of reports.
    pub texts: u64,
    /// Checksum over all of them.
    pub checksum: u64,
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { readings, weather, texts, checksum } = self;
        write!(f, "{readings} readings, {weather} reports of the weather, ")?;
        if *texts > 0 {
            write!(f, "{texts} texts of reports, ")?;
        }
        write!(f, "checksum {checksum:016x}")
    }
}

impl Digest {
    /// Adds a slice of readings.
    pub(super) fn add(&mut self, slice: &SeriesSlice<'_>) {
        let mut sum = Sum(self.checksum);
        for at in 0..slice.ts_ms.len() {
            sum += reading_sum(slice, at);
        }
        self.checksum = sum.0;
        self.readings += slice.ts_ms.len() as u64;
    }

    /// Adds a report of the weather.
    pub(super) fn add_weather(&mut self, ts_ms: i64, revision: u8, words: &[String]) {
        let mut sum = Sum(self.checksum);
        sum += sums::weather(ts_ms, revision, words);
        self.checksum = sum.0;
        self.weather += 1;
    }

    /// Adds the text of a report.
    pub(super) fn add_text(&mut self, kept: &StoredReport<'_>) {
        let mut sum = Sum(self.checksum);
        sum += sums::text(kept);
        self.checksum = sum.0;
        self.texts += 1;
    }

    pub(super) fn join(&mut self, other: &Self) {
        self.readings += other.readings;
        self.weather += other.weather;
        self.texts += other.texts;
        self.checksum = self.checksum.wrapping_add(other.checksum);
    }
}

/// The checksum of a reading of a slice.
pub(super) fn reading_sum(slice: &SeriesSlice<'_>, at: usize) -> u64 {
    let (quality, source) = (slice.quality[at].0, slice.source[at].0);
    let codes = [quality, source, slice.revision[at], slice.qualifier[at]];
    sums::reading(slice.series.id.0, slice.ts_ms[at], slice.value[at], codes)
}
