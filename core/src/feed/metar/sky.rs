//! Sky groups: cloud layers, vertical visibility, clear skies.

use super::group::{is_missing, small_number};

/// How much of the sky a layer covers, or what replaces the layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkyCover {
    /// `SKC`: no cloud, reported by an observer.
    SkyClear,
    /// `CLR`: no cloud below the reach of the instrument (12,000 ft in the US).
    Clear,
    /// `NSC`: no cloud below 5,000 ft, no cumulonimbus, no towering cumulus.
    NoSignificantCloud,
    /// `NCD`: an instrument detected no cloud.
    NoCloudDetected,
    /// `FEW`: 1 to 2 eighths.
    Few,
    /// `SCT`: 3 to 4 eighths.
    Scattered,
    /// `BKN`: 5 to 7 eighths.
    Broken,
    /// `OVC`: 8 eighths.
    Overcast,
    /// `VV`: the sky is hidden; the height is the vertical visibility.
    Obscured,
    /// `///`: a layer whose amount was not observed.
    Missing,
}

/// Towering cloud that a report names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the clouds")]
pub enum Convection {
    Cumulonimbus,
    ToweringCumulus,
}

/// One layer of cloud.
///
/// ```
/// use mesonet::feed::metar::{Convection, Metar, SkyCover, SkyLayer};
/// let report = Metar::parse("KBUF 312354Z 21014KT 3SM TSRA SCT025CB OVC040")?;
/// let storm = SkyLayer {
///     cover: SkyCover::Scattered,
///     base_ft: Some(2500),
///     convection: Some(Convection::Cumulonimbus),
/// };
/// assert_eq!(report.sky[0], storm);
/// assert!(!report.sky[0].is_ceiling() && report.sky[1].is_ceiling());
/// # Ok::<(), mesonet::feed::metar::MetarError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SkyLayer {
    /// Amount.
    pub cover: SkyCover,
    /// Height of the base above the ground, in feet.
    pub base_ft: Option<u32>,
    /// Whether the cloud towers.
    pub convection: Option<Convection>,
}

impl SkyLayer {
    pub(super) const BLANK: Self =
        Self { cover: SkyCover::Missing, base_ft: None, convection: None };

    /// Whether the layer is a ceiling: more than half of the sky, or a hidden sky.
    pub fn is_ceiling(self) -> bool {
        matches!(self.cover, SkyCover::Broken | SkyCover::Overcast | SkyCover::Obscured)
    }
}

/// Reads a sky group: amount, height in hundreds of feet, towering cloud.
pub(super) fn layer(group: &[u8]) -> Option<SkyLayer> {
    let clear = |cover| Some(SkyLayer { cover, ..SkyLayer::BLANK });
    let (cover, rest) = match group {
        b"CLR" => return clear(SkyCover::Clear),
        b"SKC" => return clear(SkyCover::SkyClear),
        b"NSC" => return clear(SkyCover::NoSignificantCloud),
        b"NCD" => return clear(SkyCover::NoCloudDetected),
        [b'V', b'V', rest @ ..] => (SkyCover::Obscured, rest),
        [b'F', b'E', b'W', rest @ ..] => (SkyCover::Few, rest),
        [b'S', b'C', b'T', rest @ ..] => (SkyCover::Scattered, rest),
        [b'B', b'K', b'N', rest @ ..] => (SkyCover::Broken, rest),
        [b'O', b'V', b'C', rest @ ..] => (SkyCover::Overcast, rest),
        [b'/', b'/', b'/', rest @ ..] => (SkyCover::Missing, rest),
        _ => return None,
    };
    let (base_ft, rest) = match rest.split_at_checked(3) {
        Some((b"///", rest)) => (None, rest),
        Some((digits, rest)) if digits != b"TCU" => {
            (Some(u32::from(small_number(digits)?) * 100), rest)
        }
        _ => (None, rest),
    };
    let convection = match rest {
        b"CB" => Some(Convection::Cumulonimbus),
        b"TCU" => Some(Convection::ToweringCumulus),
        b"" => None,
        rest if is_missing(rest) => None,
        _ => return None,
    };
    // An amount without height or cloud, such as BKN alone, is a truncated group.
    let torn = base_ft.is_none() && convection.is_none() && group.len() <= 3;
    (!torn).then_some(SkyLayer { cover, base_ft, convection })
}
