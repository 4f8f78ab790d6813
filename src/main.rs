//! The `sublet` binary: everything is in [`sublet::cli`].

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    quiet_mesa();
    sublet::cli::main()
}

/// Mesa's device selection complains on stderr where `XDG_RUNTIME_DIR` is not set (in a container, say) and
/// then works all the same; a line that begins with `error:` is no way to greet a newcomer. Any folder will
/// do.
fn quiet_mesa() {
    if cfg!(target_os = "linux") && std::env::var_os("XDG_RUNTIME_DIR").is_none() {
        // SAFETY: no other thread runs yet.
        unsafe { std::env::set_var("XDG_RUNTIME_DIR", std::env::temp_dir()) };
    }
}
