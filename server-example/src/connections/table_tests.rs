use std::time::Duration;

use super::*;
use crate::connections::connection_state::InFlight;
use crate::http::body::Pace;

const LIMITS: ConnectionLimits = ConnectionLimits {
    connections: 8,
    of_client: 5,
    head: Duration::from_secs(10),
    idle: Duration::from_secs(75),
    pace: Pace { bytes_per_s: 1_000 },
};

fn client_addr(number: u8) -> ClientAddr {
    ClientAddr::of([192, 0, 2, number].into())
}

fn close_reason_of(guard: &ConnectionGuard) -> Option<CloseReason> {
    guard.connection_state.close_reason.get().copied()
}

async fn pass(seconds: u64) {
    tokio::time::advance(Duration::from_secs(seconds)).await;
}

/// Opens a number of connections of a client address, a millisecond apart.
async fn fill(table: &Arc<Table>, of: u8, count: usize) -> Vec<ConnectionGuard> {
    let mut guards = Vec::new();
    for _ in 0..count {
        guards.push(table.admit(client_addr(of)).unwrap());
        tokio::time::advance(Duration::from_millis(1)).await;
    }
    guards
}

#[tokio::test(start_paused = true)]
async fn a_full_table_gives_up_the_longest_idle_of_the_party_that_has_most() {
    let table = Table::new(LIMITS);
    let modest = fill(&table, 1, 3).await;
    let greedy = fill(&table, 2, 5).await;
    let newcomer = table.admit(client_addr(3)).unwrap();
    assert_eq!(close_reason_of(&greedy[0]), Some(CloseReason::ForAnother));
    assert!(modest.iter().chain(&greedy[1..]).all(|guard| close_reason_of(guard).is_none()));
    assert_eq!(table.len(), 8);
    drop((newcomer, greedy));
    assert_eq!(table.len(), 3);
    drop(modest);
    assert_eq!(table.len(), 0);
    assert!(lock(&table.connection_states).of_client.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_request_under_way_stays_where_nobody_has_many() {
    let table = Table::new(LIMITS);
    let greedy = fill(&table, 1, 3).await;
    let others = fill(&table, 2, 3).await;
    let more = fill(&table, 3, 2).await;
    let of_all = greedy.iter().chain(&others).chain(&more);
    let in_flight: Vec<InFlight> =
        of_all.map(|guard| guard.connection_state.begin_request()).collect();
    assert!(table.admit(client_addr(4)).is_none());
    drop(in_flight);
    // An answer that has not been read yet is in flight too.
    for guard in greedy.iter().chain(&more) {
        guard.connection_state.must_wait();
    }
    assert!(table.admit(client_addr(4)).is_some());
    assert!(greedy.iter().chain(&more).all(|guard| close_reason_of(guard).is_none()));
    assert_eq!(close_reason_of(&others[0]), Some(CloseReason::ForAnother));
}

#[tokio::test(start_paused = true)]
async fn a_request_under_way_is_given_up_for_who_has_much_less() {
    let table = Table::new(LIMITS);
    let greedy = fill(&table, 1, 5).await;
    let others = fill(&table, 2, 3).await;
    let mut in_flight = Vec::new();
    // The requests of the others have taken longer. The greedy caller loses its connections from
    // the last one on.
    for guard in others.iter().chain(greedy.iter().rev()) {
        in_flight.push(guard.connection_state.begin_request());
        pass(1).await;
    }
    others[0].connection_state.awaits_body(true);
    greedy[1].connection_state.awaits_body(true);
    greedy[0].connection_state.must_wait();
    let many = Some(CloseReason::OfMany);
    // A connection that keeps the server waiting goes first, then the one whose request has taken
    // longest.
    let mut newcomers = vec![table.admit(client_addr(3)).unwrap()];
    assert_eq!(close_reason_of(&greedy[1]), many);
    assert!([0, 2, 3, 4].iter().all(|&at| close_reason_of(&greedy[at]).is_none()));
    let in_flight_too = newcomers[0].connection_state.begin_request();
    newcomers.push(table.admit(client_addr(4)).unwrap());
    assert_eq!(close_reason_of(&greedy[0]), many);
    let in_flight_four = newcomers[1].connection_state.begin_request();
    // Three connections are not many.
    assert!(table.admit(client_addr(5)).is_none());
    assert!(others.iter().all(|guard| close_reason_of(guard).is_none()));
    drop((in_flight_too, in_flight_four));
    // Idle connections go before those with a request in flight.
    assert!(table.admit(client_addr(5)).is_some());
    assert_eq!(close_reason_of(&newcomers[0]), Some(CloseReason::ForAnother));
}

#[tokio::test(start_paused = true)]
async fn of_two_that_have_many_the_one_with_most_loses_its_longest_request() {
    let table = Table::new(ConnectionLimits { connections: 9, ..LIMITS });
    let less = fill(&table, 1, 4).await;
    let most = fill(&table, 2, 5).await;
    let mut in_flight = Vec::new();
    for guard in less.iter().chain(most.iter().rev()) {
        in_flight.push(guard.connection_state.begin_request());
        pass(1).await;
    }
    // The server does not wait for a body that has arrived.
    less[0].connection_state.awaits_body(true);
    less[0].connection_state.awaits_body(false);
    let newcomer = table.admit(client_addr(3)).unwrap();
    assert_eq!(close_reason_of(&most[4]), Some(CloseReason::OfMany));
    let _in_flight = newcomer.connection_state.begin_request();
    // Two are not far fewer than four.
    assert!(table.admit(client_addr(3)).is_none());
}

#[tokio::test(start_paused = true)]
async fn nobody_loses_a_connection_to_one_who_has_more() {
    let table = Table::new(LIMITS);
    let greedy = fill(&table, 1, 4).await;
    let _in_flight: Vec<InFlight> =
        greedy.iter().map(|guard| guard.connection_state.begin_request()).collect();
    let mut modest = fill(&table, 2, 2).await;
    modest.extend(fill(&table, 3, 2).await);
    assert!(table.admit(client_addr(1)).is_none());
    assert!(modest.iter().all(|guard| close_reason_of(guard).is_none()));
    assert!(table.admit(client_addr(4)).is_some());
}

#[tokio::test(start_paused = true)]
async fn a_party_that_has_all_it_may_have_loses_its_own_longest_idle_one_or_is_refused() {
    let table = Table::new(LIMITS);
    let other = fill(&table, 2, 1).await;
    let mut own = fill(&table, 1, 5).await;
    own.push(table.admit(client_addr(1)).unwrap());
    assert_eq!(close_reason_of(&own[0]), Some(CloseReason::ForAnother));
    let _in_flight: Vec<InFlight> =
        own[1..].iter().map(|guard| guard.connection_state.begin_request()).collect();
    assert!(table.admit(client_addr(1)).is_none());
    assert_eq!(close_reason_of(&other[0]), None);
}

#[tokio::test(start_paused = true)]
async fn a_head_has_its_time_from_the_accept_and_later_ones_from_their_first_byte() {
    let table = Table::new(LIMITS);
    let silent = table.admit(client_addr(1)).unwrap();
    let slow = table.admit(client_addr(1)).unwrap();
    pass(9).await;
    slow.connection_state.has_read();
    table.sweep(Instant::now());
    assert_eq!((close_reason_of(&silent), close_reason_of(&slow)), (None, None));
    pass(1).await;
    table.sweep(Instant::now());
    let late = Some(CloseReason::TooLate);
    assert_eq!((close_reason_of(&silent), close_reason_of(&slow)), (late, late));

    let again = table.admit(client_addr(1)).unwrap();
    again.connection_state.has_read();
    drop(again.connection_state.begin_request());
    pass(70).await;
    table.sweep(Instant::now());
    again.connection_state.has_read();
    pass(9).await;
    table.sweep(Instant::now());
    assert_eq!(close_reason_of(&again), None);
    again.connection_state.has_read();
    pass(1).await;
    table.sweep(Instant::now());
    assert_eq!(close_reason_of(&again), late);
}

#[tokio::test(start_paused = true)]
async fn a_connection_rests_for_a_while_and_for_less_when_the_table_is_half_full() {
    let table = Table::new(LIMITS);
    let mut guards = fill(&table, 1, 4).await;
    for guard in &guards {
        drop(guard.connection_state.begin_request());
    }
    pass(74).await;
    table.sweep(Instant::now());
    assert!(guards.iter().all(|guard| close_reason_of(guard).is_none()));
    let busy = table.admit(client_addr(2)).unwrap();
    let in_flight = busy.connection_state.begin_request();
    table.sweep(Instant::now());
    assert!(guards.iter().all(|guard| close_reason_of(guard) == Some(CloseReason::TooLate)));

    // However long an answer takes, its connection is not idle.
    guards.clear();
    pass(1_000).await;
    table.sweep(Instant::now());
    assert_eq!(close_reason_of(&busy), None);
    drop(in_flight);
    pass(75).await;
    table.sweep(Instant::now());
    assert_eq!(close_reason_of(&busy), Some(CloseReason::TooLate));
}

#[tokio::test(start_paused = true)]
async fn who_takes_an_answer_too_slowly_goes_and_who_keeps_pace_stays() {
    let table = Table::new(LIMITS);
    let (stuck, slow) =
        (table.admit(client_addr(1)).unwrap(), table.admit(client_addr(1)).unwrap());
    let brisk = table.admit(client_addr(1)).unwrap();
    let _in_flight = [&stuck, &slow, &brisk].map(|guard| guard.connection_state.begin_request());
    for second in 0..100 {
        for guard in [&stuck, &slow, &brisk] {
            guard.connection_state.must_wait();
        }
        slow.connection_state.has_written(900);
        brisk.connection_state.has_written(1_100);
        pass(1).await;
        table.sweep(Instant::now());
        let too_slow = (second >= 19).then_some(CloseReason::TooSlow);
        assert_eq!(
            (close_reason_of(&stuck), close_reason_of(&slow)),
            (too_slow, too_slow),
            "{second}"
        );
        assert_eq!(close_reason_of(&brisk), None);
    }
    // A fast start is not enough.
    brisk.connection_state.has_written(1 << 30);
    pass(20).await;
    table.sweep(Instant::now());
    pass(19).await;
    table.sweep(Instant::now());
    assert_eq!(close_reason_of(&brisk), None);
    pass(1).await;
    table.sweep(Instant::now());
    assert_eq!(close_reason_of(&brisk), Some(CloseReason::TooSlow));
}

#[tokio::test(start_paused = true)]
async fn nobody_comes_while_many_of_those_sent_away_are_open() {
    let table = Table::new(LIMITS);
    let soon = async || tokio::time::timeout(Duration::from_secs(1), table.closed_enough()).await;
    let mut guards = Vec::new();
    // They are closed one after the other, as each new connection has its own client address.
    for number in 0..LIMITS.connections + STILL_CLOSING {
        assert!(soon().await.is_ok(), "{number}");
        guards.push(table.admit(client_addr(number as u8)).unwrap());
    }
    assert_eq!(table.len(), LIMITS.connections);
    assert!(soon().await.is_err());
    guards.remove(0);
    assert!(soon().await.is_ok());
}
