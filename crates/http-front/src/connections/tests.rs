//! When the server ends or cuts a connection, check by check, and how it leaves the table.

use std::future::pending;

use std::net::IpAddr;

use super::*;

const CHECKS: Checks = Checks { interval: Duration::from_secs(1), head: 2, idle: 4 };

fn used() -> ConnectionUse {
    ConnectionUse::default()
}

/// The address of a client.
fn address(last: u8) -> AddressKey {
    IpAddr::from([192, 0, 2, last]).into()
}

fn opened() -> Open {
    Open::new(Arc::new(used()), address(1))
}

/// The verdict of each of so many checks: `.` kept, `e` asked to end, `c` cut.
fn verdicts(open: &mut Open, checks: usize) -> String {
    let verdict = |_| match open.check(CHECKS, Instant::now()) {
        Verdict::Keep => '.',
        Verdict::End => 'e',
        Verdict::Cut => 'c',
    };
    (0..checks).map(verdict).collect()
}

#[tokio::test]
async fn a_connection_that_sends_no_head_is_cut_and_an_idle_one_is_asked_to_end_first() {
    let mut open = opened();
    assert_eq!(verdicts(&mut open, 3), "..c", "no head has come");

    let mut open = opened();
    drop(open.used.begin());
    assert_eq!(verdicts(&mut open, 9), ".....e..c", "a request was answered");

    let mut open = opened();
    let in_flight = open.used.begin();
    assert_eq!(verdicts(&mut open, 9), ".........", "a request is being answered");
    drop(in_flight);
    assert_eq!(verdicts(&mut open, 5), "....e");
}

#[cfg(feature = "http2")]
#[tokio::test]
async fn over_http2_a_connection_is_always_asked_to_end_first() {
    let mut open = opened();
    open.used.speaks_http2();
    assert_eq!(verdicts(&mut open, 6), "..e..c");
}

#[test]
fn connections_are_checked_twice_within_the_shortest_time() {
    let limits = FrontLimits::default();
    let checks = Checks::new(&limits);
    assert_eq!(checks.interval, limits.head.min(limits.idle) / 2);
    let none = FrontLimits { head: Duration::ZERO, ..limits };
    assert_eq!(
        Checks::new(&none).interval,
        Duration::from_millis(1),
        "a limit of zero is no division by zero"
    );
}

#[tokio::test(start_paused = true)]
async fn no_two_checks_are_closer_than_the_interval_even_if_the_first_is_late() {
    let mut timer = CHECKS.timer();
    for late in [0, 1, 3, 5, 6, 100, 5000].map(Duration::from_millis) {
        tokio::time::advance(CHECKS.interval + late).await;
        timer.due().await;
        timer.restart();
        let checked = tokio::time::Instant::now();
        timer.due().await;
        assert_eq!(checked.elapsed(), CHECKS.interval, "after {late:?}");
        timer.restart();
    }
}

#[tokio::test]
async fn a_connection_leaves_the_table_when_it_ends_or_is_cut() {
    let mut connections = Connections::new(Capacity::new(&FrontLimits::default()));
    let table = connections.table.clone();
    let (end, ended) = tokio::sync::oneshot::channel::<()>();
    connections.open((used(), address(1)), |_, entry| {
        Box::pin(async move {
            let _ = ended.await;
            drop(entry);
        })
    });
    connections.open((used(), address(2)), |_, entry| {
        Box::pin(async move {
            pending::<()>().await;
            drop(entry);
        })
    });
    let open = || lock(&table).open.len();
    assert_eq!(open(), 2);
    drop(end);
    while open() > 1 {
        tokio::task::yield_now().await;
    }
    drop(connections);
    while open() > 0 {
        tokio::task::yield_now().await;
    }
    assert!(lock(&table).by_address.is_empty());
}
