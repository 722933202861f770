//! Histories of changes.

use super::*;
use crate::ledger::{Change, Notice, Notified};

const NONCE: u64 = 9;

/// A change that was made in a process between seconds 10 and 11, beside the good call.
fn change(notified: Option<Duration>) -> Change {
    Change {
        nonce: NONCE,
        session: Some(SESSION.to_owned()),
        followed: at(3),
        sent: at(10),
        answered: at(11),
        notified: notified.map(|at| Notified { at, by: Notice::Change }),
    }
}

fn with_change(notified: Option<Duration>, faults: &[(FaultKind, u64, u64)]) -> Vec<Rule> {
    broken(|ledger| {
        ledger.changes.push(change(notified));
        ledger.runs.push(ToolRun { nonce: NONCE, process: PROCESS, is_again: false });
        for &(kind, begin, end) in faults {
            ledger.faults.push(Fault { kind, begin: at(begin), end: at(end) });
        }
    })
}

const LOST: [Rule; 1] = [Rule::ChangeSeen];

#[test]
fn a_change_that_is_notified_within_five_seconds_has_no_violation() {
    assert_eq!(with_change(Some(at(10)), &[]), [], "also before the answer");
    assert_eq!(with_change(Some(at(16)), &[]), []);
}

#[test]
fn a_change_that_is_notified_late_or_never_is_found() {
    assert_eq!(with_change(Some(at(17)), &[]), LOST);
    assert_eq!(with_change(None, &[]), LOST);
}

#[test]
fn a_restart_explains_no_lost_change() {
    assert_eq!(with_change(None, &[(FaultKind::Restart(PROCESS), 10, 14)]), LOST);
}

#[test]
fn a_change_may_be_lost_with_the_replica_that_made_it_a_moment_before() {
    assert_eq!(with_change(None, &[(FaultKind::Kill(PROCESS), 11, 13)]), []);
    assert_eq!(with_change(None, &[(FaultKind::Kill(PROCESS), 12, 13)]), LOST);
    assert_eq!(with_change(None, &[(FaultKind::Kill(PROCESS), 9, 13)]), LOST);
    assert_eq!(with_change(None, &[(FaultKind::Kill(200), 11, 13)]), LOST, "another replica");
}

#[test]
fn a_replica_that_cannot_publish_yet_may_take_a_change_with_it_later() {
    let kill = (FaultKind::Kill(PROCESS), 14, 15);
    assert_eq!(with_change(None, &[(FaultKind::Store("hangs"), 11, 13), kill]), []);
    assert_eq!(with_change(None, &[(FaultKind::Store("hangs"), 8, 9), kill]), LOST);
    let paused = |process| (FaultKind::Pause(process), 11, 13);
    assert_eq!(with_change(None, &[paused(PROCESS), kill]), []);
    assert_eq!(with_change(None, &[paused(200), kill]), LOST);
}

#[test]
fn a_store_that_fails_or_a_replica_that_is_paused_delays_a_change_until_a_moment_after_it_works() {
    for kind in [FaultKind::Store("hangs"), FaultKind::StoreLoss("emptied"), FaultKind::Pause(200)]
    {
        let meanwhile = [(kind, 15, 20)];
        assert_eq!(with_change(Some(at(22)), &meanwhile), []);
        assert_eq!(with_change(Some(at(23)), &meanwhile), LOST);
        assert_eq!(with_change(None, &meanwhile), LOST);
        assert_eq!(with_change(Some(at(17)), &[(kind, 6, 10)]), LOST, "over before");
        assert_eq!(with_change(Some(at(17)), &[(kind, 16, 20)]), LOST, "begun after");
    }
}

#[test]
fn a_subscription_may_be_lost_if_the_store_acknowledged_it_a_moment_before_it_lost_data() {
    let loss = |begin| (FaultKind::StoreLoss("failed over"), begin, begin + 1);
    assert_eq!(with_change(None, &[loss(4)]), []);
    assert_eq!(with_change(None, &[loss(5)]), [], "two seconds before");
    assert_eq!(with_change(None, &[loss(6)]), LOST, "three seconds before");
    assert_eq!(with_change(None, &[(FaultKind::Store("killed"), 4, 5)]), LOST);
    let without_session = broken(|ledger| {
        ledger.changes.push(Change { session: None, ..change(None) });
        let kind = FaultKind::StoreLoss("failed over");
        ledger.faults.push(Fault { kind, begin: at(4), end: at(5) });
    });
    assert_eq!(without_session, LOST);
}
