use std::io::BufReader;

use proptest::prelude::*;

use super::*;

fn read(bytes: &[u8], piece: usize) -> Result<String, String> {
    let mut text = String::new();
    let input = BufReader::with_capacity(piece, bytes);
    let read = Unicode::new(input).read_to_string(&mut text);
    read.map(|_| text).map_err(|error| error.to_string())
}

fn utf_16(text: &str, is_big: bool) -> Vec<u8> {
    let bytes = |unit: u16| if is_big { unit.to_be_bytes() } else { unit.to_le_bytes() };
    text.encode_utf16().flat_map(bytes).collect()
}

#[test]
fn each_encoding_is_read() {
    let document =
        |label: &str| format!("<?xml version='1.0' encoding = \"{label}\" ?><a>côte</a>");
    for piece in [1, 3, 64, 9_000] {
        let plain = "<a>côte</a>";
        assert_eq!(read(plain.as_bytes(), piece).as_deref(), Ok(plain));
        assert_eq!(read("\u{feff}<a/>".as_bytes(), piece).as_deref(), Ok("<a/>"));
        for label in ["ISO-8859-1", "iso-8859-15", "windows-1252", "latin1"] {
            let text = document(label);
            let bytes: Vec<u8> = text.chars().map(|letter| letter as u8).collect();
            assert_eq!(read(&bytes, piece), Ok(text), "{label}");
        }
        let text = document("UTF-16");
        for is_big in [false, true] {
            assert_eq!(read(&utf_16(&text, is_big), piece).as_ref(), Ok(&text));
            let marked = utf_16(&format!("\u{feff}{text}"), is_big);
            assert_eq!(read(&marked, piece).as_ref(), Ok(&text));
            let start = readable(&marked[..60]);
            assert!(start.starts_with(b"<?xml"), "{start:?}");
        }
        // Passed on as UTF-8 by someone.
        for label in ["UTF-16", " utf-16le ", "UCS-2", "unicodeFEFF", "unicodefffe"] {
            let text = document(label);
            assert_eq!(read(text.as_bytes(), piece), Ok(text));
        }
    }
    assert_eq!(
        read(b"<?xml version='1.0' encoding='windows-1252'?>\x80", 7).unwrap().chars().last(),
        Some('€')
    );
}

#[test]
fn what_is_not_in_its_encoding_is_an_error() {
    let unknown = b"<?xml version='1.0' encoding='EBCDIC-XYZ'?><a/>";
    assert_eq!(read(unknown, 64).unwrap_err(), "its encoding \"EBCDIC-XYZ\" is not known");
    let half = [&utf_16("\u{feff}<a/>", false)[..], b"<"].concat();
    assert_eq!(read(&half, 64).unwrap_err(), "bytes that are not UTF-16LE");
    assert!(read(&utf_16("\u{feff}<a>\u{d7ff}", false)[..9], 64).is_err());
    assert_eq!(read(b"", 64).as_deref(), Ok(""));
}

proptest! {
    #[test]
    fn any_text_in_pieces_of_any_size(text in "<[\\PC]{0,900}", piece in 1..2_000_usize, is_big: bool) {
        let marked = format!("\u{feff}{text}");
        prop_assert_eq!(read(&utf_16(&marked, is_big), piece), Ok(text.clone()));
        prop_assert_eq!(read(marked.as_bytes(), piece), Ok(text));
    }

    #[test]
    fn any_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..1_500), piece in 1..600_usize) {
        _ = read(&bytes, piece);
        _ = readable(&bytes);
    }
}
