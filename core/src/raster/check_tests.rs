use std::io::Cursor;

use super::super::packed::tests::pressure;
use super::*;

/// Returns the file of 93 × 65 pixels, one tile.
fn written() -> Vec<u8> {
    let raster = pressure(0.5).1.covering("24h".parse().ok());
    let mut bytes = Vec::new();
    raster.write_cog(&mut bytes).unwrap();
    bytes
}

fn check(bytes: &[u8]) -> Result<File, String> {
    File::check(Cursor::new(bytes), false).map_err(|error| error.to_string())
}

/// Returns the same file as it was written before there were checksums.
fn unsealed() -> Vec<u8> {
    let mut bytes = written();
    bytes.truncate(bytes.len() - SEAL_BYTES as usize);
    let item = b"<Item name=\"CHECKSUM\">";
    let at = bytes.windows(item.len()).position(|part| part == item).unwrap();
    bytes[at + 12..at + 20].copy_from_slice(b"COMMENTS");
    bytes
}

#[test]
fn a_file_that_is_whole_says_what_it_is() {
    let bytes = written();
    let file = check(&bytes).unwrap();
    assert_eq!((file.width, file.height, file.is_sealed), (93, 65, true));
    assert_eq!(file.product.as_deref(), Some("own"));
    assert_eq!(file.duration.as_deref(), Some("24h"));
    assert_eq!(file.valid_ms, Some(1_537_142_400_000));
    assert_eq!(file.length, bytes.len() as u64);
    assert_eq!(File::check(Cursor::new(&bytes), true), Ok(file));
}

#[test]
fn whatever_byte_of_a_file_is_changed_is_noticed() {
    let whole = written();
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        let error = check(&bytes).unwrap_err();
        assert!(error.contains("checksum") || at >= whole.len() - 12, "{at}: {error}");
    }
}

#[test]
fn a_file_that_is_cut_or_longer_or_another_one_is_damaged() {
    let whole = written();
    for length in (0..whole.len()).step_by(7).chain(whole.len() - 13..whole.len()) {
        assert!(check(&whole[..length]).is_err(), "{length}");
    }
    assert!(check(&[&whole[..], b"more"].concat()).is_err());
    assert!(check(&vec![0; whole.len()]).is_err());
    assert!(check(b"these bytes are no GeoTIFF at all").is_err());
}

#[test]
fn a_file_from_before_checksums_is_decoded() {
    let whole = unsealed();
    let file = check(&whole).unwrap();
    assert_eq!((file.width, file.is_sealed), (93, false));
    for length in (0..whole.len()).step_by(7) {
        assert!(check(&whole[..length]).is_err(), "{length}");
    }
    // Deflate has a checksum of its own.
    let mut bytes = whole.clone();
    let tile = bytes.len() - 1000;
    bytes[tile..tile + 400].fill(0xff);
    assert!(check(&bytes).is_err());
    assert!(check(&[&whole[..], b"more"].concat()).is_err());
}
