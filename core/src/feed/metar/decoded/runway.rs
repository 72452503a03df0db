//! Runway visual range, for people.

use serde::Serialize;

use super::super::runway::{VisualRange, VisualRangeTendency};
use super::text;

/// Runway visual range. `least` and `greatest` differ where it varied in the last ten minutes.
///
/// ```
/// use mesonet::feed::metar::{Decoded, RunwayVisualRange, VisualRangeTendency};
/// let report = Decoded::parse("KBUF 312354Z 1/2SM R05L/M0600V2200FT/U FG")?;
/// let range: &RunwayVisualRange = &report.runway_visual_ranges[0];
/// assert_eq!((&*range.runway, range.least, range.greatest, range.unit), ("05L", Some(600), Some(2200), "ft"));
/// assert!(range.is_below_least && !range.is_above_greatest);
/// assert_eq!(range.tendency, Some(VisualRangeTendency::Up));
/// # Ok::<(), mesonet::feed::metar::MetarError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunwayVisualRange {
    /// The runway: `05L`.
    pub runway: String,
    /// The range, or the lowest range, in `unit`; `None` if it is missing (`////`).
    pub least: Option<u16>,
    /// The range, or the highest range, in `unit`.
    pub greatest: Option<u16>,
    /// `M`: the range is below `least`, the lowest that can be measured.
    pub is_below_least: bool,
    /// `P`: the range is above `greatest`, the highest that can be measured.
    pub is_above_greatest: bool,
    /// `ft` or `m`.
    pub unit: &'static str,
    /// How it changes.
    pub tendency: Option<VisualRangeTendency>,
}

impl From<VisualRange<'_>> for RunwayVisualRange {
    fn from(range: VisualRange<'_>) -> Self {
        Self {
            runway: text(range.runway),
            least: range.least,
            greatest: range.greatest,
            is_below_least: range.is_below_least,
            is_above_greatest: range.is_above_greatest,
            unit: if range.is_in_feet { "ft" } else { "m" },
            tendency: range.tendency,
        }
    }
}
