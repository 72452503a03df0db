//! Unpacks fields of GRIB2 files when it is asked to, for `benches/peers/grib.py`, which measures it
//! beside ecCodes: `grib FILE…` reads lines "file field" from standard input, both counted from 0,
//! and answers each with the number of values.

use std::hint::black_box;
use std::io::{self, Write, stdin, stdout};

use mesonet::grib;

fn main() -> io::Result<()> {
    let files = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let files: Vec<Vec<u8>> = files.map(std::fs::read).collect::<Result<_, _>>()?;
    let fields = |bytes| grib::fields(bytes).flatten().map(|field| field.to_message()).collect();
    let files: Vec<Vec<Vec<u8>>> = files.iter().map(|bytes| fields(bytes)).collect();
    for line in stdin().lines() {
        let line = line?;
        let (file, field) = line.split_once(' ').expect("a file and a field");
        let message = &files[file.parse::<usize>().unwrap()][field.parse::<usize>().unwrap()];
        let field = grib::fields(message).next().unwrap().unwrap();
        match field.values(grib::MAX_POINTS) {
            Ok(values) => println!("{}", black_box(values).len()),
            Err(error) => println!("{error}"),
        }
        stdout().flush()?;
    }
    Ok(())
}
