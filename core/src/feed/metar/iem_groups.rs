//! What several columns of an IEM row say together: the layers of cloud and the peak wind.

use super::iem_field::{instant, is_missing, text, value};
use super::series::peak_wind_report;
use super::sky::SkyCover;
use crate::feed::collect::{Measurement, ReadingCollector};
use crate::feed::summary::RefusalReason;
use crate::feed::text::csv_row::CsvRow;
use crate::observation::{Quality, Report, StationId, Variable};
use crate::time::MINUTE_MS;
use crate::unit::knots_to_kmh;

/// Cloud layers in a row.
const LAYERS: usize = 4;

/// One layer of a row, as far as it is given.
#[derive(Clone, Copy, Default)]
struct Layer {
    cover: Option<SkyCover>,
    base_ft: Option<f64>,
}

/// The positions of the columns `skyc1`, `skyl1` to `skyc4`, `skyl4`.
pub(super) struct SkyColumns([Option<(usize, usize)>; LAYERS]);

impl SkyColumns {
    pub(super) fn new(at: impl Fn(&str) -> Option<usize>) -> Self {
        Self(std::array::from_fn(|index| {
            at(&format!("skyc{}", index + 1)).zip(at(&format!("skyl{}", index + 1)))
        }))
    }

    pub(super) fn hold(&self, at: usize) -> bool {
        self.0.iter().flatten().any(|&(cover, base)| at == cover || at == base)
    }

    fn layers(&self, row: &CsvRow) -> Result<[Layer; LAYERS], RefusalReason> {
        let mut layers = [Layer::default(); LAYERS];
        for (layer, columns) in layers.iter_mut().zip(&self.0) {
            if let &Some((cover, base)) = columns {
                layer.cover = SkyCover::read(text(row, cover)?.as_bytes());
                layer.base_ft = value(row, base, "skyl")?;
            }
        }
        Ok(layers)
    }

    /// Adds the cover and the base of each layer, and the ceiling: the lowest layer that covers
    /// more than half of the sky, or the vertical visibility.
    pub(super) fn read(
        &self,
        row: &CsvRow,
        to: &mut ReadingCollector<'_>,
    ) -> Result<(), RefusalReason> {
        let layers = self.layers(row)?;
        let ceilings = layers.iter().filter(|layer| layer.cover.is_some_and(SkyCover::is_ceiling));
        if let Some(ceiling_ft) = ceilings.filter_map(|layer| layer.base_ft).reduce(f64::min) {
            let of = Measurement::instantaneous(Variable::CeilingHeight, "ft");
            to.push(of, ceiling_ft, Quality::UNCHECKED);
        }
        for (index, Layer { cover, base_ft }) in layers.into_iter().enumerate() {
            let oktas = cover.and_then(SkyCover::oktas).map(f64::from);
            let base_ft = base_ft.filter(|_| cover != Some(SkyCover::Obscured));
            for (variable, unit, value) in
                [(Variable::CloudCover, "okta", oktas), (Variable::CloudBaseHeight, "ft", base_ft)]
            {
                if let Some((of, value)) = Measurement::layer(variable, unit, index).zip(value) {
                    to.push(of, value, Quality::UNCHECKED);
                }
            }
        }
        Ok(())
    }
}

/// The positions of the columns `peak_wind_gust`, `peak_wind_drct`, `peak_wind_time`.
#[derive(Clone, Copy)]
pub(super) struct PeakColumns {
    gust: usize,
    direction: usize,
    time: usize,
}

impl PeakColumns {
    pub(super) fn new(at: impl Fn(&str) -> Option<usize>) -> Option<Self> {
        let gust = at("peak_wind_gust")?;
        Some(Self { gust, direction: at("peak_wind_drct")?, time: at("peak_wind_time")? })
    }

    pub(super) fn hold(self, at: usize) -> bool {
        at == self.direction || at == self.time
    }

    /// The peak wind as a report of its own moment.
    pub(super) fn report(
        self,
        row: &CsvRow,
        station: StationId,
        ts_ms: i64,
    ) -> Result<Option<Report>, RefusalReason> {
        if is_missing(row.field(Some(self.time))) {
            return Ok(None);
        }
        let minutes_ago = (ts_ms - instant(text(row, self.time)?)?) / MINUTE_MS;
        let direction = value(row, self.direction, "peak_wind_drct")?;
        Ok(value(row, self.gust, "peak_wind_gust")?.and_then(|speed_kt| {
            peak_wind_report(station, ts_ms, minutes_ago, knots_to_kmh(speed_kt), direction)
        }))
    }
}
