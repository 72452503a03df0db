//! Translates quality flags of other schemes to mesonet's codes and back.

use crate::observation::{BaseQuality, Quality, ReasonQuality};

/// The flags of one scheme and the base qualities that they stand for.
///
/// Schemes give no reason, so the reason is Unknown, except None for Good and Missing for Missing.
///
/// ```
/// use mesonet::observation::{BUFR_033020, Crosswalk, ISD, MADIS, QARTOD, SWOB_QA_SUMMARY};
/// use mesonet::{BaseQuality, ReasonQuality};
/// let doubtful = SWOB_QA_SUMMARY.quality(10);
/// assert_eq!((doubtful.base, doubtful.reason), (BaseQuality::Doubtful, ReasonQuality::Unknown));
/// assert_eq!(MADIS.quality('V').base, BaseQuality::Good);
/// let ncei: &Crosswalk<char> = &ISD;
/// assert_eq!(ncei.quality('7').base, BaseQuality::Error);
/// assert_eq!(ncei.rows()[0], ('1', BaseQuality::Good));
/// assert_eq!(QARTOD.flag(BaseQuality::Error), Some(4));
/// // BUFR has no flag for a sensor that is stuck.
/// assert_eq!(BUFR_033020.flag(BaseQuality::Instrumentation), None);
/// ```
#[derive(Debug)]
pub struct Crosswalk<F: 'static> {
    /// For each base quality, the first row is written.
    rows: &'static [(F, BaseQuality)],
}

/// `qa_summary` of SWOB-ML (Environment and Climate Change Canada).
///
/// 15 and 20 have not been seen in real files. Unknown is not written.
pub static SWOB_QA_SUMMARY: Crosswalk<i32> = Crosswalk {
    rows: &[
        (-10, BaseQuality::Suppressed),
        (-1, BaseQuality::Missing),
        (0, BaseQuality::Error),
        (10, BaseQuality::Doubtful),
        (15, BaseQuality::Inconsistent),
        (20, BaseQuality::Instrumentation),
        (100, BaseQuality::Good),
    ],
};

/// BUFR code table 0 33 020, quality control indication of the following value (WMO-No. 306).
///
/// Suppressed and Instrumentation are not written.
pub static BUFR_033020: Crosswalk<i32> = Crosswalk {
    rows: &[
        (0, BaseQuality::Good),
        (1, BaseQuality::Inconsistent),
        (2, BaseQuality::Doubtful),
        (3, BaseQuality::Error),
        (4, BaseQuality::Unknown),
        (7, BaseQuality::Missing),
    ],
};

/// Quality descriptors of NOAA's MADIS, as used by api.weather.gov.
///
/// Good is written as S, passed levels 1 and 2: level 3 is a spatial check that needs enough
/// neighbours. C, passed level 1 only, is read as Unknown, so that our own checks decide. Missing,
/// Inconsistent and Instrumentation are not written.
pub static MADIS: Crosswalk<char> = Crosswalk {
    rows: &[
        ('S', BaseQuality::Good),
        ('V', BaseQuality::Good),
        ('G', BaseQuality::Good),
        ('Z', BaseQuality::Unknown),
        ('C', BaseQuality::Unknown),
        ('Q', BaseQuality::Doubtful),
        ('X', BaseQuality::Error),
        ('B', BaseQuality::Suppressed),
    ],
};

/// Flags of QARTOD (IOC manuals and guides 54, vol. 3).
///
/// Suppressed, Inconsistent and Instrumentation are not written.
pub static QARTOD: Crosswalk<i32> = Crosswalk {
    rows: &[
        (1, BaseQuality::Good),
        (2, BaseQuality::Unknown),
        (3, BaseQuality::Doubtful),
        (4, BaseQuality::Error),
        (9, BaseQuality::Missing),
    ],
};

/// Quality codes of NCEI's Integrated Surface Data (its format document of 2018).
///
/// 0, 4 and 9 passed gross limits only and are read as Unknown, so that our own checks decide. A
/// (suspect, but accepted), C (whole degrees of an automated station, accepted), and I, M, P and U
/// (inserted or changed by a validator) are Good; R was computed by software and is Unknown.
/// Suppressed, Missing, Inconsistent and Instrumentation are not written.
pub static ISD: Crosswalk<char> = Crosswalk {
    rows: &[
        ('1', BaseQuality::Good),
        ('5', BaseQuality::Good),
        ('A', BaseQuality::Good),
        ('C', BaseQuality::Good),
        ('I', BaseQuality::Good),
        ('M', BaseQuality::Good),
        ('P', BaseQuality::Good),
        ('U', BaseQuality::Good),
        ('2', BaseQuality::Doubtful),
        ('6', BaseQuality::Doubtful),
        ('3', BaseQuality::Error),
        ('7', BaseQuality::Error),
        ('0', BaseQuality::Unknown),
        ('4', BaseQuality::Unknown),
        ('9', BaseQuality::Unknown),
        ('R', BaseQuality::Unknown),
    ],
};

/// The checks of NCEI's GHCNh that a value failed, by their letters (its documentation 1.1.0,
/// table 3). A value without a letter has the code of the source that it came from.
///
/// A value that disagrees with other values of the report (l, m, p, w, z) is Inconsistent, one that
/// looks like a stuck or jumping sensor (a, k, x, s) is Instrumentation, one beyond the world
/// records (r) is Error, and the rest, which are statistical, are Doubtful. Good, Unknown,
/// Suppressed and Missing are not written.
///
/// ```
/// use mesonet::BaseQuality;
/// use mesonet::observation::GHCNH_CHECKS;
/// assert_eq!(GHCNH_CHECKS.quality('k').base, BaseQuality::Instrumentation); // a stuck sensor
/// assert_eq!(GHCNH_CHECKS.quality('r').base, BaseQuality::Error); // beyond the world records
/// ```
pub static GHCNH_CHECKS: Crosswalk<char> = Crosswalk {
    rows: &[
        ('r', BaseQuality::Error),
        ('c', BaseQuality::Doubtful),
        ('b', BaseQuality::Doubtful),
        ('d', BaseQuality::Doubtful),
        ('e', BaseQuality::Doubtful),
        ('f', BaseQuality::Doubtful),
        ('h', BaseQuality::Doubtful),
        ('i', BaseQuality::Doubtful),
        ('n', BaseQuality::Doubtful),
        ('o', BaseQuality::Doubtful),
        ('t', BaseQuality::Doubtful),
        ('u', BaseQuality::Doubtful),
        ('v', BaseQuality::Doubtful),
        ('l', BaseQuality::Inconsistent),
        ('m', BaseQuality::Inconsistent),
        ('p', BaseQuality::Inconsistent),
        ('w', BaseQuality::Inconsistent),
        ('z', BaseQuality::Inconsistent),
        ('k', BaseQuality::Instrumentation),
        ('a', BaseQuality::Instrumentation),
        ('s', BaseQuality::Instrumentation),
        ('x', BaseQuality::Instrumentation),
    ],
};

impl<F: Copy + PartialEq> Crosswalk<F> {
    /// The quality that a flag stands for; Unknown for a flag that is not in the scheme.
    pub fn quality(&self, flag: F) -> Quality {
        let row = self.rows.iter().find(|&&(known, _)| known == flag);
        let base = row.map_or(BaseQuality::Unknown, |&(_, base)| base);
        let reason = match base {
            BaseQuality::Good => ReasonQuality::None,
            BaseQuality::Missing => ReasonQuality::Missing,
            _ => ReasonQuality::Unknown,
        };
        Quality { base, reason }
    }

    /// The flag that stands for a base quality; `None` if the scheme has no counterpart.
    pub fn flag(&self, base: BaseQuality) -> Option<F> {
        self.rows.iter().find(|&&(_, known)| known == base).map(|&(flag, _)| flag)
    }

    /// The flags and what they stand for.
    pub fn rows(&self) -> &'static [(F, BaseQuality)] {
        self.rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written_flags_are_read_back<F: Copy + PartialEq>(scheme: &Crosswalk<F>) {
        for base in BaseQuality::ALL {
            if let Some(flag) = scheme.flag(base) {
                assert_eq!(scheme.quality(flag).base, base);
            }
        }
        for &(flag, base) in scheme.rows() {
            assert_eq!(scheme.quality(flag).base, base);
            assert_eq!(scheme.rows().iter().filter(|row| row.0 == flag).count(), 1);
        }
    }

    #[test]
    fn flags_round_trip() {
        written_flags_are_read_back(&SWOB_QA_SUMMARY);
        written_flags_are_read_back(&BUFR_033020);
        written_flags_are_read_back(&MADIS);
        written_flags_are_read_back(&QARTOD);
        written_flags_are_read_back(&ISD);
        written_flags_are_read_back(&GHCNH_CHECKS);
    }

    #[test]
    fn a_flag_outside_the_scheme_is_unknown() {
        let unknown = Quality { base: BaseQuality::Unknown, reason: ReasonQuality::Unknown };
        assert_eq!(SWOB_QA_SUMMARY.quality(7), unknown);
        assert_eq!(BUFR_033020.quality(5), unknown);
        assert_eq!(MADIS.quality('v'), unknown);
        assert_eq!(QARTOD.quality(0), unknown);
    }
}
