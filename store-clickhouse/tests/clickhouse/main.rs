//! The store against a ClickHouse that `tests/cluster` or `tests/clickhouse/served.py` has started: the suite that
//! every store must pass, and what is this one's own. Without a ClickHouse there is nothing to test.

mod batches;
mod between;
mod changes;
mod copies;
mod readers;
mod recent;
mod replicas;
mod rig;
mod support;
mod three;
mod upkeep;
mod wide;

use std::env;

use libtest_mimic::{Arguments, Failed, Trial};
use mesonet::store::conformance::{RULES, any_order_gives_the_same_record};

use support::{Beside, Reopened, WithRecent, migrated, nodes, open};

/// A test, given the address of ClickHouse.
type Test = fn(&str);

macro_rules! tests {
    ($($module:ident::$test:ident,)*) => {
        [$((stringify!($test), $module::$test as Test),)*]
    };
}

/// Makes a trial of a test.
fn trial(url: &str, name: String, test: Box<dyn FnOnce(&str) + Send>) -> Trial {
    let url = url.to_owned();
    Trial::test(name, move || {
        test(&url);
        Ok::<(), Failed>(())
    })
}

/// The suite that every store must pass, by each way to read a record.
fn conformance(url: &str) -> Vec<Trial> {
    let mut trials = Vec::new();
    for &(name, rule) in RULES {
        let fresh = move |url: &str| rule(&open(&migrated(url)));
        trials.push(trial(url, format!("conformance::{name}"), Box::new(fresh)));
        let reopened = move |url: &str| rule(&Reopened::new(url));
        trials.push(trial(url, format!("reopened::{name}"), Box::new(reopened)));
        let beside = move |url: &str| rule(&Beside::new(url));
        trials.push(trial(url, format!("beside::{name}"), Box::new(beside)));
        for (reader, is_beside) in [("recent", false), ("recent_beside", true)] {
            let recent = move |url: &str| rule(&WithRecent::new(url, is_beside));
            trials.push(trial(url, format!("{reader}::{name}"), Box::new(recent)));
        }
    }
    let any_order = |url: &str| any_order_gives_the_same_record(3, || open(&migrated(url)));
    trials.push(trial(
        url,
        "conformance::any_order_gives_the_same_record".into(),
        Box::new(any_order),
    ));
    trials
}

fn main() {
    if batches::is_writer() {
        return batches::write_until_killed();
    }
    let arguments = Arguments::from_args();
    let Ok(url) = env::var("MESONET_TEST_CLICKHOUSE") else {
        eprintln!("no ClickHouse: run this as `tests/cluster cargo test …`");
        return;
    };
    let trial = |name: String, test: Box<dyn FnOnce(&str) + Send>| trial(&url, name, test);
    let mut trials = conformance(&url);
    let mut add = |tests: &[(&str, Test)]| {
        trials.extend(tests.iter().map(|&(name, test)| trial(name.to_owned(), Box::new(test))));
    };
    add(&tests![
        batches::a_judge_that_fails_changes_nothing,
        batches::a_killed_writer_leaves_whole_batches,
        batches::of_many_that_open_at_once_one_writes,
        batches::openings_leave_nothing_behind,
        batches::the_last_to_open_is_the_writer,
        changes::batches_are_told_as_by_the_store_on_disk,
        copies::a_record_is_copied_here_and_on,
        readers::alerts_come_to_readers_and_go,
        recent::more_than_fit_are_kept_for_fewer_hours,
        recent::what_retention_dropped_is_not_shown_from_memory,
        upkeep::batches_of_earlier_writers_are_dropped,
        upkeep::readings_before_the_cutoff_are_gone_and_stay_gone,
        wide::many_stations_and_days_are_as_in_memory,
    ]);
    // One in a process of Python has neither users nor a process to kill.
    let is_served = env::var_os("MESONET_TEST_CLICKHOUSE_FOLDER").is_none();
    // Alone, and only if it is asked for: the others need the server meanwhile.
    let killed: &[(&str, Test)] = if nodes().is_empty() {
        if !is_served {
            add(&tests![upkeep::a_profile_that_cuts_answers_is_refused,]);
        }
        add(&tests![
            batches::a_batch_that_failed_halfway_is_never_seen,
            batches::a_batch_that_is_committed_while_the_next_writer_opens_is_known_to_it,
            batches::a_batch_that_was_not_committed_is_never_seen,
            changes::a_batch_without_an_end_is_not_told,
            changes::after_a_batch_that_does_not_count_listeners_begin_anew,
            changes::what_is_no_longer_known_batch_by_batch_is_not_told,
            copies::a_copy_that_was_interrupted_goes_on,
            copies::a_reading_that_is_missing_in_a_copy_is_named,
            readers::a_batch_that_is_committed_late_stays_out,
            readers::a_reader_asks_for_what_has_changed,
            readers::a_reader_outlives_the_days_of_states,
            readers::api_keys_are_joined_whoever_puts_them,
            readers::marks_are_kept_and_a_writer_before_puts_none,
            recent::a_batch_in_doubt_is_in_memory_if_it_counts,
            recent::a_batch_that_no_longer_counts_leaves_memory,
            recent::recent_readings_are_not_asked_for,
            upkeep::a_silent_server_is_not_waited_for,
            upkeep::alerts_are_kept_as_they_were,
            upkeep::a_table_that_cannot_be_read_is_found_out,
            upkeep::an_insert_is_not_put_off,
            upkeep::nothing_listens_there,
            upkeep::states_of_stations_outlive_their_days,
            upkeep::tables_of_another_version_are_refused,
            upkeep::the_password_is_not_in_the_debug_text,
        ]);
        if is_served { &[] } else { &tests![batches::a_killed_server_loses_nothing_acknowledged,] }
    } else if nodes().len() == 3 {
        &tests![
            three::of_three_replicas_one_may_be_away,
            three::of_three_keepers_one_may_be_away,
            three::of_three_replicas_and_keepers_kills_lose_nothing,
        ]
    } else {
        add(&tests![
            replicas::a_record_has_the_shards_it_was_made_for,
            replicas::nobody_answers,
            replicas::readings_are_on_both_replicas_of_their_shard,
            replicas::writers_on_several_replicas_take_turns,
        ]);
        &tests![
            replicas::a_batch_that_is_on_one_replica_is_not_built_on,
            replicas::a_replica_that_lags_is_not_believed,
            replicas::without_a_quorum_nothing_is_acknowledged,
            replicas::a_node_with_an_empty_disk_is_filled_again,
            replicas::kills_lose_nothing_acknowledged,
        ]
    };
    for &(name, test) in killed {
        trials.push(trial(name.to_owned(), Box::new(test)).with_ignored_flag(true));
    }
    libtest_mimic::run(&arguments, trials).exit();
}
