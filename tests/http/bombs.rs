//! Files of a few bytes that expand to millions: read by the binary, in bounded memory.

use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;
use std::process::Output;

use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::TempDir;

use crate::process::command;

/// Memory that the binary may allocate, in KiB: less than any of the bombs would take.
const MEMORY_KIB: u64 = 250_000;

/// One more MiB than that.
const BOMB_MIB: usize = 400;

const MIB: usize = 1 << 20;

/// Runs `ingest` on one file within the memory limit. The system refuses more memory, which ends
/// the process.
fn ingest(name: &str, bytes: &[u8]) -> (Output, TempDir) {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join(name), bytes).unwrap();
    let plain = command(folder.path(), &["ingest", "--json", name]);
    let mut script = format!("ulimit -d {MEMORY_KIB} && exec '{}'", plain.get_program().display());
    for arg in plain.get_args() {
        write!(script, " '{}'", arg.display()).unwrap();
    }
    let mut limited = std::process::Command::new("sh");
    limited.args(["-c", &script]).env_clear().current_dir(folder.path());
    (limited.output().unwrap(), folder)
}

fn summary(output: &Output) -> serde_json::Value {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code().is_some(), "it was killed: {} {stderr}", output.status);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {stderr}"))
}

pub fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A tar archive whose first header, of a given kind, has a body of this many MiB, compressed:
/// concatenated gzip members form one file.
fn tar_bomb(kind: u8, first: &[u8]) -> Vec<u8> {
    let mut header = [0; 512];
    header[..4].copy_from_slice(b"bomb");
    header[100..107].copy_from_slice(b"0000644");
    header[124..136].copy_from_slice(format!("{:011o}\0", BOMB_MIB * MIB).as_bytes());
    header[156] = kind;
    header[257..265].copy_from_slice(b"ustar\x0000");
    header[148..156].fill(b' ');
    let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    let mut body = vec![b'a'; MIB];
    let rest = gz(&body);
    body[..first.len()].copy_from_slice(first);
    [gz(&header), gz(&body), rest.repeat(BOMB_MIB - 1)].concat()
}

#[test]
fn long_names_in_a_tar_archive_take_no_memory() {
    let pax = format!("{} path=", BOMB_MIB * MIB);
    for (kind, first) in [(b'L', ""), (b'x', &*pax)] {
        let bomb = tar_bomb(kind, first.as_bytes());
        assert!(bomb.len() < MIB);
        let (output, _folder) = ingest("bomb.tar.gz", &bomb);
        assert_eq!(
            summary(&output)["faults"]["first"][0]["error"],
            "a header of 419430400 bytes in a tar archive; the limit is 65536"
        );
    }
}

/// The side of the largest square field that is read.
const SIDE: u32 = 8192;

/// A message with a field of that size, of the product `reflectivity`, with a packing and its data.
pub fn field(packing: (u16, u8), data: &[u8]) -> Vec<u8> {
    const LAT: u32 = 54_000_000;
    const LON: u32 = 230_000_000;
    const STEP: u32 = 5_000;
    let section = |number: u8, body: &[&[u8]]| {
        let body = body.concat();
        [&(body.len() as u32 + 5).to_be_bytes()[..], &[number], &body].concat()
    };
    let (cells, span) = (SIDE * SIDE, (SIDE - 1) * STEP);
    let words =
        |words: &[u32]| words.iter().flat_map(|word| word.to_be_bytes()).collect::<Vec<_>>();
    let time = [2023_u16.to_be_bytes().as_slice(), &[4, 6, 12, 0, 0]].concat();
    let body = [
        section(1, &[&161_u16.to_be_bytes(), &[0, 0, 2, 1, 1], &time, &[0, 1]]),
        section(
            3,
            &[
                &[0],
                &words(&[cells]),
                &[0, 0, 0, 0, 6],
                &[0; 15],
                &words(&[SIDE, SIDE, 0, u32::MAX, LAT, LON]),
                &[0x30],
                &words(&[LAT - span, LON + span, STEP, STEP]),
                &[0],
            ],
        ),
        section(
            4,
            &[&[0, 0, 0, 0, 3, 57, 8, 0, 97, 0, 0, 0, 1], &words(&[0]), &[102], &[0; 5], &[255; 6]],
        ),
        section(
            5,
            &[
                &words(&[cells]),
                &packing.0.to_be_bytes(),
                &20_f32.to_be_bytes(),
                &[0; 4],
                &[packing.1, 0],
            ],
        ),
        section(6, &[&[255]]),
        section(7, &[data]),
        b"7777".to_vec(),
    ]
    .concat();
    [b"GRIB\0\0\xd1\x02".as_slice(), &(body.len() as u64 + 16).to_be_bytes(), &body].concat()
}

fn files_below(folder: &Path) -> Vec<u64> {
    let mut lengths = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let metadata = entry.metadata().unwrap();
        if metadata.is_dir() {
            lengths.extend(files_below(&entry.path()));
        } else {
            lengths.push(metadata.len());
        }
    }
    lengths
}

#[test]
fn a_field_of_one_value_takes_no_memory_for_its_cells() {
    let message = field((0, 0), b"");
    assert_eq!(message.len(), 179);
    let (output, folder) = ingest("constant.grib2", &message);
    let summary = summary(&output);
    let written = &summary["products"]["written"];
    assert_eq!(written["count"], 1, "{summary}");
    assert_eq!(
        (&written["first"][0]["width"], &written["first"][0]["height"]),
        (&8192.into(), &8192.into())
    );
    let lengths = files_below(&folder.path().join("mesonet-data/products"));
    assert!(lengths.len() == 1 && lengths[0] < MIB as u64, "{lengths:?}");
}
