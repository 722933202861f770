//! The choices of a run.
#![cfg(unix)]

use bowline_chaos::faults::Plan;

#[test]
fn a_seed_chooses_the_same_faults_again() {
    let plan = |seed| format!("{:?} {:?}", Plan::short(seed), Plan::mixed(seed, 2));
    assert_eq!(plan(1), plan(1));
    assert_ne!(plan(1), plan(2));
}
