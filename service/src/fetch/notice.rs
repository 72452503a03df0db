//! Messages of a Sarracenia broker about files, in the format "v02" of `sr_post(7)`.
//!
//! The first line of a message is a time, the base of an address and the rest of it, separated by
//! spaces. The header `sum` says what happened to the file.

use http::Uri;

use super::address::{Policy, file_name};

/// Longest message that is read. Real ones have about 200 bytes.
const MAX_BYTES: usize = 4096;

/// A file that was announced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Notice {
    pub address: String,
    pub name: String,
}

/// A message that does not announce a file that may be fetched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum NoticeError {
    #[error("a message is {0} bytes long; the limit is {MAX_BYTES}")]
    TooLong(usize),
    #[error("the first line of a message is not \"time base path\"")]
    Form,
    #[error("a message about a file at \"{0}\", which is not on a configured host")]
    Elsewhere(String),
}

/// Whether a message announces a new file, by its header `sum`: `R` is a removed file, and `L` is a
/// link.
pub(super) fn announces_content(sum: Option<&str>) -> bool {
    sum.is_none_or(|sum| !sum.starts_with(['R', 'L']))
}

/// Reads a message. The file must be on one of the hosts.
pub(super) fn read_notice(
    message: &[u8],
    hosts: &[String],
    policy: Policy,
) -> Result<Notice, NoticeError> {
    if message.len() > MAX_BYTES {
        return Err(NoticeError::TooLong(message.len()));
    }
    let text = std::str::from_utf8(message).map_err(|_| NoticeError::Form)?;
    let first_line = text.lines().next().unwrap_or_default();
    let words: Vec<&str> = first_line.split(' ').filter(|word| !word.is_empty()).collect();
    let [time, base, path] = words[..] else { return Err(NoticeError::Form) };
    // 20241201000123.456
    let digits = time.split('.').next().unwrap_or_default();
    if digits.len() != 14 || !time.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return Err(NoticeError::Form);
    }
    let address = format!("{}/{}", base.trim_end_matches('/'), path.trim_start_matches('/'));
    let elsewhere = || NoticeError::Elsewhere(address.chars().take(200).collect());
    let uri: Uri = address.parse().map_err(|_| elsewhere())?;
    let is_known = hosts.iter().any(|host| Some(host.as_str()) == uri.host());
    let leads_up = uri.path().split('/').any(|part| part == "..");
    if !is_known || leads_up || policy.allows(&uri).is_err() {
        return Err(elsewhere());
    }
    let name = file_name(&address).to_owned();
    if name.is_empty() || path.ends_with('/') {
        return Err(NoticeError::Form);
    }
    Ok(Notice { address, name })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(message: &str) -> Result<Notice, NoticeError> {
        let hosts = ["dd.weather.gc.ca".to_owned(), "127.0.0.1".to_owned()];
        read_notice(message.as_bytes(), &hosts, Policy { allow_http: false })
    }

    const MESSAGE: &str = "20241201000123.456 https://dd.weather.gc.ca/ \
        /20241201/WXO-DD/observations/swob-ml/20241201/CYYZ/2024-12-01-0000-CYYZ-MAN-swob.xml\n";

    #[test]
    fn a_message_names_a_file_in_two_parts() {
        let notice = Notice {
            address: "https://dd.weather.gc.ca/20241201/WXO-DD/observations/swob-ml/20241201/CYYZ/2024-12-01-0000-CYYZ-MAN-swob.xml".to_owned(),
            name: "2024-12-01-0000-CYYZ-MAN-swob.xml".to_owned(),
        };
        assert_eq!(read(MESSAGE), Ok(notice.clone()));
        // With or without the slashes between the parts. Everything after the first line is
        // reserved.
        assert_eq!(read(&MESSAGE.replace("ca/ /", "ca ")), Ok(notice.clone()));
        assert_eq!(read(&format!("{MESSAGE}more\n")), Ok(notice));
        assert!(read("20241201000123 http://127.0.0.1:8080 a.xml").is_ok());
    }

    #[test]
    fn a_file_elsewhere_is_not_fetched() {
        for message in [
            "20241201000123.456 https://example.org/ a.xml",
            "20241201000123.456 https://dd.weather.gc.ca.example.org/ a.xml",
            "20241201000123.456 https://dd.weather.gc.ca@example.org/ a.xml",
            "20241201000123.456 https://user@dd.weather.gc.ca/ a.xml",
            "20241201000123.456 http://dd.weather.gc.ca/ a.xml",
            "20241201000123.456 sftp://dd.weather.gc.ca/ a.xml",
            "20241201000123.456 https://dd.weather.gc.ca/ a/../b.xml",
            "20241201000123.456 dd.weather.gc.ca a.xml",
        ] {
            assert!(matches!(read(message), Err(NoticeError::Elsewhere(_))), "{message}");
        }
    }

    #[test]
    fn malformed_messages_are_refused() {
        for message in [
            "",
            "\n",
            "20241201000123.456 https://dd.weather.gc.ca/",
            "20241201000123.456 https://dd.weather.gc.ca/ a.xml b.xml",
            "yesterday https://dd.weather.gc.ca/ a.xml",
            "20241201T000123 https://dd.weather.gc.ca/ a.xml",
            "20241201000123.456 https://dd.weather.gc.ca/ a/",
            r#"{"pubTime":"20241201T000123","baseUrl":"https://dd.weather.gc.ca/"}"#,
        ] {
            assert_eq!(read(message), Err(NoticeError::Form), "{message}");
        }
        let long = "1".repeat(MAX_BYTES + 1);
        assert_eq!(read(&long), Err(NoticeError::TooLong(MAX_BYTES + 1)));
        let hosts = ["dd.weather.gc.ca".to_owned()];
        let policy = Policy { allow_http: false };
        assert_eq!(read_notice(b"\xff\xfe", &hosts, policy), Err(NoticeError::Form));
    }

    #[test]
    fn removed_files_and_links_are_not_announced() {
        assert!(announces_content(None));
        assert!(announces_content(Some("d,7d0e0b1c2a")));
        assert!(!announces_content(Some("R,7d0e0b1c2a")));
        assert!(!announces_content(Some("L,7d0e0b1c2a")));
    }

    #[test]
    fn a_scheme_may_be_in_capitals() {
        let notice = read("20241201000123.456 Https://dd.weather.gc.ca/ a.xml").unwrap();
        assert_eq!(notice.address, "Https://dd.weather.gc.ca/a.xml");
    }

    proptest! {
        #[test]
        fn whatever_is_said_only_a_known_host_is_named(
            message in "20241201000123 (https?://|/|@|\\.\\.|dd\\.weather\\.gc\\.ca|127\\.0\\.0\\.1|evil\\.org|[a-z:?#%\\\\ é]){0,8} ?(/|\\.\\.|[a-z.@:]){0,12}",
        ) {
            if let Ok(notice) = read(&message) {
                let uri: Uri = notice.address.parse().unwrap();
                let host = uri.host().unwrap().to_owned();
                prop_assert!(host == "dd.weather.gc.ca" || host == "127.0.0.1");
                prop_assert!(!notice.name.contains('/'));
            }
        }

        #[test]
        fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let hosts = ["dd.weather.gc.ca".to_owned()];
            let _ = read_notice(&bytes, &hosts, Policy { allow_http: true });
        }

        #[test]
        fn a_message_with_a_byte_changed_is_read(at in 0..MESSAGE.len(), byte in any::<u8>()) {
            let mut bytes = MESSAGE.as_bytes().to_vec();
            bytes[at] = byte;
            let hosts = ["dd.weather.gc.ca".to_owned()];
            if let Ok(notice) = read_notice(&bytes, &hosts, Policy { allow_http: false }) {
                let address = notice.address.to_ascii_lowercase();
                prop_assert!(address.starts_with("https://dd.weather.gc.ca"));
            }
        }
    }
}
