//! Shows names that somebody else chose.

use std::path::Path;

/// Longest name, in characters, of a file in a packed file or of a file that was sent.
const MAX_NAME: usize = 200;

/// Longest text of a fault, in characters.
const MAX_FAULT: usize = 1_000;

/// Shows a name on one line, with bounded length.
pub fn shown_name(name: &str) -> String {
    cut(name, MAX_NAME)
}

/// Shows what is wrong with a file on one line, with bounded length.
pub fn shown_fault(text: &str) -> String {
    cut(text, MAX_FAULT)
}

/// Shows a path of this machine on one line. It is not cut, so that it can be found.
pub fn shown_path(path: &Path) -> String {
    cut(&path.display().to_string(), usize::MAX)
}

fn cut(text: &str, most: usize) -> String {
    let mut shown = String::with_capacity(text.len().min(most));
    let mut letters = text.chars();
    for letter in letters.by_ref().take(most) {
        if is_unseen(letter) {
            shown.extend(letter.escape_default());
        } else {
            shown.push(letter);
        }
    }
    if letters.next().is_some() {
        shown.push('…');
    }
    shown
}

/// Whether a character affects the text around it: controls, line ends, and text direction marks.
fn is_unseen(letter: char) -> bool {
    let marks = ['\u{200e}'..='\u{200f}', '\u{2028}'..='\u{202e}', '\u{2066}'..='\u{2069}'];
    letter.is_control() || marks.iter().any(|marks| marks.contains(&letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_shown_on_one_line_and_not_longer_than_200_characters() {
        assert_eq!(shown_name("Montréal ok.txt"), "Montréal ok.txt");
        assert_eq!(shown_name("a\n\u{1b}[2Jb\u{202e}c"), "a\\n\\u{1b}[2Jb\\u{202e}c");
        assert_eq!(shown_name(&"é".repeat(200)), "é".repeat(200));
        assert_eq!(shown_name(&"é".repeat(90_000)), format!("{}…", "é".repeat(200)));
        let path = format!("/d/{}", "x".repeat(4_000));
        assert_eq!(shown_path(Path::new(&path)), path);
    }
}
