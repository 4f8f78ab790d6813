//! The `sublet` binary: everything is in [`sublet::cli`].

fn main() -> std::process::ExitCode {
    sublet::cli::main()
}
