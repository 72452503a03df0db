//! `/products`: files of raster products, whole and in ranges.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use axum::body::Body;
use axum::http::{HeaderName, Method, header};
use flate2::read::GzDecoder;
use mesonet::raster::Raster;
use mesonet::{grib, raster};
use mesonet_server::Config;
use mesonet_service::ingest::KeyHash;
use mesonet_service::products::ProductFiles;
use tempfile::TempDir;

use crate::support::{Answer, Api, TestStore};

const OWN: &str = "\
    without = [\"compositeReflectivity\", \"echoTop\", \"hailSize\", \"precipitation\", \
    \"precipitationAnalysis\", \"precipitationRate\", \"verticallyIntegratedLiquid\"]\n\
    [pressure]\ntitle = \"Pressure\"\nunit = \"Pa\"\nscale = 0.5\noffset = 100000\n\
    fields = [{ parameter = \"7:0.3.1\" }]\n\
    [rain]\ntitle = \"Rain\"\nunit = \"mm\"\nscale = 0.1\n\
    fields = [{ parameter = \"1:2.3.4\", duration = \"24h\" }]\n";

const COG: &str = "image/tiff; application=geotiff; profile=cloud-optimized";

/// A service with its own data folder.
struct Service {
    api: Api,
    folder: TempDir,
}

fn service() -> Service {
    let folder = TempDir::new().unwrap();
    let own = folder.path().join("own.toml");
    fs::write(&own, OWN).unwrap();
    let config = Config {
        data: folder.path().to_owned(),
        products: Some(own),
        ingest_key_hashes: vec![KeyHash::of("key").as_str().to_owned()],
        ..Config::default()
    };
    Service { api: Api::with(config, TestStore::beside(folder.path())), folder }
}

impl Service {
    /// Writes a file of pressure with a text in it. Any other file is just the text.
    fn put(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join("products").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let bytes = match name.strip_prefix("pressure/instant/") {
            Some(name) => pressure(name, text),
            None => text.as_bytes().to_vec(),
        };
        fs::write(&path, bytes).unwrap();
        path
    }

    fn get(&self, path: &str, headers: &[(HeaderName, &str)]) -> Answer {
        self.api.get_with(&format!("/products/{path}"), headers)
    }
}

/// Returns a file of pressure for the time in a name, with a text in its metadata.
fn pressure(name: &str, text: &str) -> Vec<u8> {
    static FILE: LazyLock<Vec<u8>> = LazyLock::new(|| {
        let mut bytes = Vec::new();
        let packed = grib("nam211_prmsl_simple.grib2.gz");
        GzDecoder::new(&*packed).read_to_end(&mut bytes).unwrap();
        let field = grib::fields(&bytes).next().unwrap().unwrap();
        let catalogue = raster::RasterCatalogue::from_toml(OWN).unwrap();
        let product = catalogue.get("pressure").unwrap();
        let mut file = Vec::new();
        Raster::new(&field, product, grib::MAX_POINTS).unwrap().write_cog(&mut file).unwrap();
        file
    });
    let mut bytes = FILE.clone();
    let [year, month, day] = [&name[..4], &name[4..6], &name[6..8]];
    let time = format!("{year}-{month}-{day}T{}:00:00Z", &name[9..11]);
    for (item, text) in [("VALID_TIME\">", time), ("REFERENCE_TIME\">", format!("{text:20}"))] {
        let at = bytes.windows(item.len()).position(|part| part == item.as_bytes()).unwrap();
        bytes[at + item.len()..][..20].copy_from_slice(text.as_bytes());
    }
    let end = bytes.len() - 12;
    let checksum = crc32c::crc32c(&bytes[..end]).to_le_bytes();
    bytes[end + 8..].copy_from_slice(&checksum);
    bytes
}

/// Two files of pressure.
fn two() -> Service {
    let service = service();
    service.put("pressure/instant/20240803T110000Z.tif", "eleven");
    service.put("pressure/instant/20240803T120000Z.tif", "twelve");
    service
}

fn grib(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("data/grib").join(name)).unwrap()
}

#[test]
fn without_a_timestamp_it_is_the_newest_and_with_one_just_that() {
    let service = two();
    let newest = service.get("pressure", &[]);
    let twelve = pressure("20240803T120000Z.tif", "twelve");
    assert_eq!((newest.status.as_u16(), &*newest.body), (200, &*twelve));
    assert_eq!(newest.header(header::CONTENT_TYPE), Some(COG));
    assert_eq!(newest.header(header::CONTENT_LENGTH), Some(&*twelve.len().to_string()));
    assert_eq!(newest.header(header::ACCEPT_RANGES), Some("bytes"));
    assert_eq!(newest.header(header::CACHE_CONTROL), Some("no-cache"));
    assert!(newest.header(header::ETAG).unwrap().starts_with('"'));
    assert!(newest.header(header::LAST_MODIFIED).unwrap().ends_with(" GMT"));
    let address = "/api/v1/products/pressure?timestamp=2024-08-03T12:00:00Z";
    assert_eq!(newest.header(header::CONTENT_LOCATION), Some(address));
    let same = service.api.call(Method::GET, address, &[], Body::empty());
    assert_eq!((same.status.as_u16(), &same.body), (200, &newest.body));

    let eleven = pressure("20240803T110000Z.tif", "eleven");
    for text in ["2024-08-03T11:00:00Z", "2024-08-03T13:00:00+02:00", "2024-08-03T07:00-04:00"] {
        let answer = service.get(&format!("pressure?timestamp={text}"), &[]);
        assert_eq!((answer.status.as_u16(), &*answer.body), (200, &*eleven), "{text}");
    }
    service.put("pressure/instant/20240803T130000Z.tif", "thirteen");
    let thirteen = pressure("20240803T130000Z.tif", "thirteen");
    assert_eq!(service.get("pressure", &[]).body, thirteen);
}

#[test]
fn ranges_are_those_of_rfc_9110() {
    let service = two();
    let range = |range: &str| {
        let answer = service.get("pressure", &[(header::RANGE, range)]);
        let content_range = answer.header(header::CONTENT_RANGE).map(str::to_owned);
        (answer.status.as_u16(), answer.body.to_vec(), content_range)
    };
    let file = pressure("20240803T120000Z.tif", "twelve");
    let length = file.len();
    let last = length - 1;
    let part = |first: usize, last: usize| {
        let place = format!("bytes {first}-{last}/{length}");
        (206, file[first..=last].to_vec(), Some(place))
    };
    assert_eq!(range("bytes=0-0"), part(0, 0));
    assert_eq!(range("bytes=1-3"), part(1, 3));
    assert_eq!(range("bytes=3-"), part(3, last));
    assert_eq!(range("bytes=3-99999999"), part(3, last));
    assert_eq!(range("bytes=-2"), part(last - 1, last));
    assert_eq!(range("bytes=0-1,3-4"), (200, file.clone(), None));
    // RFC 9110 (14.2): an unknown unit is ignored. The unit of bytes is read in upper and lower
    // case.
    for unknown in ["items=0-1", "seconds=1-3", "byte=1-3", "bytes", "0-1", "=1-3", ""] {
        assert_eq!(range(unknown), (200, file.clone(), None), "{unknown}");
    }
    assert_eq!(range("Bytes=1-3"), part(1, 3));
    for nowhere in [format!("bytes={length}-"), "bytes=99999999-100000000".to_owned()] {
        let nothing = (416, Vec::new(), Some(format!("bytes */{length}")));
        assert_eq!(range(&nowhere), nothing, "{nowhere}");
    }
    let head = |headers| {
        let uri = "/api/v1/products/pressure";
        service.api.call(Method::HEAD, uri, headers, Body::empty())
    };
    let answer = head(&[(header::RANGE, "bytes=1-3")]);
    answer.is_empty(200);
    assert_eq!(answer.header(header::CONTENT_LENGTH), Some(&*length.to_string()));
}

#[test]
fn a_range_of_another_state_of_the_file_is_the_whole_file() {
    let service = two();
    let first = service.get("pressure", &[]);
    let tag = first.header(header::ETAG).unwrap();
    let range = |validator: &str| {
        let headers = [(header::RANGE, "bytes=0-1"), (header::IF_RANGE, validator)];
        service.get("pressure", &headers).status.as_u16()
    };
    assert_eq!(range(tag), 206);
    assert_eq!(range(&format!("W/{tag}")), 200);
    assert_eq!(range("\"x\""), 200);
    assert_eq!(range(first.header(header::LAST_MODIFIED).unwrap()), 200);
}

#[test]
fn a_caller_who_has_the_file_gets_a_304() {
    let service = two();
    let first = service.get("pressure", &[]);
    let tag = first.header(header::ETAG).unwrap();
    let date = first.header(header::LAST_MODIFIED).unwrap();
    let status = |name: HeaderName, value: &str| {
        let answer = service.get("pressure", &[(name, value)]);
        if answer.status == 304 {
            assert!(answer.body.is_empty());
            assert_eq!(answer.header(header::ETAG), Some(tag));
            assert_eq!(answer.header(header::CACHE_CONTROL), Some("no-cache"));
        }
        answer.status.as_u16()
    };
    assert_eq!(status(header::IF_NONE_MATCH, tag), 304);
    assert_eq!(status(header::IF_NONE_MATCH, &format!("\"x\", W/{tag}")), 304);
    assert_eq!(status(header::IF_NONE_MATCH, "\"x\""), 200);
    assert_eq!(status(header::IF_MODIFIED_SINCE, date), 304);
    assert_eq!(status(header::IF_MODIFIED_SINCE, "Thu, 01 Jan 1970 00:00:00 GMT"), 200);
    assert_eq!(status(header::IF_MATCH, tag), 200);
    assert_eq!(status(header::IF_MATCH, "\"x\""), 412);
    // A better file for the same time has another tag.
    let path = service.folder.path().join("products/pressure/instant/20240803T120000Z.tif");
    fs::remove_file(path).unwrap();
    service.put("pressure/instant/20240803T120000Z.tif", "twelve!");
    assert_eq!(service.get("pressure", &[(header::IF_NONE_MATCH, tag)]).status, 200);
}

#[test]
fn what_is_not_there_is_a_404_that_says_what_is() {
    let service = two();
    for (path, text) in [
        (
            "snow",
            "unknown product \"snow\"; known are lightningDensity, pressure, rain, reflectivity",
        ),
        (
            "..%2F..%2Fetc",
            "unknown product \"../../etc\"; known are lightningDensity, pressure, rain, \
             reflectivity",
        ),
        ("reflectivity", "no file of reflectivity (instant)"),
        (
            "pressure?timestamp=2024-08-03T11:00:01Z",
            "no file of pressure (instant) of 2024-08-03T11:00:01Z",
        ),
        (
            "pressure?timestamp=2024-08-03T11:00:00.5Z",
            "no file of pressure (instant) of 2024-08-03T11:00:00.500Z",
        ),
        ("pressure?duration=1h", "pressure is available for instant"),
        ("rain?duration=6h", "rain is available for 24h"),
        ("rain", "no file of rain (24h)"),
        ("lightningDensity?duration=5min", "no file of lightningDensity (5min)"),
    ] {
        service.get(path, &[]).refuses(404, text);
    }
    service.api.get("/products/pressure/x").is_empty(404);
}

#[test]
fn what_is_malformed_is_a_400_that_says_what_is_allowed() {
    let service = two();
    let allowed = "it must be a positive whole number followed by min, h or d, up to 366d, for \
                   example 24h";
    for (query, text) in [
        ("pressure?duration=1m", format!("invalid duration \"1m\": {allowed}")),
        ("snow?duration=", format!("invalid duration \"\": {allowed}")),
        (
            "pressure?duration=1h&duration=1h",
            "duration is given 2 times; it must be given only once".to_owned(),
        ),
        (
            "pressure?timestamp=noon",
            "\"noon\" is not an instant; allowed is RFC 3339 with Z or an offset, years 0000 to \
             9999, for example 2024-08-03T21:00:00Z"
                .to_owned(),
        ),
        (
            "lightningDensity",
            "duration is required; lightningDensity is available for 1min, 5min, 15min, \
             30min"
                .to_owned(),
        ),
    ] {
        service.get(query, &[]).refuses(400, &text);
        let (name, query) = query.split_once('?').unwrap_or((query, ""));
        service.get(&format!("{name}/exists?{query}"), &[]).refuses(400, &text);
    }
}

#[test]
fn exists_tells_whether_there_is_a_file() {
    let service = two();
    service.put("rain/24h/20240803T120000Z.tif", "rain");
    for (path, exists) in [
        ("pressure/exists", true),
        ("pressure/exists?timestamp=2024-08-03T11:00:00Z", true),
        ("pressure/exists?timestamp=2024-08-03T11:30:00Z", false),
        ("pressure/exists?duration=1h", false),
        ("rain/exists", true),
        ("rain/exists?duration=1d", true),
        ("rain/exists?duration=1440min&timestamp=2024-08-03T12:00:00Z", true),
        ("reflectivity/exists", false),
        ("snow/exists", false),
    ] {
        service.get(path, &[]).is(&format!(r#"{{"exists":{exists}}}"#));
    }
}

#[test]
fn the_list_has_every_product_with_its_times_newest_first() {
    let service = two();
    service.put("rain/24h/20240803T120000Z.tif", "rain");
    // A file with any other name is not a product, for example a file that is being written.
    service.put("rain/24h/.tmpabc", "half");
    service.put("rain/24h/notes.txt", "");
    service.api.get("/products").is(concat!(
        r#"{"products":{"lightningDensity":{"title":"Density of cloud-to-ground lightning","#,
        r#""unit":"flashes/km²/min","scale":0.001,"offset":0.0,"nodata":-32768,"durations":["#,
        r#"{"duration":"1min","timestamps":[]},{"duration":"5min","timestamps":[]},"#,
        r#"{"duration":"15min","timestamps":[]},{"duration":"30min","timestamps":[]}]},"#,
        r#""pressure":{"title":"Pressure","unit":"Pa","scale":0.5,"offset":100000.0,"#,
        r#""nodata":-32768,"durations":[{"timestamps":["2024-08-03T12:00:00Z","#,
        r#""2024-08-03T11:00:00Z"]}]},"rain":{"title":"Rain","unit":"mm","scale":0.1,"#,
        r#""offset":0.0,"nodata":-32768,"durations":[{"duration":"24h","timestamps":["#,
        r#""2024-08-03T12:00:00Z"]}]},"reflectivity":{"title":"Radar reflectivity at the lowest "#,
        r#"altitude","unit":"dBZ","scale":0.1,"offset":0.0,"nodata":-32768,"noEcho":-99.0,"#,
        r#""durations":[{"timestamps":[]}]}}}"#
    ));
}

#[test]
fn the_file_that_is_served_is_the_one_that_was_made_of_the_field() {
    let service = service();
    let mut bytes = Vec::new();
    let packed = grib("nam211_prmsl_simple.grib2.gz");
    GzDecoder::new(&*packed).read_to_end(&mut bytes).unwrap();
    let field = grib::fields(&bytes).next().unwrap().unwrap();
    let catalogue = raster::RasterCatalogue::from_toml(OWN).unwrap();
    let files = ProductFiles::new(service.folder.path(), catalogue);
    let catalogue = files.catalogue();
    let product = catalogue.get("pressure").unwrap();
    let raster = Raster::new(&field, product, grib::MAX_POINTS).unwrap();
    let length = files.put(product, None, &raster).unwrap().unwrap();
    // The same file, written again, stays.
    assert_eq!(files.put(product, None, &raster).unwrap(), None);
    let answer = service.get("pressure?timestamp=2018-09-17T00:00:00Z", &[]);
    assert_eq!((answer.status.as_u16(), answer.body.len() as u64), (200, length));
    assert!(answer.body.starts_with(b"II*\0"));
}

#[test]
fn a_damaged_file_is_a_503_until_a_whole_one_is_in_its_place() {
    let service = two();
    let path = service.folder.path().join("products/pressure/instant/20240803T120000Z.tif");
    let whole = fs::read(&path).unwrap();
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    let eleven = pressure("20240803T110000Z.tif", "eleven");
    for damaged in [&flipped, &whole[..100].to_vec(), &vec![7; 5000], &Vec::new(), &eleven] {
        // As on a failing disk: the file has other content.
        fs::remove_file(&path).unwrap();
        fs::write(&path, damaged).unwrap();
        let text = "the file of pressure (instant) of 2024-08-03T12:00:00Z is damaged";
        service.get("pressure", &[]).refuses(503, text);
        service.get("pressure", &[(header::RANGE, "bytes=0-9")]).refuses(503, text);
        let uri = "/api/v1/products/pressure";
        assert_eq!(service.api.call(Method::HEAD, uri, &[], Body::empty()).status, 503);
        assert_eq!(service.get("pressure?timestamp=2024-08-03T11:00:00Z", &[]).body, eleven);
    }
    fs::remove_file(&path).unwrap();
    fs::write(&path, &whole).unwrap();
    assert_eq!(service.get("pressure", &[]).body, whole);
}

#[test]
fn a_field_that_is_pushed_is_a_product() {
    let service = service();
    let push = |bytes: Vec<u8>| {
        let bearer = [(header::AUTHORIZATION, "Bearer key")];
        service.api.call(Method::POST, "/api/v1/ingest?name=x", &bearer, Body::from(bytes))
    };
    let answer = push(grib("nam211_20180917T00Z_f000.grib2.gz"));
    let summary: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
    assert_eq!(answer.status, 200, "{summary}");
    let products = &summary["products"];
    assert_eq!((&products["files"], &products["otherFields"]), (&1.into(), &6.into()));
    let written = &products["written"]["first"][0];
    assert_eq!(written["product"], "pressure");
    assert_eq!(written["timestamp"], "2018-09-17T00:00:00Z");
    service.get("pressure/exists", &[]).is(r#"{"exists":true}"#);

    let refused = push(grib("safrica_20100308T12Z_f000_ps.grib2.gz"));
    refused.refuses(
        400,
        "x: none of its fields belongs to a product of the catalogue; it holds 7:0.1.3, \
         7:0.4.4, \
         7:0.1.7; a file of a model goes into the folder models/NAME/ of a watched folder, or is read with \
         --model NAME",
    );
}

#[test]
fn a_disk_that_refuses_a_product_is_not_the_callers_fault() {
    let service = service();
    // There is a file instead of the products' folder.
    fs::write(service.folder.path().join("products"), "").unwrap();
    let bearer = [(header::AUTHORIZATION, "Bearer key")];
    let bytes = grib("nam211_20180917T00Z_f000.grib2.gz");
    let answer = service.api.call(Method::POST, "/api/v1/ingest", &bearer, Body::from(bytes));
    answer.refuses(503, "raster products cannot be written now; send it again later");
}
