//! The readings of a series, as slices.

use super::SummaryError;
use crate::lengths::check_lengths;
use crate::observation::{BaseQuality, QualityCode, Series};
use crate::time::HalfOpenWindow;

use super::rules::{Role, Rules, is_by_interval};

/// The readings of one series at a station: columns of one length, ascending in time.
///
/// ```
/// use mesonet::summary::SeriesColumns;
/// use mesonet::observation::QualityCode;
/// use mesonet::{IntervalType, Quality, Series, SeriesKey, Variable};
/// let air = Series::from(SeriesKey::new(Variable::AirTemperature, IntervalType::Instantaneous, 0));
/// let good = [QualityCode::from(Quality::GOOD); 2];
/// let columns = SeriesColumns::new(&air, &[0, 60_000], &[20.5, 21.0], &good, &[0; 2])?;
/// assert_eq!(columns.series().key.variable, Variable::AirTemperature);
/// let error = SeriesColumns::new(&air, &[60_000, 0], &[20.5, 21.0], &good, &[0; 2]).unwrap_err();
/// assert_eq!(error.to_string(), "times must ascend; reading 1 is earlier than the one before");
/// # Ok::<(), mesonet::summary::SummaryError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct SeriesColumns<'a> {
    pub(super) series: &'a Series,
    pub(super) ts_ms: &'a [i64],
    pub(super) value: &'a [f64],
    pub(super) quality: &'a [QualityCode],
    pub(super) qualifier: &'a [u8],
}

impl<'a> SeriesColumns<'a> {
    /// Takes times in milliseconds since 1970, values in the unit of the series, verdicts, and the
    /// codes of qualifiers ([`Qualifier::code`](crate::observation::Qualifier::code)).
    ///
    /// # Errors
    /// The columns differ in length, or a time is earlier than the one before.
    pub fn new(
        series: &'a Series,
        ts_ms: &'a [i64],
        value: &'a [f64],
        quality: &'a [QualityCode],
        qualifier: &'a [u8],
    ) -> Result<Self, SummaryError> {
        check_lengths(&[
            ("times", ts_ms.len()),
            ("values", value.len()),
            ("verdicts", quality.len()),
            ("qualifiers", qualifier.len()),
        ])
        .map_err(SummaryError::Lengths)?;
        match ts_ms.windows(2).position(|pair| pair[0] > pair[1]) {
            Some(at) => Err(SummaryError::Order { reading: at + 1 }),
            None => Ok(Self { series, ts_ms, value, quality, qualifier }),
        }
    }

    /// Returns the series.
    pub fn series(&self) -> &'a Series {
        self.series
    }

    /// The readings of a role that count in a window, with those that are rejected.
    pub(super) fn in_window(
        self,
        window: HalfOpenWindow,
        role: Role,
        rules: Rules,
    ) -> impl Iterator<Item = WindowReading> + use<'a> {
        let (start_ms, end_ms) = (window.start_ms(), window.end_ms());
        let key = &self.series.key;
        let by_interval = is_by_interval(key, role);
        let (first_ms, last_ms) = if by_interval {
            (start_ms.saturating_sub(rules.nominal_ms), end_ms.saturating_add(rules.nominal_ms))
        } else {
            (start_ms, end_ms - 1)
        };
        let first = self.ts_ms.partition_point(|&ts_ms| ts_ms < first_ms);
        let last = self.ts_ms.partition_point(|&ts_ms| ts_ms <= last_ms);
        (first..last.max(first)).filter_map(move |at| {
            let ts_ms = self.ts_ms[at];
            let interval_ms = if by_interval {
                let (from_ms, to_ms) = rules.interval_ms(key, ts_ms);
                if from_ms < start_ms || to_ms > end_ms {
                    return None;
                }
                (from_ms, to_ms)
            } else {
                (ts_ms, ts_ms)
            };
            let is_usable =
                self.quality[at].quality().base > BaseQuality::Error && self.value[at].is_finite();
            Some(WindowReading { at, ts_ms, value: self.value[at], interval_ms, is_usable })
        })
    }
}

/// A reading in a window.
#[derive(Clone, Copy, Debug)]
pub(super) struct WindowReading {
    pub at: usize,
    pub ts_ms: i64,
    pub value: f64,
    /// Start and end of its interval; the time twice if it counts at its time.
    pub interval_ms: (i64, i64),
    /// Whether it is not rejected.
    pub is_usable: bool,
}
