//! `bindgen IN.wasm OUT_DIR`: the wasm that a browser loads, and the JavaScript module that loads it.

use std::process::ExitCode;
use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [input, folder] = arguments.as_slice() else {
        eprintln!("usage: bindgen IN.wasm OUT_DIR");
        return ExitCode::from(2);
    };
    let mut bindgen = Bindgen::new();
    // Names of functions would be a third of the file.
    bindgen.input_path(input).typescript(false).remove_name_section(true);
    let done = bindgen.web(true).and_then(|bindgen| bindgen.generate(folder));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bindgen: {error:#}");
            ExitCode::from(1)
        }
    }
}
