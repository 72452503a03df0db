use std::io::Write;
use std::path::PathBuf;

use flate2::Compression;
use flate2::write::GzEncoder;
use liblzma::write::XzEncoder;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::*;
use crate::files::Bound;
use crate::ingest::packing::MAX_HEADER_BYTES;

/// The files found, with place, name and length, and what could not be read.
#[derive(Default)]
struct FoundFiles {
    files: Vec<(String, String, Result<String, String>)>,
    faults: Vec<(String, String)>,
    copies: u64,
}

impl Visitor for FoundFiles {
    fn file(&mut self, file: SourceFile<'_>) -> bool {
        let mut text = String::new();
        let read = file.input.read_to_string(&mut text);
        assert!(read.is_err() || text.as_bytes().starts_with(file.start));
        let text = read.map(|_| text).map_err(|error| error.to_string());
        let is_whole = text.is_ok();
        self.files.push((file.shown.into(), file.name.into(), text));
        is_whole
    }

    fn copy(&mut self) {
        self.copies += 1;
    }

    fn fault(&mut self, shown: &str, error: SourceError) {
        self.faults.push((shown.into(), error.to_string()));
    }
}

fn find_within(bounds: FileLimits, name: &str, bytes: &[u8]) -> FoundFiles {
    let mut found = FoundFiles::default();
    let label = Label { shown: name.into(), name: name.into(), modified_ms: None };
    let mut file = Cursor::new(bytes);
    let (mut copies, progress) = (Copies::default(), AtomicU64::new(0));
    let mut source = FileWalker::new(&mut found, bounds, &mut copies, &progress);
    source.input(&label, ByteSource::File(&mut file));
    found
}

fn find(name: &str, bytes: &[u8]) -> FoundFiles {
    find_within(FileLimits::default(), name, bytes)
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

fn is(found: &FoundFiles, files: &[(&str, &str, &str)]) {
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
    // Two concatenated compressed files are one.
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
    let expected = |archive: &str| -> FoundFiles {
        let file = |path: &str, name: &str, text: &str| {
            (format!("{archive}/{path}"), name.to_owned(), Ok(text.to_owned()))
        };
        let files = vec![file("d/b.csv.gz", "b.csv", "b"), file("a.csv", "a.csv", "a")];
        FoundFiles { files, ..FoundFiles::default() }
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
    let text = "a zip archive inside another archive or in a stream; it must be a file of its own";
    assert_eq!(within.faults, [("a.zip/b.zip".to_owned(), text.to_owned())]);
    assert_eq!(within.files.len(), 1);
}

#[test]
fn what_unpacks_to_too_much_is_cut_off() {
    let bounds = FileLimits {
        entries: Bound::fixed(2),
        unpacked_bytes: Bound::fixed(10_000),
        ..FileLimits::default()
    };
    let zeros = vec![b'0'; 10_000];
    let found = find_within(bounds, "a.gz", &gz(&zeros));
    assert_eq!(found.files[0].2.as_ref().map(String::len), Ok(10_000));
    let error = "it holds more than 10000 bytes once unpacked, the limit for a file of its length"
        .to_owned();
    let found = find_within(bounds, "a.gz", &gz(&vec![b'0'; 1_000_000]));
    assert_eq!(found.files[0].2, Err(error.clone()));
    // All files of an archive together.
    let found =
        find_within(bounds, "a.zip", &zip(&[("a", &zeros[..5_500]), ("b", &zeros[..5_500])]));
    assert_eq!(found.files[0].2.as_ref().map(String::len), Ok(5_500));
    assert_eq!(found.files[1].2, Err(error.clone()));

    let three: &[(&str, &[u8])] = &[("a", b"a"), ("b", b"b"), ("c", b"c")];
    let error = "it holds more than 2 files, the limit for a file of its length".to_owned();
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

/// A header of a tar archive, with the length that it claims.
fn tar_header(name: &str, kind: tar::EntryType, size: u64) -> Vec<u8> {
    let mut header = tar::Header::new_gnu();
    header.set_path(name).unwrap();
    header.set_mode(0o644);
    header.set_size(size);
    header.set_entry_type(kind);
    header.set_cksum();
    header.as_bytes().to_vec()
}

/// An entry of a tar archive, filled up to whole blocks.
fn tar_entry(name: &str, kind: tar::EntryType, bytes: &[u8]) -> Vec<u8> {
    let mut entry = tar_header(name, kind, bytes.len() as u64);
    entry.extend_from_slice(bytes);
    entry.resize(entry.len().next_multiple_of(512), 0);
    entry
}

fn pax(key: &str, value: &str) -> Vec<u8> {
    let rest = format!(" {key}={value}\n");
    let digits = (1..20).find(|digits| (rest.len() + digits).to_string().len() == *digits).unwrap();
    format!("{}{rest}", rest.len() + digits).into_bytes()
}

#[test]
fn long_names_of_a_tar_archive_are_read_up_to_64_kib_and_shown_up_to_200_characters() {
    use tar::EntryType;
    let file = tar_entry("short", EntryType::Regular, b"text");
    let name = "n".repeat(300);
    let shown = format!("a.tar/{}…", &name[..200]);
    for header in [
        tar_entry("././@LongLink", EntryType::GNULongName, format!("{name}\0").as_bytes()),
        tar_entry("pax", EntryType::XHeader, &pax("path", &name)),
    ] {
        let archive = [&header[..], &file, &[0; 1024]].concat();
        is(&find("a.tar", &archive), &[(&shown, &name, "text")]);
    }
    let most = MAX_HEADER_BYTES;
    for (kind, claimed) in [
        (EntryType::GNULongName, most + 1),
        (EntryType::GNULongName, 1 << 40),
        (EntryType::XHeader, most + 1),
        (EntryType::XHeader, u64::MAX - 4096),
    ] {
        let bomb = tar_header("bomb", kind, claimed);
        let archive = [&file[..], &bomb, &[b'a'; 512], &file, &[0; 1024]].concat();
        let found = find("a.tar", &archive);
        assert_eq!(found.files.len(), 1, "what stands before it stays");
        let error = format!("a header of {claimed} bytes in a tar archive; the limit is 65536");
        assert_eq!(found.faults, [("a.tar".to_owned(), error)]);
    }
    // Link targets and headers of the whole archive are skipped.
    for kind in [EntryType::GNULongLink, EntryType::XGlobalHeader] {
        let archive = [&tar_entry("x", kind, &vec![b'a'; 70_000])[..], &file, &[0; 1024]].concat();
        is(&find("a.tar", &archive), &[("a.tar/short", "short", "text")]);
    }
}

#[test]
fn an_entry_of_a_tar_archive_that_lies_about_its_length_is_named() {
    use tar::EntryType;
    let file = tar_entry("a", EntryType::Regular, b"text");
    let fault = |archive: &[u8]| {
        let mut found = find("x.tar", archive);
        assert_eq!((found.files.len(), found.faults.len()), (1, 1), "{:?}", found.faults);
        found.faults.remove(0)
    };
    let other = tar_entry("pax", EntryType::XHeader, &pax("size", "9999999999"));
    let (shown, error) = fault(&[&file[..], &other, &file].concat());
    assert_eq!(
        (&*shown, &*error),
        (
            "x.tar",
            "a file in a tar archive with two different lengths, or a length that is not a number"
        )
    );
    let not_a_number = tar_entry("pax", EntryType::XHeader, &pax("size", "-1"));
    assert!(fault(&[&file[..], &not_a_number, &file].concat()).1.contains("not a number"));
    for sparse in [
        tar_entry("s", EntryType::GNUSparse, b"text"),
        [
            tar_entry("pax", EntryType::XHeader, &pax("GNU.sparse.major", "1")),
            tar_entry("s", EntryType::Regular, b"text"),
        ]
        .concat(),
    ] {
        let (shown, error) = fault(&[&file[..], &sparse].concat());
        assert!(shown == "x.tar/s" && error.starts_with("a sparse file"), "{shown}: {error}");
    }
    // Lengths in base-256: negative, and impossibly large. Both come before a file that is whole.
    for first in [0xff, 0x80] {
        let mut header = tar_header("b", EntryType::Regular, 0);
        header[124..136].fill(0xff);
        header[124] = first;
        header[148..156].fill(b' ');
        let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        let found = find("x.tar", &[&file[..], &header, &file].concat());
        assert_eq!(found.files[0].2, Ok("text".to_owned()));
        assert!(!found.faults.is_empty() || found.files.iter().any(|file| file.2.is_err()));
    }
}

#[test]
fn entries_of_archives_within_archives_count_together() {
    let bounds = FileLimits { entries: Bound::fixed(4), ..FileLimits::default() };
    let two = tar(&[("a", b"a"), ("b", b"b")]);
    let found = find_within(bounds, "x", &tar(&[("1", &two), ("2", &two)]));
    assert_eq!(found.files.len(), 2);
    let error = "it holds more than 4 files, the limit for a file of its length".to_owned();
    assert_eq!(found.faults, [("x/2".to_owned(), error)]);
}

#[test]
fn a_zip_archive_that_says_it_has_millions_of_files_is_refused_before_they_are_read() {
    let mut bytes = zip(&[("a", b"a")]);
    // The two counts of files in the end record.
    let end = bytes.len() - 22;
    bytes[end + 8..end + 12].copy_from_slice(&[0xfe, 0xff, 0xfe, 0xff]);
    let found = find_within(FileLimits::SENT, "x.zip", &bytes);
    assert_eq!((found.files.len(), found.faults.len()), (0, 1));

    // Overlapping files are each unpacked and counted.
    let zeros = vec![b'0'; 30_000];
    let one = zip(&[("a", &zeros)]);
    let directory = one.len() - 22 - 47;
    let mut bytes = one[..directory].to_vec();
    for _ in 0..4 {
        bytes.extend_from_slice(&one[directory..one.len() - 22]);
    }
    let mut end = one[one.len() - 22..].to_vec();
    end[8..12].copy_from_slice(&[4, 0, 4, 0]);
    end[12..16].copy_from_slice(&(4 * 47_u32).to_le_bytes());
    bytes.extend(end);
    let bounds = FileLimits { unpacked_bytes: Bound::fixed(100_000), ..FileLimits::default() };
    let found = find_within(bounds, "x.zip", &bytes);
    let whole = found.files.iter().filter(|file| file.2.is_ok()).count();
    assert_eq!((whole, found.files.len() - whole), (3, 1));
}

#[test]
fn one_file_that_is_packed_in_several_ways_is_read_once() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
    let text = "some text ".repeat(20_000);
    write("a.txt", text.as_bytes());
    write("a.txt.gz", &gz(text.as_bytes()));
    write("a.txt.xz", &xz(text.as_bytes()));
    // The same name, but a different last letter.
    write("b.txt", text.as_bytes());
    write("b.txt.gz", &gz(&text.as_bytes()[..text.len() - 1]));
    // The same once more, under another name.
    write("c.txt.gz", &gz(text.as_bytes()));
    // A cut file is a fault and not a copy, whichever is read first.
    let whole = gz(text.as_bytes());
    write("d.txt.gz", &whole[..whole.len() - 9]);
    write("d.txt.xz", &xz(text.as_bytes()));
    write("e.tar.gz", &gz(&tar(&[("e", b"e")])));
    write("e.tar.xz", &xz(&tar(&[("e", b"e")])));
    let (mut found, mut copies) = (FoundFiles::default(), Copies::default());
    FileWalker::new(&mut found, FileLimits::default(), &mut copies, &AtomicU64::new(0))
        .path(folder.path());
    let read: Vec<_> = found.files.iter().map(|(_, name, text)| (&**name, text.is_ok())).collect();
    let expected = [
        ("a.txt", true),
        ("b.txt", true),
        ("b.txt", true),
        ("c.txt", true),
        ("d.txt", false),
        ("d.txt", true),
        ("e", true),
    ];
    assert_eq!(read, expected);
    assert_eq!((found.copies, found.faults.len()), (3, 0));
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
    let (mut found, progress) = (FoundFiles::default(), AtomicU64::new(0));
    let mut copies = Copies::default();
    let mut source = FileWalker::new(&mut found, FileLimits::default(), &mut copies, &progress);
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
    let mut found = FoundFiles::default();
    let (mut copies, progress) = (Copies::default(), AtomicU64::new(0));
    FileWalker::new(&mut found, FileLimits::default(), &mut copies, &progress).path(folder.path());
    assert_eq!((found.files.len(), found.faults.len()), (1, 0));
}
