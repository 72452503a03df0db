//! The words that say in remarks where something is and where it moves.

use super::super::group::Groups;
use super::text;

fn is_direction(word: &[u8]) -> bool {
    matches!(word, b"N" | b"NE" | b"E" | b"SE" | b"S" | b"SW" | b"W" | b"NW")
}

fn is_place(word: &[u8]) -> bool {
    let known = |word: &[u8]| {
        is_direction(word)
            || matches!(word, b"OHD" | b"ALQDS" | b"ALQS" | b"DSNT" | b"VC" | b"VCNTY")
    };
    word.split(|&byte| byte == b'-').all(known)
}

/// Whether a word is a direction, or several with hyphens between them.
pub(super) fn is_sector(word: &[u8]) -> bool {
    word.split(|&byte| byte == b'-').all(is_direction)
}

/// Takes the words of a place: `DSNT NE AND SW`, `OHD-N`; empty if there are none.
pub(super) fn take(groups: &mut Groups<'_>) -> String {
    let mut words = Vec::new();
    loop {
        let mut ahead = groups.clone();
        match (ahead.next(), ahead.next()) {
            (Some(word), _) if is_place(word) => words.push(text(word)),
            (Some(word @ (b"AND" | b"THRU" | b"TO")), Some(next))
                if !words.is_empty() && is_place(next) =>
            {
                words.push(text(word));
            }
            _ => return words.join(" "),
        }
        groups.next();
    }
}

/// Takes `MOV NE`, `MOV LTL`, `STNRY`.
pub(super) fn take_movement(groups: &mut Groups<'_>) -> Option<String> {
    let mut ahead = groups.clone();
    let found = match (ahead.next()?, ahead.next()) {
        (b"STNRY", _) => {
            groups.next();
            return Some("STNRY".to_owned());
        }
        (b"MOV", Some(word)) if is_sector(word) || matches!(word, b"LTL" | b"STNRY" | b"UNKN") => {
            text(word)
        }
        _ => return None,
    };
    *groups = ahead;
    Some(found)
}
