//! Notifications in the form of the WIS2 Notification Message, version 1 (WMO, "WIS2 Notification
//! Message Encoding", <https://wmo-im.github.io/wis2-notification-message>).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use mesonet::{Iso8601, Station};
use ring::digest::{SHA512, digest};
use serde_json::json;

/// The longest content that may stand in a notification.
const MAX_CONTENT_BYTES: usize = 4_096;

/// The longest notification.
const MAX_BYTES: usize = 8_192;

/// What notifications say of all reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotificationConfig {
    /// The topic.
    pub topic: String,
    /// The identifier of the discovery metadata record.
    pub metadata_id: String,
    /// The address of the server, without a slash at its end.
    pub public_url: String,
}

/// A report that is notified: readings of one station at one time.
#[derive(Clone, Copy, Debug)]
pub struct NotifiedReport<'a> {
    /// The station.
    pub station: &'a Station,
    /// Time of the readings, milliseconds since 1970.
    pub at_ms: i64,
    /// When it is published, milliseconds since 1970.
    pub published_ms: i64,
    /// The number of the batch that brought the readings. The same report may come in several.
    pub batch: u64,
    /// Path and query at which the server has the readings.
    pub path: &'a str,
    /// The readings as JSON.
    pub content: &'a str,
}

/// Returns the notification of a report as JSON, with an id that is the same each time.
pub fn notification(config: &NotificationConfig, report: &NotifiedReport<'_>) -> Vec<u8> {
    let NotifiedReport { station, at_ms, published_ms, batch, path, content } = *report;
    // Without `origin/a/wis2/`, as the identifiers of other centres.
    let of_topic: Vec<&str> = config.topic.splitn(4, '/').collect();
    let dataset = of_topic.get(3).copied().unwrap_or(&config.topic);
    let time = Iso8601(at_ms).to_string().replace(['-', ':'], "");
    let data_id = format!("{dataset}/{}_{}_{time}_{batch}", station.network, station.native_id);
    let mut point = vec![station.coordinates.lon(), station.coordinates.lat()];
    point.extend(station.altitude_m);
    let mut message = json!({
        "id": id_of(&data_id),
        "conformsTo": ["http://wis.wmo.int/spec/wnm/1/conf/core"],
        "type": "Feature",
        "geometry": { "type": "Point", "coordinates": point },
        "properties": {
            "pubtime": Iso8601(published_ms),
            "datetime": Iso8601(at_ms),
            "data_id": data_id,
            "metadata_id": config.metadata_id,
            // The link leads to a service, whose answer is not a file that a cache could keep.
            "cache": false,
        },
        "links": [{
            "rel": "canonical",
            "type": "application/json",
            "href": format!("{}{path}", config.public_url),
        }],
    });
    let without_content = message.to_string();
    if content.len() <= MAX_CONTENT_BYTES {
        let hash = STANDARD.encode(digest(&SHA512, content.as_bytes()));
        let properties = &mut message["properties"];
        properties["integrity"] = json!({ "method": "sha512", "value": hash });
        properties["content"] =
            json!({ "encoding": "utf-8", "size": content.len(), "value": content });
        let with_content = message.to_string();
        if with_content.len() <= MAX_BYTES {
            return with_content.into_bytes();
        }
    }
    without_content.into_bytes()
}

/// A UUID made from a text as RFC 9562 says of version 8: from a hash of our choice.
fn id_of(text: &str) -> String {
    let hash = digest(&ring::digest::SHA256, text.as_bytes());
    let mut bytes: [u8; 16] = std::array::from_fn(|at| hash.as_ref()[at]);
    bytes[6] = bytes[6] & 0x0f | 0x80;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex = crate::hex::hex(&bytes);
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

#[cfg(test)]
mod tests {
    use mesonet::LonLat;
    use mesonet::feed::FeedStation;
    use serde_json::Value;

    use super::*;

    fn of(content: &str) -> Value {
        let config = NotificationConfig {
            topic: "origin/a/wis2/ca-x/data/core/weather/surface-based-observations/synop".into(),
            metadata_id: "urn:wmo:md:ca-x:wx".into(),
            public_url: "https://wx.example.org".into(),
        };
        let place = LonLat::new(-79.63, 43.68).unwrap();
        let station = FeedStation::new("METAR", "CYYZ").at(place);
        let report = NotifiedReport {
            station: &station,
            at_ms: 1_722_715_200_000,
            published_ms: 1_722_715_201_000,
            batch: 7,
            path: "/api/v1/stations/readings?stationIds=1",
            content,
        };
        let bytes = notification(&config, &report);
        assert!(bytes.len() <= MAX_BYTES);
        assert_eq!(bytes, notification(&config, &report));
        serde_json::from_slice(&bytes).unwrap()
    }

    #[test]
    fn a_notification_has_what_the_standard_requires() {
        let message = of("[{\"value\":29}]");
        let properties = &message["properties"];
        assert_eq!(
            properties["data_id"],
            "ca-x/data/core/weather/surface-based-observations/synop/METAR_CYYZ_20240803T200000Z_7"
        );
        assert_eq!(properties["pubtime"], "2024-08-03T20:00:01Z");
        assert_eq!(properties["datetime"], "2024-08-03T20:00:00Z");
        assert_eq!(properties["content"]["value"], "[{\"value\":29}]");
        assert_eq!(properties["content"]["size"], 14);
        // openssl dgst -sha512 -binary | base64
        assert_eq!(
            properties["integrity"]["value"],
            STANDARD.encode(digest(&SHA512, b"[{\"value\":29}]"))
        );
        assert_eq!(message["geometry"]["coordinates"], json!([-79.63, 43.68]));
        assert_eq!(
            message["links"][0]["href"],
            "https://wx.example.org/api/v1/stations/readings?stationIds=1"
        );
        let id = message["id"].as_str().unwrap();
        assert_eq!((id.len(), &id[14..15]), (36, "8"));
    }

    #[test]
    fn long_content_is_left_to_the_link() {
        for (content, is_inline) in [
            ("x".repeat(4_096), true),
            ("x".repeat(4_097), false),
            // Escaped, it is twice as long.
            ("\"".repeat(4_096), false),
        ] {
            let properties = of(&content)["properties"].take();
            assert_eq!(properties["content"].is_object(), is_inline);
            assert_eq!(properties["integrity"].is_object(), is_inline);
        }
    }
}
