//! Quality flags of other schemes, which are integers or letters.

use mesonet::BaseQuality;
use mesonet::observation::{BUFR_033020, GHCNH_CHECKS, ISD, MADIS, QARTOD, SWOB_QA_SUMMARY};
use wasm_bindgen::prelude::*;

/// Two functions for each scheme: the base and reason codes that a flag stands for, and the flag
/// for a base code.
macro_rules! schemes {
    ($($scheme:ident($kind:ty): $quality:ident, $flag:ident;)+) => {$(
        #[doc = concat!("Base and reason codes of a flag of ", stringify!($scheme), ".")]
        #[wasm_bindgen]
        pub fn $quality(flag: $kind) -> Vec<u8> {
            let (base, reason) = $scheme.quality(flag).codes();
            vec![base, reason]
        }

        #[doc = concat!("The flag of ", stringify!($scheme), " for a base code.")]
        #[wasm_bindgen]
        pub fn $flag(base: u8) -> Result<Option<$kind>, JsError> {
            Ok($scheme.flag(BaseQuality::try_from(base)?))
        }
    )+};
}

schemes! {
    SWOB_QA_SUMMARY(i32): swob_qa_summary_quality, swob_qa_summary_flag;
    BUFR_033020(i32): bufr_033020_quality, bufr_033020_flag;
    MADIS(char): madis_quality, madis_flag;
    QARTOD(i32): qartod_quality, qartod_flag;
    ISD(char): isd_quality, isd_flag;
    GHCNH_CHECKS(char): ghcnh_checks_quality, ghcnh_checks_flag;
}
