//! A short run of everything: each fault once, under a few clients. It uses real processes and so
//! real time.
#![cfg(unix)]

use std::time::Duration;

use bowline_chaos::cluster::ClusterOptions;
use bowline_chaos::faults::{Action, Plan, Step};
use bowline_chaos::ledger::End;
use bowline_chaos::report::Report;
use bowline_chaos::round::Round;

/// The variable that sets another seed.
const SEED: &str = "BOWLINE_CHAOS_SEED";

fn seed() -> u64 {
    std::env::var(SEED).map_or(1, |text| text.parse().expect("a number"))
}

#[tokio::test(flavor = "multi_thread")]
async fn promises_hold_while_replicas_and_their_store_fail() {
    let round = Round {
        seed: seed(),
        cluster: ClusterOptions {
            program: env!("CARGO_BIN_EXE_chaos-replica").into(),
            lame_duck: Duration::from_millis(1500),
            keep_alive: Duration::from_secs(1),
        },
        plan: Plan::short(seed()),
        legacy: 10,
        modern: 6,
        most_events: 12,
        settle: Duration::from_secs(1),
    };
    let (ledger, violations) = round.run().await.expect("all processes start");
    let report = Report::of(&ledger);
    let text: String = violations.iter().map(|violation| format!("{violation}\n")).collect();
    assert!(violations.is_empty(), "{SEED}={}\n{report}{text}", round.seed);
    let answered = ledger.calls.iter().filter(|call| call.end == End::Answered).count();
    assert!(answered > 50, "{report}");
    assert!(ledger.changes.len() > 20, "{report}");
}

#[test]
fn a_seed_chooses_the_same_faults_again() {
    let plan = |seed| format!("{:?} {:?}", Plan::short(seed), Plan::mixed(seed, 2));
    assert_eq!(plan(1), plan(1));
    assert_ne!(plan(1), plan(2));
}

/// How many actions of a list are of a kind.
fn count(steps: &[Step], is_it: impl Fn(Action) -> bool) -> usize {
    steps.iter().filter(|step| is_it(step.action)).count()
}

#[test]
fn ten_minutes_have_all_faults_in_the_promised_numbers() {
    let plan = Plan::mixed(seed(), 10);
    let replicas = |is_it: fn(Action) -> bool| count(&plan.replicas, is_it);
    assert_eq!(replicas(|action| matches!(action, Action::Kill(..))), 30);
    assert_eq!(replicas(|action| matches!(action, Action::Pause(..))), 5);
    assert_eq!(replicas(|action| matches!(action, Action::Restart(_))), 10);
    let store = |is_it: fn(Action) -> bool| count(&plan.store, is_it);
    assert_eq!(store(|action| matches!(action, Action::StoreKill(_))), 5);
    assert_eq!(store(|action| matches!(action, Action::StoreFailover(_))), 5);
    assert_eq!(store(|action| matches!(action, Action::StoreEmpty)), 2);
    let ten = Duration::from_secs(10);
    let is_long = |action| matches!(action, Action::Connections(.., time) if time >= ten);
    assert_eq!(count(&plan.store, is_long), 45);
    for steps in [&plan.replicas, &plan.store] {
        let minutes = steps.iter().map(least_time).sum::<Duration>().as_secs() / 60;
        assert!((8..11).contains(&minutes), "{minutes}");
    }
}

/// How long a step takes at least.
fn least_time(step: &Step) -> Duration {
    let time = match step.action {
        Action::Kill(_, time) | Action::Pause(_, time) | Action::StoreKill(time) => time,
        Action::StoreFailover(time) | Action::Connections(.., time) => time,
        Action::Restart(_) | Action::StoreEmpty => Duration::ZERO,
    };
    step.after + time
}
