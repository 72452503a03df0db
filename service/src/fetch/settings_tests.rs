use super::*;

impl FetchConfig {
    /// The settings of a source, with defaults for the rest.
    pub(crate) fn new(source: FetchSource, user_agent: &str) -> Self {
        let given = serde_json::json!({ "source": source, "user_agent": user_agent });
        serde_json::from_value(given).unwrap()
    }
}

fn read(table: &str) -> Result<FetchConfig, String> {
    let text = format!("user_agent = \"(tests, weather@example.org)\"\n{table}");
    let config: FetchConfig = toml::from_str(&text).map_err(|error| error.to_string())?;
    config.check().map_err(|error| error.to_string())?;
    Ok(config)
}

#[test]
fn a_source_has_an_address_of_its_own_and_only_the_stations_are_to_be_said() {
    let swob = read("source = \"datamart-swob\"").unwrap();
    assert_eq!(swob.url(), "https://dd.weather.gc.ca/today/observations/swob-ml/latest/");
    assert_eq!((swob.interval_s, swob.connections), (300, 2));
    let nws = read("source = \"nws-observations\"\nstations = [\"KBUF\"]").unwrap();
    assert_eq!(nws.url(), "https://api.weather.gov/stations/{station}/observations?limit=10");
    let cap = read("source = \"datamart-cap\"").unwrap();
    assert_eq!(cap.url(), "https://dd.weather.gc.ca/{date}/WXO-DD/alerts/cap/");
    assert!(cap.wants("T_ONCN00_C_LAND_202608122307_2696623964.cap") && !cap.wants("a.xml"));
    let alerts = read("source = \"nws-alerts\"").unwrap();
    assert_eq!(alerts.url(), "https://api.weather.gov/alerts/active");
    let awc = "source = \"url\"\nurl = \"https://aviationweather.gov/data/cache/metars.cache.csv.gz\"\n\
               kind = \"awc-csv\"";
    assert_eq!(read(awc).unwrap().kind(), Some(feed::Kind::AwcCsv));
}

#[test]
fn what_makes_no_sense_is_refused_with_what_is_allowed() {
    let url = |url: &str| format!("source = \"url\"\nurl = \"{url}\"");
    let of_folder = |url: &str| format!("source = \"datamart-swob\"\nurl = \"{url}\"");
    for (table, says) in [
        ("source = \"ftp\"".to_owned(), "unknown variant"),
        ("source = \"url\"\nurl2 = \"x\"".to_owned(), "unknown field"),
        ("source = \"url\"".to_owned(), "fetch.url is \"\"; it must be an absolute address"),
        (url("http://example.org/a"), "it must be https://…"),
        (url("file:///etc/passwd"), "fetch.url"),
        (url("https://user:word@example.org/"), "without a password"),
        (url("https://example.org/{day}"), "no placeholders but {date}, {observed} and {station}"),
        (url("https://example.org/{station}"), "without {station} if no stations are given"),
        (of_folder("https://example.org/a"), "the address of a folder, which ends with /"),
        ("source = \"nws-observations\"".to_owned(), "no stations are given"),
        (url("https://example.org/a") + "\nkind = \"x\"", "fetch.kind is \"x\""),
        (url("https://example.org/a") + "\nstations = [\"../x\"]", "fetch.stations is \"../x\""),
        (url("https://example.org/a") + "\ninterval_s = 59", "60 to 86400"),
        (url("https://example.org/a") + "\nconnections = 17", "1 to 16"),
        (url("https://example.org/a") + "\ntimeout_s = 0", "1 to 600"),
        (url("https://example.org/a") + "\nmax_file_bytes = 1", "1024 to 1073741824"),
    ] {
        let error = read(&table).unwrap_err();
        assert!(error.contains(says), "{table}: {error}");
    }
    assert!(read(&(url("http://example.org/a") + "\nallow_http = true")).is_ok());
    let mut nameless = FetchConfig::new(FetchSource::DatamartSwob, "curl/8.0");
    assert!(nameless.check().unwrap_err().to_string().contains("a name and a contact"));
    nameless.user_agent = "weather@example.org\nX: y".to_owned();
    assert!(nameless.check().is_err());
}

/// The beginning of a name, or what follows the host, made another machine look like this one: the
/// password would have been sent to it in the clear.
#[cfg(feature = "amqp")]
#[test]
fn a_password_goes_unencrypted_to_this_machine_only() {
    let of = |url: &str| read(&format!("source = \"datamart-amqp\"\nurl = \"{url}\""));
    for url in [
        "amqp://reader:secret@localhost/%2f",
        "amqp://LOCALHOST:5672/",
        "amqp://127.0.0.2:5672/%2f",
        "amqp://reader:secret@[::1]/",
        "amqps://reader:secret@broker.example.org/",
    ] {
        of(url).unwrap();
    }
    for url in [
        "amqp://reader:secret@broker.example.org/",
        "amqp://reader:secret@localhost.example.org/",
        "amqp://127.0.0.1.example.org/",
        "amqp://reader:secret@broker.example.org/@localhost",
        "amqp://",
    ] {
        let error = of(url).unwrap_err();
        assert!(error.contains("amqps://") && !error.contains("secret"), "{error}");
    }
}
