//! Arrays that belong together have the same length. One message says so if they do not.

/// Compares the lengths of arrays, each with its name.
///
/// # Errors
/// If they differ: the lengths as messages list them, "2 for u, 3 for v".
pub(crate) fn check_lengths(arrays: &[(&str, usize)]) -> Result<(), String> {
    if arrays.windows(2).all(|pair| pair[0].1 == pair[1].1) {
        return Ok(());
    }
    let lengths: Vec<_> =
        arrays.iter().map(|(name, length)| format!("{length} for {name}")).collect();
    Err(lengths.join(", "))
}

#[cfg(test)]
mod tests {
    use super::check_lengths;

    #[test]
    fn lengths_that_differ_are_listed() {
        assert_eq!(check_lengths(&[]), Ok(()));
        assert_eq!(check_lengths(&[("u", 2), ("v", 2)]), Ok(()));
        let lengths = check_lengths(&[("u", 2), ("v", 2), ("cos", 3)]).unwrap_err();
        assert_eq!(lengths, "2 for u, 2 for v, 3 for cos");
    }
}
