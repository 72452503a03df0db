//! The summary of a month, from those of its days.

use super::{Coverage, DegreeDays, Extreme, Mean, Summary, Total, VariableSummary, WindSummary};
use crate::observation::Qualifier;
use crate::time::HalfOpenWindow;

impl Summary {
    /// Adds the summary of a day to that of its month; the days come in order.
    ///
    /// The maximum of a month is the greatest of the days', so an extreme of six hours that goes over
    /// a midnight counts neither for its days nor for the month. Means are those of the days, totals
    /// and degree days are sums.
    ///
    /// ```
    /// use mesonet::HalfOpenWindow;
    /// use mesonet::summary::Summary;
    /// use mesonet::time::DAY_MS;
    /// let mut month = Summary::begin(HalfOpenWindow::new(0, 31 * DAY_MS)?);
    /// for day in 0..31 {
    ///     month.add(&Summary::begin(HalfOpenWindow::new(day * DAY_MS, (day + 1) * DAY_MS)?));
    /// }
    /// assert!(month.is_empty(), "nothing is known of any day");
    /// # Ok::<(), mesonet::time::TimeError>(())
    /// ```
    pub fn add(&mut self, day: &Self) {
        let window = self.window;
        for of_day in &day.variables {
            let at = self.variables.partition_point(|of| of.variable < of_day.variable);
            if self.variables.get(at).is_none_or(|of| of.variable != of_day.variable) {
                self.variables.insert(at, VariableSummary::new(of_day.variable));
            }
            self.variables[at].add(of_day, window);
        }
        match (&mut self.wind, &day.wind) {
            (Some(wind), Some(of_day)) => wind.add_day(of_day, window),
            (wind @ None, Some(of_day)) => *wind = Some(of_day.begin_month(window)),
            (_, None) => {}
        }
        match (&mut self.degree_days, &day.degree_days) {
            (Some(sum), Some(of_day)) => sum.add_day(of_day, window),
            (sum @ None, Some(of_day)) => {
                let coverage = of_day.coverage.in_window(window);
                *sum = Some(DegreeDays { coverage, ..*of_day });
            }
            (_, None) => {}
        }
    }
}

impl Coverage {
    fn in_window(self, window: HalfOpenWindow) -> Self {
        Self::of(self.minutes, window)
    }

    fn plus(self, other: Self, window: HalfOpenWindow) -> Self {
        Self::of(self.minutes + other.minutes, window)
    }
}

impl VariableSummary {
    fn add(&mut self, day: &Self, window: HalfOpenWindow) {
        self.count += day.count;
        self.rejected += day.rejected;
        add_extreme(&mut self.max, day.max, window, |of_day, known| of_day > known);
        add_extreme(&mut self.min, day.min, window, |of_day, known| of_day < known);
        add_term(&mut self.mean, day.mean, window);
        add_term(&mut self.mean_of_max, day.max.map(|max| Mean::of_extreme(&max)), window);
        add_term(&mut self.mean_of_min, day.min.map(|min| Mean::of_extreme(&min)), window);
        match (&mut self.total, &day.total) {
            (Some(total), Some(of_day)) => total.add_day(of_day, window),
            (total @ None, Some(of_day)) => {
                let coverage = of_day.coverage.in_window(window);
                *total = Some(Total { coverage, parts: 0..0, ..of_day.clone() });
            }
            (_, None) => {}
        }
    }
}

fn add_extreme(
    known: &mut Option<Extreme>,
    day: Option<Extreme>,
    window: HalfOpenWindow,
    is_beyond: impl Fn(f64, f64) -> bool,
) {
    let Some(day) = day else { return };
    let (best, coverage) = match *known {
        None => (day, day.coverage.in_window(window)),
        Some(known) => {
            let best = if is_beyond(day.value, known.value) { day } else { known };
            (best, known.coverage.plus(day.coverage, window))
        }
    };
    *known = Some(Extreme { coverage, ..best });
}

impl Mean {
    fn of_extreme(extreme: &Extreme) -> Self {
        let ts_ms = extreme.from.ts_ms;
        Self {
            sum: extreme.value,
            terms: 1,
            readings: 1,
            first_ms: ts_ms,
            last_ms: ts_ms,
            quality: extreme.quality,
            coverage: extreme.coverage,
        }
    }
}

/// Adds the mean of a day to that of the month: one more term.
fn add_term(known: &mut Option<Mean>, day: Option<Mean>, window: HalfOpenWindow) {
    let Some(day) = day else { return };
    *known = Some(match *known {
        None => {
            let coverage = day.coverage.in_window(window);
            Mean { sum: day.value(), terms: 1, coverage, ..day }
        }
        Some(known) => Mean {
            sum: known.sum + day.value(),
            terms: known.terms + 1,
            readings: known.readings + day.readings,
            first_ms: known.first_ms.min(day.first_ms),
            last_ms: known.last_ms.max(day.last_ms),
            quality: known.quality.worse(day.quality),
            coverage: known.coverage.plus(day.coverage, window),
        },
    });
}

impl Total {
    fn add_day(&mut self, day: &Self, window: HalfOpenWindow) {
        self.value += day.value;
        let has_trace = self.qualifier.or(day.qualifier) == Some(Qualifier::Trace);
        self.qualifier = (self.value == 0.0 && has_trace).then_some(Qualifier::Trace);
        self.readings += day.readings;
        self.first_ms = self.first_ms.min(day.first_ms);
        self.last_ms = self.last_ms.max(day.last_ms);
        self.quality = self.quality.worse(day.quality);
        self.coverage = self.coverage.plus(day.coverage, window);
    }
}

impl WindSummary {
    fn begin_month(&self, window: HalfOpenWindow) -> Self {
        let mut month = self.clone();
        month.coverage = self.coverage.in_window(window);
        if let Some(peak) = &mut month.peak {
            peak.speed.coverage = peak.speed.coverage.in_window(window);
        }
        month
    }

    fn add_day(&mut self, day: &Self, window: HalfOpenWindow) {
        self.readings += day.readings;
        self.calm += day.calm;
        self.variable += day.variable;
        for (sum, of_day) in self.sectors.iter_mut().zip(day.sectors) {
            *sum += of_day;
        }
        for (sum, of_day) in self.sector_kmh.iter_mut().zip(day.sector_kmh) {
            *sum += of_day;
        }
        for (sum, of_day) in self.vector_kmh.iter_mut().zip(day.vector_kmh) {
            *sum += of_day;
        }
        self.quality = self.quality.worse(day.quality);
        self.coverage = self.coverage.plus(day.coverage, window);
        self.peak = match (self.peak, day.peak) {
            (Some(known), Some(of_day)) => {
                let coverage = known.speed.coverage.plus(of_day.speed.coverage, window);
                let mut best = if of_day.speed.value > known.speed.value { of_day } else { known };
                best.speed.coverage = coverage;
                Some(best)
            }
            (known, of_day) => known.or(of_day).map(|mut peak| {
                peak.speed.coverage = peak.speed.coverage.in_window(window);
                peak
            }),
        };
    }
}

impl DegreeDays {
    fn add_day(&mut self, day: &Self, window: HalfOpenWindow) {
        self.heating += day.heating;
        self.cooling += day.cooling;
        self.days += day.days;
        self.quality = self.quality.worse(day.quality);
        self.coverage = self.coverage.plus(day.coverage, window);
    }
}
