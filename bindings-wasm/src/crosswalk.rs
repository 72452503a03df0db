//! Quality flags of other schemes, which are integers or letters.

use mesonet::{BUFR_033020, BaseQuality, MADIS, QARTOD, Quality, SWOB_QA_SUMMARY};
use wasm_bindgen::prelude::*;

fn codes(Quality { base, reason }: Quality) -> Vec<u8> {
    vec![base as u8, reason as u8]
}

/// Two functions for each scheme: the base and reason codes that a flag stands for, and the flag
/// that is written for a base code.
macro_rules! integers {
    ($($scheme:ident: $quality:ident, $flag:ident;)+) => {$(
        #[doc = concat!("Base and reason codes of a flag of ", stringify!($scheme), ".")]
        #[wasm_bindgen]
        pub fn $quality(flag: i32) -> Vec<u8> {
            codes($scheme.quality(flag))
        }

        #[doc = concat!("The flag of ", stringify!($scheme), " for a base code.")]
        #[wasm_bindgen]
        pub fn $flag(base: u8) -> Result<Option<i32>, JsError> {
            Ok($scheme.flag(BaseQuality::try_from(base)?))
        }
    )+};
}

integers! {
    SWOB_QA_SUMMARY: swob_qa_summary_quality, swob_qa_summary_flag;
    BUFR_033020: bufr_033020_quality, bufr_033020_flag;
    QARTOD: qartod_quality, qartod_flag;
}

/// Base and reason codes of a letter of MADIS.
#[wasm_bindgen]
pub fn madis_quality(flag: char) -> Vec<u8> {
    codes(MADIS.quality(flag))
}

/// The letter of MADIS for a base code.
#[wasm_bindgen]
pub fn madis_flag(base: u8) -> Result<Option<char>, JsError> {
    Ok(MADIS.flag(BaseQuality::try_from(base)?))
}
