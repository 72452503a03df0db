//! `mesonet-server`: the command line. All of it is in the library, so that the compiler makes its
//! code once.

use std::process::ExitCode;

/// This allocator returns the memory of large answers to the system. The system's own allocator
/// kept half of it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    mesonet_server::run()
}
