//! Paths in one spelling.

use axum::http::Uri;
use axum::http::uri::PathAndQuery;

/// Decodes the characters in the path of an address that need no encoding: letters, digits, `-`,
/// `.`, `_` and `~`. Returns the address; `None` if no such character is encoded.
pub fn with_letters_decoded(uri: &Uri) -> Option<Uri> {
    let path = decoded(uri.path())?;
    let address = match uri.query() {
        Some(query) => format!("{path}?{query}"),
        None => path,
    };
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(PathAndQuery::try_from(address).ok()?);
    Uri::from_parts(parts).ok()
}

fn decoded(path: &str) -> Option<String> {
    if !path.contains('%') {
        return None;
    }
    let mut decoded = String::with_capacity(path.len());
    let mut rest = path;
    while let Some((before, after)) = rest.split_once('%') {
        decoded.push_str(before);
        let code = after.get(..2).filter(|code| code.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let letter = code.and_then(|code| u8::from_str_radix(code, 16).ok());
        let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~".contains(byte);
        if let Some(letter) = letter.filter(is_plain) {
            decoded.push(char::from(letter));
            rest = &after[2..];
        } else {
            decoded.push('%');
            rest = after;
        }
    }
    decoded.push_str(rest);
    (decoded.len() < path.len()).then_some(decoded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_decoded_and_what_needs_its_encoding_is_not() {
        let of = |uri: &str| with_letters_decoded(&uri.parse().unwrap()).map(|uri| uri.to_string());
        assert_eq!(of("/st%61tions/%4d%61p?x=%61").as_deref(), Some("/stations/Map?x=%61"));
        assert_eq!(of("/a%2Db%2e%5F%7E%30").as_deref(), Some("/a-b._~0"));
        assert_eq!(of("http://h/%61").as_deref(), Some("http://h/a"));
        for same in ["/stations", "/", "/a%2Fb", "/%25%36%31x%2", "/%C3%A9", "/?%61", "/%", "/%zz"]
        {
            let expected = (same == "/%25%36%31x%2").then_some("/%2561x%2");
            assert_eq!(of(same).as_deref(), expected, "{same}");
        }
    }
}
