//! Processes that write, killed at any moment.

mod embedded_kill;
mod embedded_rewrite_kill;
mod grid_store_grow_kill;
mod grid_store_kill;
mod grid_store_rewrite_kill;
mod kill;
#[path = "../process/mod.rs"]
mod process;
#[path = "../version_6/mod.rs"]
mod version_6;

fn main() {
    kill::main(&[
        embedded_kill::TEST,
        embedded_rewrite_kill::TEST,
        grid_store_grow_kill::TEST,
        grid_store_kill::TEST,
        grid_store_rewrite_kill::TEST,
    ]);
}
