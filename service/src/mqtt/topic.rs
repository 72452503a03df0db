//! The topics of messages.

use percent_encoding::percent_encode_byte;

/// The topics below a prefix.
///
/// A level that comes from data is escaped as in an address: `+`, `#`, `/`, `%`, control characters and
/// characters that Unicode does not assign become `%` and two hexadecimal digits for each byte of their
/// UTF-8. An empty level is `%`. So two levels are the same only if their texts are.
///
/// ```
/// use mesonet_service::mqtt::Topics;
/// let topics = Topics::new("mesonet");
/// let topic = topics.of(&["readings", "MY/NET", "A+1", "airTemperature"]);
/// assert_eq!(topic, "mesonet/readings/MY%2FNET/A%2B1/airTemperature");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topics(String);

impl Topics {
    /// The topics below a prefix, which has passed the check of the settings.
    pub fn new(prefix: &str) -> Self {
        Self(prefix.to_owned())
    }

    /// The topic of some levels below the prefix.
    pub fn of(&self, levels: &[&str]) -> String {
        let mut topic = self.0.clone();
        for level in levels {
            topic.push('/');
            escape(level, &mut topic);
        }
        topic
    }
}

fn escape(level: &str, topic: &mut String) {
    if level.is_empty() {
        topic.push('%');
    }
    for char in level.chars() {
        if is_plain(char) {
            topic.push(char);
        } else {
            topic.extend(char.encode_utf8(&mut [0; 4]).bytes().map(percent_encode_byte));
        }
    }
}

/// Whether a character may stand in a topic (MQTT 5, 1.5.4 and 4.7.1), and does not escape another.
pub(super) fn is_plain(char: char) -> bool {
    let code = u32::from(char);
    let is_unassigned = (0xfdd0..=0xfdef).contains(&code) || code & 0xfffe == 0xfffe;
    !char.is_control() && !is_unassigned && !['+', '#', '/', '%'].contains(&char)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_has_a_meaning_in_a_topic_never_comes_from_data() {
        let topics = Topics::new("a/b");
        for (level, expected) in [
            ("CYYZ", "a/b/CYYZ"),
            ("urn:oid:2.49.0.1.124", "a/b/urn:oid:2.49.0.1.124"),
            ("+", "a/b/%2B"),
            ("#", "a/b/%23"),
            ("../x", "a/b/..%2Fx"),
            ("", "a/b/%"),
            ("%", "a/b/%25"),
            ("\0", "a/b/%00"),
            ("Île d'Orléans", "a/b/Île d'Orléans"),
            ("\u{85}\u{fffe}", "a/b/%C2%85%EF%BF%BE"),
            ("$SYS", "a/b/$SYS"),
        ] {
            assert_eq!(topics.of(&[level]), expected);
        }
        assert_eq!(topics.of(&[]), "a/b");
    }

    proptest! {
        #[test]
        fn different_levels_have_different_topics(a in ".{0,8}", b in "[+#/%\0a-c2BF]{0,8}") {
            let topics = Topics::new("p");
            for text in [&a, &b] {
                let topic = topics.of(&[text]);
                prop_assert_eq!(topic.matches('/').count(), 1);
                prop_assert!(!topic.contains(['+', '#', '\0']));
            }
            prop_assert_eq!(topics.of(&[&a]) == topics.of(&[&b]), a == b);
        }
    }
}
