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

impl SkyCover {
    /// The cover in oktas: the most that the word stands for, as in NCEI's records of METAR reports
    /// (ISD, `GA1`): FEW 2, SCT 4, BKN 7, OVC 8. A hidden sky is 8, a clear one 0. `None` if the
    /// word does not tell: `///`, and NSC, which leaves out high clouds.
    ///
    /// ```
    /// use mesonet::feed::metar::SkyCover;
    /// assert_eq!(SkyCover::Few.oktas(), Some(2));
    /// assert_eq!(SkyCover::NoSignificantCloud.oktas(), None);
    /// ```
    pub fn oktas(self) -> Option<u8> {
        match self {
            Self::SkyClear | Self::Clear | Self::NoCloudDetected => Some(0),
            Self::Few => Some(2),
            Self::Scattered => Some(4),
            Self::Broken => Some(7),
            Self::Overcast | Self::Obscured => Some(8),
            Self::NoSignificantCloud | Self::Missing => None,
        }
    }

    /// Whether it makes a layer a ceiling: more than half of the sky, or a hidden sky.
    pub(super) fn is_ceiling(self) -> bool {
        matches!(self, Self::Broken | Self::Overcast | Self::Obscured)
    }

    /// Reads the word of a layer, such as `FEW`.
    pub(in crate::feed) fn read(word: &[u8]) -> Option<Self> {
        Some(match word {
            b"SKC" => Self::SkyClear,
            b"CLR" => Self::Clear,
            b"NSC" => Self::NoSignificantCloud,
            b"NCD" => Self::NoCloudDetected,
            b"FEW" => Self::Few,
            b"SCT" => Self::Scattered,
            b"BKN" => Self::Broken,
            b"OVC" => Self::Overcast,
            b"VV" => Self::Obscured,
            b"///" => Self::Missing,
            _ => return None,
        })
    }
}

/// Most layers of a report.
pub(super) const MAX_LAYERS: usize = 8;

/// Towering cloud that a report names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the clouds")]
pub enum Convection {
    Cumulonimbus,
    ToweringCumulus,
}

/// A genus of cloud (WMO-No. 407, the ten genera). Stations of some countries put it behind the
/// height of a layer.
///
/// ```
/// use mesonet::feed::metar::{CloudGenus, Metar};
/// let report = Metar::parse("LOXZ 141420Z 08006KT 20KM FEW025SC BKN090AC 21/14 Q1015")?;
/// let genera: Vec<_> = report.sky.iter().map(|layer| layer.genus).collect();
/// assert_eq!(genera, [Some(CloudGenus::Stratocumulus), Some(CloudGenus::Altocumulus)]);
/// assert_eq!(CloudGenus::Altocumulus.code(), "AC");
/// # Ok::<(), mesonet::feed::metar::MetarError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the clouds")]
pub enum CloudGenus {
    Cirrus,
    Cirrocumulus,
    Cirrostratus,
    Altocumulus,
    Altostratus,
    Nimbostratus,
    Stratocumulus,
    Stratus,
    Cumulus,
    Cumulonimbus,
}

impl CloudGenus {
    const ALL: [(&'static str, Self); 10] = [
        ("CI", Self::Cirrus),
        ("CC", Self::Cirrocumulus),
        ("CS", Self::Cirrostratus),
        ("AC", Self::Altocumulus),
        ("AS", Self::Altostratus),
        ("NS", Self::Nimbostratus),
        ("SC", Self::Stratocumulus),
        ("ST", Self::Stratus),
        ("CU", Self::Cumulus),
        ("CB", Self::Cumulonimbus),
    ];

    /// Its two letters.
    pub fn code(self) -> &'static str {
        // In the order of the variants.
        Self::ALL[self as usize].0
    }

    fn read(letters: &[u8]) -> Option<Self> {
        Self::ALL.iter().find(|(code, _)| code.as_bytes() == letters).map(|&(_, genus)| genus)
    }
}

/// One layer of cloud.
///
/// ```
/// use mesonet::feed::metar::{CloudGenus, Convection, Metar, SkyCover, SkyLayer};
/// let report = Metar::parse("KBUF 312354Z 21014KT 3SM TSRA SCT025CB OVC040")?;
/// let storm = SkyLayer {
///     cover: SkyCover::Scattered,
///     base_ft: Some(2500),
///     convection: Some(Convection::Cumulonimbus),
///     genus: Some(CloudGenus::Cumulonimbus),
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
    /// The genus, if the report names exactly one.
    pub genus: Option<CloudGenus>,
}

impl SkyLayer {
    pub(super) const BLANK: Self =
        Self { cover: SkyCover::Missing, base_ft: None, convection: None, genus: None };

    /// Whether the layer is a ceiling: more than half of the sky, or a hidden sky.
    pub fn is_ceiling(self) -> bool {
        self.cover.is_ceiling()
    }
}

/// Reads a sky group: amount, height in hundreds of feet, clouds.
pub(super) fn layer(group: &[u8]) -> Option<SkyLayer> {
    let clear = |cover| Some(SkyLayer { cover, ..SkyLayer::BLANK });
    let (word, rest) = group.split_at_checked(if group.starts_with(b"VV") { 2 } else { 3 })?;
    let cover = SkyCover::read(word)?;
    if matches!(word, b"CLR" | b"SKC" | b"NSC" | b"NCD") {
        return if rest.is_empty() { clear(cover) } else { None };
    }
    let (base_ft, rest) = match rest.split_at_checked(3) {
        Some((b"///", rest)) => (None, rest),
        Some((digits, rest)) if digits[0].is_ascii_digit() => {
            (Some(u32::from(small_number(digits)?) * 100), rest)
        }
        _ => (None, rest),
    };
    let (convection, genus) = clouds(rest)?;
    // An amount without height or cloud, such as BKN alone, is a truncated group.
    let torn = base_ft.is_none() && convection.is_none() && group.len() <= 3;
    (!torn).then_some(SkyLayer { cover, base_ft, convection, genus })
}

/// Reads the text behind the height: the clouds of the layer, up to three, or the sign that they
/// are not known.
fn clouds(rest: &[u8]) -> Option<(Option<Convection>, Option<CloudGenus>)> {
    if rest.is_empty() || is_missing(rest) {
        return Some((None, None));
    }
    if rest == b"TCU" {
        return Some((Some(Convection::ToweringCumulus), Some(CloudGenus::Cumulus)));
    }
    let (pairs, odd) = rest.as_chunks::<2>();
    if !odd.is_empty() || pairs.len() > 3 {
        return None;
    }
    let mut convection = None;
    for pair in pairs {
        if CloudGenus::read(pair)? == CloudGenus::Cumulonimbus {
            convection = Some(Convection::Cumulonimbus);
        }
    }
    Some((convection, CloudGenus::read(rest)))
}
