//! Names of parameters and members that are almost right.

use strsim::osa_distance;

use super::parameter::Parameter;
use crate::http::error::ApiError;

/// The sides of a box, which some services call `bbox`.
pub const SIDES: [&str; 4] = ["minLat", "minLon", "maxLat", "maxLon"];

/// Refuses a member of a body whose name is almost that of a known one. Any other unknown member is
/// ignored.
///
/// # Errors
/// 400 with the right name.
pub fn check_member(
    got: &str,
    known: impl Iterator<Item = &'static str> + Clone,
) -> Result<(), ApiError> {
    almost(got, known, "member of the body,")
}

/// Refuses a parameter whose name is almost that of a declared one. Any other unknown parameter is
/// ignored.
///
/// # Errors
/// 400 with the right name.
pub fn check_parameter(got: &str, declared: &'static [Parameter]) -> Result<(), ApiError> {
    if declared.iter().any(|parameter| parameter.name == got) {
        return Ok(());
    }
    let names = declared.iter().map(|parameter| parameter.name);
    let has = |name: &str| names.clone().any(|known| known == name);
    if got == "bbox" && has(SIDES[0]) && !has(got) {
        let text = format!("unknown parameter \"bbox\"; a box is given by {}", SIDES.join(", "));
        return Err(ApiError::BadRequest(text));
    }
    almost(got, names, "parameter")
}

fn almost(
    got: &str,
    mut known: impl Iterator<Item = &'static str> + Clone,
    what: &str,
) -> Result<(), ApiError> {
    if known.clone().any(|known| known == got) {
        return Ok(());
    }
    match known.find(|known| is_almost(got, known)) {
        None => Ok(()),
        Some(right) => {
            Err(ApiError::BadRequest(format!("unknown {what} \"{got}\"; the name is {right}")))
        }
    }
}

/// Length of the shortest name in which one letter may be wrong. In a shorter name that would be
/// half of it.
const SHORTEST: usize = 3;

/// Whether a name is another spelling of a known one: in another case, with `_`, `-` or `.` between
/// its words, with one letter too many, missing or wrong, or with two neighbours swapped.
pub fn is_almost(got: &str, known: &str) -> bool {
    // No need to look at a name that is much longer.
    if got.len() > 2 * known.len() + SHORTEST {
        return false;
    }
    let folded = |name: &str| -> String {
        let letters = name.chars().filter(|letter| !matches!(letter, '_' | '-' | '.'));
        letters.flat_map(char::to_lowercase).collect()
    };
    let (got, known) = (folded(got), folded(known));
    got == known || known.len() >= SHORTEST && osa_distance(&got, &known) == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_almost_right_in_another_case_or_one_letter_off() {
        for (got, known) in [
            ("minlat", "minLat"),
            ("MIN_LAT", "minLat"),
            ("min-lat", "minLat"),
            ("qualityrange", "qualityRange"),
            ("nam", "name"),
            ("names", "name"),
            ("nmae", "name"),
            ("mame", "name"),
            ("sname", "name"),
            ("stationId", "stationIds"),
            ("page.size", "pageSize"),
            ("TO", "to"),
            ("lat ", "lat"),
        ] {
            assert!(is_almost(got, known), "{got}");
        }
        for (got, known) in [
            ("", "to"),
            ("t", "to"),
            ("too", "to"),
            ("na", "name"),
            ("naem2", "name"),
            ("amne", "name"),
            ("title", "name"),
            ("_", "from"),
            ("minimum", "minLat"),
            ("é", "lat"),
        ] {
            assert!(!is_almost(got, known), "{got}");
        }
        assert!(!is_almost(&"name".repeat(1_000), "name"));
    }
}
