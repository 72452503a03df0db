//! Formats readings for tests that check what a reader made of a report.

use mesonet::feed::FeedReport;

/// Returns `variable type minutes value unit verdict` of each reading.
pub fn shown(item: &FeedReport) -> Vec<String> {
    let readings = item.report.readings.iter().map(|reading| {
        let series = &reading.series;
        format!(
            "{} {} {} {} {} {}",
            series.variable,
            series.interval_type,
            series.interval_minutes,
            reading.value,
            series.reported_unit,
            reading.quality.base
        )
    });
    readings.collect()
}
