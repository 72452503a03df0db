//! Writes the JavaScript of a module: what `wasm-bindgen --target web` does.
//!
//! That command line brings a web server and a driver of browsers, and takes four times as long to
//! build as the library behind it.

use std::env::args;
use std::path::Path;

use anyhow::{Context as _, bail};
use wasm_bindgen_cli_support::Bindgen;

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = args().skip(1).collect();
    let [input, name, folder] = arguments.as_slice() else {
        bail!("usage: mesonet-bindgen MODULE.wasm NAME FOLDER");
    };
    Bindgen::new()
        .input_path(input)
        .web(true)?
        .typescript(true)
        .omit_default_module_path(true)
        .remove_name_section(true)
        .remove_producers_section(true)
        .out_name(name)
        .generate(Path::new(folder))
        .with_context(|| format!("cannot write the JavaScript of {input}"))
}
