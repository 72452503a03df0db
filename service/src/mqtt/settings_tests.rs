use super::*;

impl MqttConfig {
    /// Settings for a broker, with defaults for all others.
    pub(crate) fn new(name: &str, address: &str) -> Self {
        serde_json::from_value(serde_json::json!({ "name": name, "address": address })).unwrap()
    }
}

fn error(change: impl FnOnce(&mut MqttConfig)) -> String {
    let mut changed = MqttConfig::new("wx", "mqtts://broker.example.org");
    change(&mut changed);
    changed.check().unwrap_err().to_string()
}

fn endpoint(address: &str) -> Option<(String, u16, bool)> {
    let found = MqttConfig::new("wx", address).endpoint().ok()?;
    Some((found.host, found.port, found.is_encrypted))
}

#[test]
fn an_address_is_encrypted_or_on_this_machine_and_has_no_password() {
    let of = |host: &str, port, is_encrypted| Some((host.to_owned(), port, is_encrypted));
    for (address, expected) in [
        ("mqtts://broker.example.org", of("broker.example.org", 8883, true)),
        ("mqtts://broker.example.org:443/", of("broker.example.org", 443, true)),
        ("mqtts://[2001:db8::1]:8884", of("2001:db8::1", 8884, true)),
        ("mqtt://localhost", of("localhost", 1883, false)),
        ("mqtt://127.0.0.2:1884", of("127.0.0.2", 1884, false)),
        ("mqtt://[::1]", of("::1", 1883, false)),
    ] {
        assert_eq!(endpoint(address), expected, "{address}");
    }
    for address in [
        "",
        "broker.example.org",
        "mqtt://broker.example.org",
        "mqtt://127.0.0.1.example.org",
        "mqtt://10.0.0.1",
        "https://broker.example.org",
        "mqtts://",
        "mqtts://:8883",
        "mqtts://broker.example.org:",
        "mqtts://broker.example.org:0",
        "mqtts://broker.example.org:65536",
        "mqtts://me:hunter2@broker.example.org",
        "mqtts://me@broker.example.org",
        "mqtts://broker.example.org/hunter2",
        "mqtts://broker.example.org/?a=hunter2",
    ] {
        let error = MqttConfig::new("wx", address).check().unwrap_err().to_string();
        assert!(error.starts_with("mqtt.address is an address of another form"), "{error}");
        assert!(!error.contains("hunter2"), "{error}");
    }
    let mut plain = MqttConfig::new("wx", "mqtt://10.0.0.1");
    plain.allow_plaintext = true;
    assert_eq!(plain.check(), Ok(()));
}

#[test]
fn a_value_that_is_not_allowed_is_named_with_what_is() {
    type Change = fn(&mut MqttConfig);
    let cases: &[(Change, &str)] = &[
        (|of| of.name = "A".into(), "mqtt.name"),
        (|of| of.name.clear(), "mqtt.name"),
        (|of| of.client_id = Some("a b".into()), "mqtt.client_id"),
        (|of| of.client_id = Some(String::new()), "mqtt.client_id"),
        (|of| of.user = Some("a\0".into()), "mqtt.user"),
        (|of| of.password_file = Some("p".into()), "mqtt.password_file"),
        (|of| of.key_file = Some("k".into()), "mqtt.certificate_file"),
        (
            |of| {
                of.address = "mqtt://localhost".into();
                of.ca_file = Some("c".into());
            },
            "mqtt.ca_file",
        ),
        (|of| of.prefix.clear(), "mqtt.prefix"),
        (|of| of.prefix = "$SYS".into(), "mqtt.prefix"),
        (|of| of.prefix = "a//b".into(), "mqtt.prefix"),
        (|of| of.prefix = "/a".into(), "mqtt.prefix"),
        (|of| of.prefix = "a/#".into(), "mqtt.prefix"),
        (|of| of.prefix = "a+".into(), "mqtt.prefix"),
        (|of| of.prefix = "a\0".into(), "mqtt.prefix"),
        (|of| of.prefix = "a".repeat(201), "mqtt.prefix"),
        (|of| of.timeout_s = 0, "mqtt.timeout_s"),
        (|of| of.wis2_topic = Some("a".into()), "mqtt.wis2_topic"),
        (|of| of.public_url = Some("https://a".into()), "mqtt.public_url"),
        (|of| of.wis2_centre_id = Some("Ca-x".into()), "mqtt.wis2_centre_id"),
        (|of| of.wis2_centre_id = Some("ca-x".into()), "mqtt.wis2_metadata_id"),
        (
            |of| {
                of.wis2_centre_id = Some("ca-x".into());
                of.wis2_metadata_id = Some("urn:wmo:md:ca-x:wx".into());
            },
            "mqtt.public_url",
        ),
        (
            |of| {
                of.wis2_centre_id = Some("ca-x".into());
                of.wis2_metadata_id = Some("urn:wmo:md:ca-x:wx".into());
                of.public_url = Some("https://me:hunter2@a".into());
            },
            "mqtt.public_url",
        ),
    ];
    for &(change, key) in cases {
        let text = error(change);
        assert!(text.starts_with(&format!("{key} is ")), "{key}: {text}");
        assert!(!text.contains("hunter2"), "{text}");
    }
}

#[test]
fn a_table_says_where_and_in_which_form() {
    let text = "name = \"wx\"\naddress = \"mqtts://broker.example.org\"\nprefix = \"ca/on\"\n\
                filter = \"topics=readings&networks=METAR\"\nwis2_centre_id = \"ca-example\"\n\
                wis2_metadata_id = \"urn:wmo:md:ca-example:wx\"\npublic_url = \"https://wx.example.org\"\n";
    let config: MqttConfig = toml::from_str(text).unwrap();
    assert_eq!(config.check(), Ok(()));
    assert_eq!(config.client_id(), "mesonet-wx");
    let topic = config.notification_topic().unwrap();
    assert_eq!(
        topic,
        "origin/a/wis2/ca-example/data/core/weather/surface-based-observations/synop"
    );
    assert!(config.retain && MqttConfig::new("wx", "mqtts://a").notification_topic().is_none());
    let again = [config.clone(), config];
    if cfg!(feature = "mqtt") {
        let error = MqttConfig::check_all(&again).unwrap_err().to_string();
        assert!(error.ends_with("must be different for each"), "{error}");
        // Two with one client id would end each other's connection for ever.
        let [mut first, mut second] =
            ["wx", "other"].map(|name| MqttConfig::new(name, "mqtts://a"));
        assert!(MqttConfig::check_all(&[first.clone(), second.clone()]).is_ok());
        second.client_id = Some(first.client_id());
        let error =
            MqttConfig::check_all(&[first.clone(), second.clone()]).unwrap_err().to_string();
        assert!(error.contains("mqtt.client_id") && error.contains("of \"wx\""), "{error}");
        first.address = "mqtts://b".to_owned();
        assert!(MqttConfig::check_all(&[first, second]).is_ok());
    } else {
        let error = MqttConfig::check_all(&again[..1]).unwrap_err().to_string();
        assert!(error.ends_with("built without the feature mqtt"), "{error}");
    }
}
