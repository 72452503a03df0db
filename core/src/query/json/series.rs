//! Writes the readings of one series.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use super::readings::{LOCAL, escaped};
use super::verdict::VerdictMembers;
use crate::query::{AnswerForm, ObservationSeries, SeriesReading};
use crate::time::{InstantWriter, LocalClock};

/// Writes the readings of one variable at one station as JSON.
///
/// ```
/// use mesonet::query::json::SeriesWriter;
/// use mesonet::query::observation_series;
/// use mesonet::{ClosedWindow, MemoryStore, StationId, Variable};
/// let (store, id) = (MemoryStore::default(), StationId::new("METAR", "CYYZ"));
/// let window = ClosedWindow::new(0, 86_400_000)?;
/// if let Some(series) = observation_series(&store, id, &Variable::Mslp.into(), window)? {
///     let mut text = Vec::new();
///     let mut writer = SeriesWriter::new(series)?;
///     while !writer.write(&mut text, 64 * 1024) {}
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct SeriesWriter {
    readings: Vec<SeriesReading>,
    /// From the start of the answer to its readings.
    head: Vec<u8>,
    /// From the end of the value to the series' own fields.
    verdicts: &'static VerdictMembers,
    /// From there to the end of the reading, by series.
    series: Vec<String>,
    instants: InstantWriter,
    /// By time: the member for the text of the report, with a comma before it.
    texts: BTreeMap<i64, String>,
    clock: Option<Arc<LocalClock>>,
    local_instants: InstantWriter,
    next: usize,
}

/// The end of an answer without readings.
const END: &[u8] = b"]}";

impl SeriesWriter {
    /// Creates a writer for an answer.
    ///
    /// # Errors
    /// `serde_json` cannot write the fields before the readings.
    pub fn new(answer: ObservationSeries) -> io::Result<Self> {
        Self::in_form(answer, &AnswerForm::default())
    }

    /// Creates a writer for an answer in other units, or with local times.
    ///
    /// # Errors
    /// `serde_json` cannot write the fields before the readings.
    ///
    /// ```
    /// use mesonet::query::json::SeriesWriter;
    /// use mesonet::query::{AnswerForm, AnswerUnits, ObservationSeries, UnitSystem};
    /// use mesonet::StationId;
    /// let station = StationId::new("METAR", "CYYZ");
    /// let answer = ObservationSeries { station, series: Vec::new(), readings: Vec::new() };
    /// let form = AnswerForm { units: Some(AnswerUnits::of(UnitSystem::Us)), clock: None };
    /// let mut text = Vec::new();
    /// assert!(SeriesWriter::in_form(answer, &form)?.write(&mut text, usize::MAX));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn in_form(mut answer: ObservationSeries, form: &AnswerForm) -> io::Result<Self> {
        let mut readings = std::mem::take(&mut answer.readings);
        let mut head = serde_json::to_vec(&answer.formed(form))?;
        if form.units.is_some() {
            let units: Vec<_> = answer.series.iter().map(|of| form.unit(&of.series.key)).collect();
            for reading in &mut readings {
                reading.value = units[reading.series as usize].value(reading.value);
            }
        }
        head.truncate(head.len() - END.len());
        let series = answer.series.iter().map(|known| {
            let key = &known.series.key;
            let unit = form
                .symbol(key)
                .map_or(String::new(), |unit| format!(",\"unit\":\"{}\"", escaped(&unit)));
            let calculated = key.calculated;
            if key.bucket.is_empty() {
                return Ok(format!("{unit},\"calculated\":{calculated}}}"));
            }
            let bucket = serde_json::to_string(&key.bucket)?;
            Ok(format!("{unit},\"calculated\":{calculated},\"groupBucketName\":{bucket}}}"))
        });
        Ok(Self {
            series: series.collect::<io::Result<_>>()?,
            verdicts: VerdictMembers::of_all(),
            instants: InstantWriter::default(),
            texts: BTreeMap::new(),
            clock: form.clock_of(answer.station).cloned(),
            local_instants: InstantWriter::default(),
            readings,
            head,
            next: 0,
        })
    }

    /// Gives each reading the text of the report of its time, as its last member, `reportText`; a
    /// reading without one has none.
    ///
    /// # Errors
    /// `serde_json` cannot write a text.
    pub fn with_report_texts(mut self, texts: BTreeMap<i64, String>) -> io::Result<Self> {
        let member = |(ts_ms, text): (i64, String)| {
            Ok((ts_ms, format!(",\"reportText\":{}", serde_json::to_string(&text)?)))
        };
        self.texts = texts.into_iter().map(member).collect::<io::Result<_>>()?;
        Ok(self)
    }

    /// Returns how many bytes of memory the answer takes.
    pub fn held_bytes(&self) -> usize {
        let texts: usize = self.texts.values().map(|text| text.len() + 64).sum();
        self.readings.capacity() * size_of::<SeriesReading>() + texts
    }

    /// Continues writing until the text is at least `until_bytes` long or the answer ends; returns
    /// whether it ended.
    pub fn write(&mut self, text: &mut Vec<u8>, until_bytes: usize) -> bool {
        text.append(&mut self.head);
        while let Some(reading) = self.readings.get(self.next) {
            if self.next > 0 {
                text.push(b',');
            }
            text.extend_from_slice(b"{\"timestamp\":\"");
            self.instants.write(reading.ts_ms, text);
            if let Some(clock) = &self.clock {
                text.extend_from_slice(LOCAL);
                clock.write(reading.ts_ms, &mut self.local_instants, text);
            }
            text.extend_from_slice(b"\",\"value\":");
            // A store holds finite values only.
            text.extend_from_slice(zmij::Buffer::new().format(reading.value).as_bytes());
            self.verdicts.write(reading.quality, reading.qualifier, text);
            text.extend_from_slice(self.series[reading.series as usize].as_bytes());
            if let Some(member) = self.texts.get(&reading.ts_ms) {
                text.pop(); // the brace that ends the reading
                text.extend_from_slice(member.as_bytes());
                text.push(b'}');
            }
            self.next += 1;
            if text.len() >= until_bytes {
                return false;
            }
        }
        text.extend_from_slice(END);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observation::{
        BaseQuality, IntervalType, Qualifier, Quality, ReasonQuality, Series, SeriesKey, StationId,
        Variable,
    };
    use crate::store::StationSeries;

    #[test]
    fn a_reading_has_the_text_of_the_report_of_its_time() {
        let key = SeriesKey::new(Variable::AirTemperature, IntervalType::Instantaneous, 0);
        let known = StationSeries { series: Series::from(key).into(), first_appearance_ms: 0 };
        let reading = |ts_ms| SeriesReading {
            ts_ms,
            value: 1.0,
            series: 0,
            quality: Quality::UNCHECKED,
            qualifier: None,
        };
        let answer = ObservationSeries {
            station: StationId::new("TEST", "A"),
            series: vec![known],
            readings: vec![reading(0), reading(60_000)],
        };
        let without = serde_json::to_string(&answer).unwrap();
        let texts = BTreeMap::from([(60_000, "A \"q\" \\ é".to_owned()), (90_000, "B".to_owned())]);
        let mut writer = SeriesWriter::new(answer).unwrap().with_report_texts(texts).unwrap();
        let mut text = Vec::new();
        assert!(writer.write(&mut text, usize::MAX));
        let expected = without.replace("}]}", ",\"reportText\":\"A \\\"q\\\" \\\\ é\"}]}");
        assert_eq!(String::from_utf8(text).unwrap(), expected);
    }

    #[test]
    fn the_bytes_are_those_of_the_library_in_pieces_of_any_length() {
        let wind = SeriesKey::new(Variable::WindSpeed, IntervalType::Average, 2);
        let keys = [
            wind.clone(),
            wind.clone().calculated(),
            SeriesKey { bucket: "a \"b\"".into(), ..wind },
        ];
        let known = |key: SeriesKey| StationSeries {
            series: Series::from(key).into(),
            first_appearance_ms: 60_000,
        };
        let reading = |i: u32| SeriesReading {
            ts_ms: i64::from(i) * 12_345_678_901 - 1,
            value: f64::from(i) / 7.0 - 1e-7,
            series: i % 3,
            quality: Quality {
                base: BaseQuality::ALL[i as usize % 8],
                reason: ReasonQuality::ALL[i as usize % 14],
            },
            qualifier: Qualifier::of_code(i as u8 % 4),
        };
        for count in [0, 1, 2, 100] {
            let answer = ObservationSeries {
                station: StationId::new("TEST", "A"),
                series: keys.clone().map(known).to_vec(),
                readings: (0..count).map(reading).collect(),
            };
            let expected = serde_json::to_string(&answer).unwrap();
            for until_bytes in [1, 500, usize::MAX] {
                let mut writer = SeriesWriter::new(answer.clone()).unwrap();
                let mut whole = Vec::new();
                loop {
                    let mut piece = Vec::new();
                    let last = writer.write(&mut piece, until_bytes);
                    assert!(last || piece.len() >= until_bytes);
                    whole.append(&mut piece);
                    if last {
                        break;
                    }
                }
                assert_eq!(String::from_utf8(whole).unwrap(), expected);
            }
        }
    }
}
