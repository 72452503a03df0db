//! Signs that tell kinds of files apart.

/// Whether a text occurs in the first bytes of a file, ignoring case.
pub(super) fn holds(start: &[u8], text: &str) -> bool {
    start.windows(text.len()).any(|window| window.eq_ignore_ascii_case(text.as_bytes()))
}
