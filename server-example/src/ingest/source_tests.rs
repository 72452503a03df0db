use std::io::Write;
use std::path::PathBuf;

use flate2::Compression;
use flate2::write::GzEncoder;
use liblzma::write::XzEncoder;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::*;

/// What was found: where, its name, its length; what could not be read.
#[derive(Default)]
struct Found {
    files: Vec<(String, String, Result<String, String>)>,
    faults: Vec<(String, String)>,
}

impl Visitor for Found {
    fn file(&mut self, file: SourceFile<'_>) {
        let mut text = String::new();
        let read = file.input.read_to_string(&mut text);
        assert!(read.is_err() || text.as_bytes().starts_with(file.start));
        let text = read.map(|_| text).map_err(|error| error.to_string());
        self.files.push((file.shown.into(), file.name.into(), text));
    }

    fn fault(&mut self, shown: &str, error: SourceError) {
        self.faults.push((shown.into(), error.to_string()));
    }

    fn is_done(&self) -> bool {
        false
    }
}

fn find_within(bounds: Bounds, name: &str, bytes: &[u8]) -> Found {
    let mut found = Found::default();
    let label = Label { shown: name.into(), name: name.into(), modified_ms: None };
    let mut file = Cursor::new(bytes);
    Source::new(&mut found, bounds, &AtomicU64::new(0)).input(&label, Input::File(&mut file));
    found
}

fn find(name: &str, bytes: &[u8]) -> Found {
    find_within(Bounds::default(), name, bytes)
}

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = XzEncoder::new(Vec::new(), 1);
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn tar(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut tar = tar::Builder::new(Vec::new());
    for (name, bytes) in files {
        let mut header = tar::Header::new_ustar();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        header.set_mtime(1_000);
        tar.append_data(&mut header, name, *bytes).unwrap();
    }
    tar.into_inner().unwrap()
}

fn is(found: &Found, files: &[(&str, &str, &str)]) {
    assert_eq!(found.faults, []);
    let expected: Vec<_> = files
        .iter()
        .map(|&(shown, name, text)| (shown.into(), name.into(), Ok(text.to_owned())))
        .collect();
    assert_eq!(found.files, expected);
}

#[test]
fn what_a_file_is_packed_in_is_told_from_its_bytes() {
    is(&find("a.csv", b"text"), &[("a.csv", "a.csv", "text")]);
    is(&find("a.csv", b""), &[("a.csv", "a.csv", "")]);
    is(&find("a.csv.gz", &gz(b"text")), &[("a.csv.gz", "a.csv", "text")]);
    is(&find("a.csv.xz", &xz(b"text")), &[("a.csv.xz", "a.csv", "text")]);
    is(&find("odd", &gz(b"text")), &[("odd", "odd", "text")]);
    // Two compressed files, one after the other, are one.
    is(&find("a.gz", &[gz(b"one "), gz(b"two")].concat()), &[("a.gz", "a", "one two")]);
    is(&find("a.xz", &[xz(b"one "), xz(b"two")].concat()), &[("a.xz", "a", "one two")]);
}

#[test]
fn archives_are_unpacked_with_the_compressed_files_in_them() {
    let files: &[(&str, &[u8])] = &[
        ("d/b.csv.gz", &gz(b"b")),
        ("a.csv", b"a"),
        ("__MACOSX/a.csv", b"x"),
        ("d/.hidden", b"x"),
    ];
    let expected = |archive: &str| -> Found {
        let file = |path: &str, name: &str, text: &str| {
            (format!("{archive}/{path}"), name.to_owned(), Ok(text.to_owned()))
        };
        let files = vec![file("d/b.csv.gz", "b.csv", "b"), file("a.csv", "a.csv", "a")];
        Found { files, faults: vec![] }
    };
    for (name, bytes) in [
        ("x.zip", zip(files)),
        ("x.tar", tar(files)),
        ("x.tgz", gz(&tar(files))),
        ("x.tar.xz", xz(&tar(files))),
    ] {
        let found = find(name, &bytes);
        assert_eq!(found.faults, []);
        assert_eq!(found.files, expected(name).files);
    }
}

#[test]
fn what_is_packed_too_often_or_where_it_cannot_be_read_is_named() {
    let mut packed = b"text".to_vec();
    for _ in 0..MAX_LAYERS {
        packed = gz(&packed);
    }
    is(&find("a", &packed), &[("a", "a", "text")]);
    let packed_once_more = find("a", &gz(&packed));
    let layers = "packed more than 3 times, which is the limit".to_owned();
    assert_eq!(packed_once_more.faults, [("a".to_owned(), layers)]);

    let within = find("a.zip", &zip(&[("b.zip", &zip(&[("c", b"c")])), ("d", b"d")]));
    let text = "a zip archive within another packing or a stream; allowed is a file of its own";
    assert_eq!(within.faults, [("a.zip/b.zip".to_owned(), text.to_owned())]);
    assert_eq!(within.files.len(), 1);
}

#[test]
fn what_unpacks_to_too_much_is_cut_off() {
    let bounds = Bounds { entries: 2, unpacked_bytes: 10_000 };
    let zeros = vec![b'0'; 10_000];
    let found = find_within(bounds, "a.gz", &gz(&zeros));
    assert_eq!(found.files[0].2.as_ref().map(String::len), Ok(10_000));
    let error = "it unpacks to more than 10000 bytes, the limit".to_owned();
    let found = find_within(bounds, "a.gz", &gz(&vec![b'0'; 1_000_000]));
    assert_eq!(found.files[0].2, Err(error.clone()));
    // All files of an archive together.
    let found =
        find_within(bounds, "a.zip", &zip(&[("a", &zeros[..5_500]), ("b", &zeros[..5_500])]));
    assert_eq!(found.files[0].2.as_ref().map(String::len), Ok(5_500));
    assert_eq!(found.files[1].2, Err(error.clone()));

    let three: &[(&str, &[u8])] = &[("a", b"a"), ("b", b"b"), ("c", b"c")];
    let error = "an archive of more than 2 files, which is the limit".to_owned();
    for (bytes, before) in [(zip(three), 0), (tar(three), 2)] {
        let found = find_within(bounds, "x", &bytes);
        assert_eq!((found.files.len(), found.faults), (before, vec![("x".into(), error.clone())]));
    }
    // An xz file that asks for more memory than there may be: a dictionary of 1.5 GiB.
    let mut greedy = xz(b"text");
    assert_eq!(greedy[12..16], [2, 0, 33, 1], "the header of the block, with LZMA2");
    greedy[16] = 37;
    let checksum = crc32(&greedy[12..20]);
    greedy[20..24].copy_from_slice(&checksum.to_le_bytes());
    let found = find("a.xz", &greedy);
    assert_eq!(found.files.len() + found.faults.len(), 1);
    assert!(found.files.iter().all(|file| file.2.is_err()));
}

/// CRC-32 as in the header of an xz block.
fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}

#[test]
fn cut_and_damaged_files_are_an_error_and_never_a_panic() {
    let files: &[(&str, &[u8])] = &[("a.csv.gz", &gz(b"some text")), ("b.csv", b"more text")];
    for (name, bytes) in [
        ("a.gz", gz(&tar(files))),
        ("a.xz", xz(&tar(files))),
        ("a.zip", zip(files)),
        ("a.tar", tar(files)),
    ] {
        for cut in (0..bytes.len()).step_by(bytes.len().div_ceil(300)) {
            find(name, &bytes[..cut]);
            let mut damaged = bytes.clone();
            damaged[cut] ^= 0x55;
            find(name, &damaged);
        }
        let cut = find(name, &bytes[..bytes.len() * 3 / 4]);
        let failed = cut.files.iter().filter(|file| file.2.is_err()).count() + cut.faults.len();
        assert!(failed > 0 || name == "a.tar", "{name}");
    }
}

#[test]
fn a_folder_is_read_by_name_with_the_folders_in_it_and_what_is_not_there_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| -> PathBuf { folder.path().join(name) };
    std::fs::create_dir(path("b")).unwrap();
    for (name, text) in [("c", "c"), ("a", "a"), ("b/b", "b"), (".hidden", "x")] {
        std::fs::write(path(name), text).unwrap();
    }
    let (mut found, progress) = (Found::default(), AtomicU64::new(0));
    let mut source = Source::new(&mut found, Bounds::default(), &progress);
    source.path(folder.path());
    source.path(&path("nowhere"));
    let names: Vec<&str> = found.files.iter().map(|file| &*file.1).collect();
    assert_eq!(names, ["a", "b", "c"]);
    assert_eq!(progress.into_inner(), 3);
    assert_eq!(found.faults.len(), 1);
    assert_eq!(found.faults[0].0, path("nowhere").display().to_string());
    assert!(found.faults[0].1.starts_with("cannot be read: "), "{}", found.faults[0].1);
}

#[cfg(unix)]
#[test]
fn a_link_to_a_folder_leads_in_no_circle() {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(folder.path(), folder.path().join("self")).unwrap();
    std::fs::write(folder.path().join("a"), "a").unwrap();
    let mut found = Found::default();
    Source::new(&mut found, Bounds::default(), &AtomicU64::new(0)).path(folder.path());
    assert_eq!((found.files.len(), found.faults.len()), (1, 0));
}
