//! A short run of everything: each fault once, under a few clients. It uses real processes and so
//! real time.
#![cfg(unix)]

use std::time::Duration;

use bowline_chaos::cluster::ClusterOptions;
use bowline_chaos::faults::Plan;
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
        legacy: 9,
        modern: 3,
        most_events: 12,
        settle: Duration::from_secs(1),
    };
    let (ledger, violations) = round.run().await.expect("all processes start");
    let report = Report::of(&ledger);
    let text: String = violations.iter().map(|violation| format!("{violation}\n")).collect();
    assert!(violations.is_empty(), "{SEED}={}\n{report}{text}", round.seed);
    let answered = ledger.calls.iter().filter(|call| call.end == End::Answered).count();
    assert!(answered > 50, "{report}");
}

#[test]
fn a_seed_chooses_the_same_faults_again() {
    let plan = |seed| format!("{:?} {:?}", Plan::short(seed), Plan::mixed(seed, 2));
    assert_eq!(plan(1), plan(1));
    assert_ne!(plan(1), plan(2));
}
