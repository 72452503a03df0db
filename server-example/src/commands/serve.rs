//! `serve`: answering requests over HTTP.

use std::cell::Cell;
use std::time::{Duration, Instant};

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};

use super::Outcome;
use crate::app::serve;
use crate::config::{Config, Flags};
use crate::log;

/// Maximum number of threads for blocking work. Work on cores and files takes turns, so these
/// threads wait for disks and other machines. Each keeps some memory for itself.
const BLOCKING_THREADS: usize = 48;

/// How long such a thread lives without work. Background work wakes one thread after the other
/// several times a second, so a longer time would keep all of them forever.
const BLOCKING_KEEP_ALIVE: Duration = Duration::from_millis(500);

/// Shortest time between two times at which a thread without work gives freed memory back.
const GIVE_BACK: Duration = Duration::from_secs(1);

/// How long background work may take once the server has stopped.
const BACKGROUND_GRACE: Duration = Duration::from_secs(3);

/// Returns where a setting was given, if by a flag or the environment.
fn given(matches: &ArgMatches, key: &str) -> Option<&'static str> {
    match matches.try_contains_id(key).ok().and_then(|_| matches.value_source(key))? {
        ValueSource::CommandLine => Some("flag"),
        ValueSource::EnvVariable => Some("environment"),
        _ => None,
    }
}

/// Names the environment variables that look like settings but are not.
fn warn_of_unknown_variables(command: &Command) {
    let known: Vec<_> = command.get_arguments().filter_map(Arg::get_env).collect();
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("MESONET_") && !known.contains(&&*name) {
            tracing::warn!("the environment variable {} is not a setting", name.display());
        }
    }
}

/// Serves until the process is told to stop. `command` is what the flags are declared in, and
/// `matches` says which were given.
pub fn run(flags: Flags, command: &Command, matches: &ArgMatches) -> Outcome {
    let config = Config::load(&flags)?;
    if flags.service.print_config {
        print!("{}", config.shown(&flags, |key| given(matches, key)));
        return Ok(true);
    }
    let _guard = log::start(&config)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .max_blocking_threads(BLOCKING_THREADS)
        .thread_keep_alive(BLOCKING_KEEP_ALIVE)
        .on_thread_park(give_memory_back)
        .build()?;
    warn_of_unknown_variables(command);
    let served = runtime.block_on(serve(config, flags));
    // Taking files in stops between two batches. Work that does not stop is cut off, as in a crash,
    // which loses nothing that was acknowledged.
    runtime.shutdown_timeout(BACKGROUND_GRACE);
    served?;
    Ok(true)
}

/// Gives freed memory back to the system. By itself, the allocator does so when it next needs
/// memory, which is late in a server without requests: 1.7 times the earlier memory stayed for half
/// a minute.
#[allow(unsafe_code, reason = "the allocator's own function has no safe form")]
fn give_memory_back() {
    thread_local!(static LAST: Cell<Option<Instant>> = const { Cell::new(None) });
    let now = Instant::now();
    if LAST.get().is_some_and(|last| now.duration_since(last) < GIVE_BACK) {
        return;
    }
    LAST.set(Some(now));
    // SAFETY: the call has no conditions. `false` gives back only memory that has been free for a
    // while.
    unsafe { libmimalloc_sys::mi_collect(false) };
}
