//! `GET /models/{model}/products/{name}/data/{z}/{x}/{y}`

use axum::http::header;
use mesonet::LonLat;
use mesonet::grid::TileAddress;

use super::{RUN, service, tile};

#[test]
fn a_tile_is_256_times_256_integers_of_which_those_outside_the_grid_are_nodata() {
    let service = service();
    let got = service.get(&tile("prmsl/data/3/1/3?hour=0"));
    assert_eq!(got.status, 200);
    assert_eq!(got.header(header::CONTENT_TYPE), Some("application/octet-stream"));
    assert_eq!(got.header(header::CONTENT_LENGTH), Some("131072"));
    let raw = |body: &[u8]| -> Vec<i16> {
        body.as_chunks::<2>().0.iter().map(|pair| i16::from_le_bytes(*pair)).collect()
    };
    let run = service.run();
    let address = TileAddress::new(3, 1, 3).unwrap();
    let mut compared = 0;
    for (pixel, &raw) in raw(&got.body).iter().enumerate() {
        let at = LonLat::new(address.lon(pixel % 256), address.lat(pixel / 256)).unwrap();
        let (row, column) = run.grid().locate(at);
        let within = (0.0..=64.0).contains(&row) && (0.0..=92.0).contains(&column);
        assert_eq!(raw != i16::MIN, within, "{pixel}");
        compared += usize::from(within);
    }
    assert!((20_000..60_000).contains(&compared), "{compared}");
    // Over Africa.
    let outside = service.get(&tile("prmsl/data/3/4/4?hour=0"));
    assert_eq!(outside.status, 200);
    assert!(raw(&outside.body).iter().all(|&raw| raw == i16::MIN));
    // Each product has its own levels.
    let levels = ["0", "1"]
        .map(|level| service.get(&tile(&format!("u/data/3/1/3?hour=0&level={level}"))).body);
    assert_ne!(levels[0], levels[1]);
}

/// Tiles of a run that does not change are kept after the first request.
#[test]
fn a_kept_tile_is_the_one_that_was_made_and_goes_with_its_run() {
    let service = service();
    let paths = ["prmsl/data/3/1/3?hour=0", "u/data/3/1/3?hour=0&level=1"].map(tile);
    let answers = || {
        let encodings = ["identity", "gzip", "zstd", "br"];
        let of_path = |path: &String| {
            encodings.map(|encoding| {
                let answer = service.get_with(path, &[(header::ACCEPT_ENCODING, encoding)]);
                assert_eq!(answer.status, 200);
                let header = |name| answer.header(name).map(str::to_owned);
                let headers =
                    [header::ETAG, header::CACHE_CONTROL, header::CONTENT_ENCODING].map(header);
                (headers, header(header::CONTENT_TYPE), answer.body)
            })
        };
        paths.each_ref().map(of_path)
    };
    let made = answers();
    assert!(made[0][0].0[1].as_deref().unwrap().ends_with("immutable"));
    assert!(answers() == made);
    // Another level, and another tile beside it.
    let other = ["u/data/3/1/3?hour=0&level=0", "u/data/3/0/3?hour=0&level=1"].map(tile);
    assert!(other.iter().all(|path| service.get(path).body != made[1][0].2));
    let store = mesonet::model::RunStore::new(service.folder.path().join("models"));
    store.remove_run("nam211", RUN.parse().unwrap()).unwrap();
    assert!(paths.iter().all(|path| service.get(path).status == 404));
}
