//! The groups of a report and the fields inside a group.

/// The groups of one report: the text between blanks, up to the `=` that ends a report.
///
/// Control characters count as blanks, so a stray null byte only splits a group.
#[derive(Clone, Debug)]
pub(super) struct Groups<'a> {
    rest: &'a [u8],
}

impl<'a> Groups<'a> {
    pub(super) fn new(report: &'a [u8]) -> Self {
        Self { rest: report }
    }

    /// The groups in front of `others`, in the same report: `others` has read them already.
    pub(super) fn until(self, others: &Self) -> Self {
        Self { rest: &self.rest[..self.rest.len().saturating_sub(others.rest.len())] }
    }

    /// The next group, without consuming it.
    pub(super) fn peek(&self) -> Option<&'a [u8]> {
        self.clone().next()
    }
}

impl<'a> Iterator for Groups<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        let start = self.rest.iter().position(|&byte| byte > b' ')?;
        let rest = &self.rest[start..];
        let length =
            rest.iter().position(|&byte| byte <= b' ' || byte == b'=').unwrap_or(rest.len());
        let (group, rest) = rest.split_at(length);
        self.rest = if rest.first() == Some(&b'=') { &[] } else { rest };
        (!group.is_empty()).then_some(group)
    }
}

/// A field that is neither a value nor missing.
pub(super) struct MalformedField;

/// Value of a field of one to nine digits and nothing else.
#[inline]
pub(super) fn number(field: &[u8]) -> Option<u32> {
    if field.is_empty() || field.len() > 9 {
        return None;
    }
    field.iter().try_fold(0, |value, byte| {
        byte.is_ascii_digit().then(|| value * 10 + u32::from(byte - b'0'))
    })
}

/// Value of a field of one to four digits.
#[inline]
pub(super) fn small_number(field: &[u8]) -> Option<u16> {
    if field.len() > 4 { None } else { number(field).map(|value| value as u16) }
}

/// Value of a field `sTTT`: sign (0 plus, 1 minus) and tenths.
#[inline]
pub(super) fn signed_tenths(field: &[u8]) -> Option<i16> {
    let (&sign, digits) = field.split_first()?;
    let tenths = small_number(digits).filter(|_| digits.len() == 3)? as i16;
    match sign {
        b'0' => Some(tenths),
        b'1' => Some(-tenths),
        _ => None,
    }
}

/// Whether a field indicates a missing value: one or more slashes and nothing else.
#[inline]
pub(super) fn is_missing(field: &[u8]) -> bool {
    !field.is_empty() && field.iter().all(|&byte| byte == b'/')
}
