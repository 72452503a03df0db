//! `GET /models/{model}/products/{name}/data/{z}/{x}/{y}`

use axum::http::header;
use mesonet::LonLat;
use mesonet::grid::TileAddress;

use super::{service, tile};

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
