use super::*;

fn refusal(text: &str) -> String {
    text.parse::<RecordPlace>().unwrap_err().to_string()
}

#[test]
fn a_folder_is_the_rest_of_the_text() {
    for folder in ["mesonet-data", "/srv/a b", "C:\\data", "../x"] {
        let text = format!("embedded:{folder}");
        let place: RecordPlace = text.parse().unwrap();
        assert_eq!(place, RecordPlace::Embedded(folder.into()));
        assert_eq!(place.to_string(), text);
    }
}

#[cfg(feature = "clickhouse")]
#[test]
fn a_database_has_an_address_and_perhaps_a_user() {
    let read = |text: &str| match text.parse().unwrap() {
        RecordPlace::ClickHouse(address) => {
            assert_eq!(RecordPlace::ClickHouse(address.clone()).to_string(), text);
            address
        }
        RecordPlace::Embedded(folder) => panic!("{}", folder.display()),
    };
    let ClickHouseAddress { urls, database, cluster, user } =
        read("clickhouse:http://127.0.0.1:8123/mesonet");
    assert_eq!(
        (&*urls[0], &*database, cluster, user),
        ("http://127.0.0.1:8123", "mesonet", None, None)
    );
    let address = read("clickhouse:http://writer@db.example.org:8123/mesonet_2");
    assert_eq!(
        (&*address.urls[0], address.user.as_deref()),
        ("http://db.example.org:8123", Some("writer"))
    );
    assert_eq!(read("clickhouse:http://[::1]:8123/a").urls, ["http://[::1]:8123"]);
    assert_eq!(read("clickhouse:https://me@[::1]:8443/a").urls, ["https://[::1]:8443"]);
    let options = address.options(None).unwrap();
    assert_eq!(
        (options.database, options.user.as_deref()),
        ("mesonet_2".to_owned(), Some("writer"))
    );
}

#[cfg(feature = "clickhouse")]
#[test]
fn a_cluster_has_the_addresses_of_its_nodes_and_a_name() {
    let secure = "clickhouse:https://ch1:8443,ch2:8443/mesonet/weather";
    let place: RecordPlace = secure.parse().unwrap();
    assert_eq!(place.to_string(), secure);
    let text = "clickhouse:http://me@ch1:8123,ch2:8124,[::1]:8123/mesonet/weather-1";
    let place: RecordPlace = text.parse().unwrap();
    assert_eq!(place.to_string(), text);
    let RecordPlace::ClickHouse(address) = place else { panic!("{place}") };
    let options = address.options(None).unwrap();
    assert_eq!(options.urls, ["http://ch1:8123", "http://ch2:8124", "http://[::1]:8123"]);
    let own = (options.database.as_str(), options.cluster.as_deref(), options.user.as_deref());
    assert_eq!(own, ("mesonet", Some("weather-1"), Some("me")));
}

#[test]
fn what_is_not_a_place_is_refused_with_what_is() {
    for text in [
        "",
        "mesonet-data",
        "embedded",
        "embedded:",
        "clickhouse:",
        "clickhouse:mesonet",
        "clickhouse:http://127.0.0.1/mesonet",
        "clickhouse:https://127.0.0.1/mesonet",
        "clickhouse:HTTPS://127.0.0.1:8443/mesonet",
        "clickhouse:tcp://127.0.0.1:9000/mesonet",
        "clickhouse://127.0.0.1:8123/mesonet",
        "clickhouse:http://a:8123,https://b:8443/mesonet/b",
        "clickhouse:http://:8123/mesonet",
        "clickhouse:http://127.0.0.1:8123",
        "clickhouse:http://127.0.0.1:8123/",
        "clickhouse:http://127.0.0.1:8123,127.0.0.1:8124/a",
        "clickhouse:http://127.0.0.1:8123,/a/b",
        "clickhouse:http://127.0.0.1:8123,127.0.0.1/a/b",
        "clickhouse:http://127.0.0.1:8123/a/",
        "clickhouse:http://127.0.0.1:8123/a/b/c",
        "clickhouse:http://127.0.0.1:8123/a/b?c",
        "clickhouse:http://127.0.0.1:8123/a?b=c",
        "clickhouse:http://127.0.0.1:8123/a-b",
        "clickhouse:http://@127.0.0.1:8123/a",
        "clickhouse:tcp://127.0.0.1:9000/a",
        "sqlite:file",
    ] {
        let message = refusal(text);
        let start = format!("\"{text}\" is not the place of a record; it must be embedded:FOLDER");
        assert!(message.starts_with(&start), "{message}");
    }
}

#[cfg(not(feature = "clickhouse"))]
#[test]
fn a_server_without_the_feature_names_it() {
    assert_eq!(
        refusal("clickhouse:http://127.0.0.1:8123/mesonet"),
        "\"clickhouse:http://127.0.0.1:8123/mesonet\" is not the place of a record; it must be \
         embedded:FOLDER; this server was built without the feature clickhouse"
    );
}

#[test]
fn a_password_in_an_address_is_refused_and_not_repeated() {
    for text in [
        "clickhouse:http://me:secret@127.0.0.1:8123/mesonet",
        "clickhouse:http://:secret@127.0.0.1:8123/mesonet",
        "clickhouse:me:secret@127.0.0.1/mesonet",
        "clickhouse:http://me:secret@127.0.0.1:8123,127.0.0.1:8124/a/b",
        "clickhouse://me:secret@127.0.0.1",
        "http://me:secret@127.0.0.1:8123/mesonet",
    ] {
        let message = refusal(text);
        assert!(
            message.contains("store_password_file") && !message.contains("secret"),
            "{message}"
        );
    }
}

proptest::proptest! {
    #[test]
    fn no_text_is_more_than_refused(text in "(clickhouse:|embedded:|)(http://|)\\PC*") {
        if let Ok(place) = text.parse::<RecordPlace>() {
            proptest::prop_assert_eq!(place.to_string().parse(), Ok(place));
        }
    }
}
