//! Which lanes count against the limits, and which are closed or recalled to make room; `model` has
//! every order of events.

mod model;

use std::sync::Arc;

use bowline_proto::callers::CallerId;
use bowline_proto::request::{ClientProfile, Owner, Peer};
use bowline_types::capability::ClientCapabilities;

use super::*;
use crate::lanes::key::LaneCaller;
use crate::unavailable::Unavailable;

/// A table, its time, and what it demanded besides lanes.
struct Test {
    table: LaneTable<u64>,
    now: Instant,
    actions: Vec<Action<u64>>,
}

fn limits(per_owner: usize, by_capabilities: usize, in_all: usize) -> GatewayLimits {
    let mut limits = GatewayLimits::default();
    (limits.process_lanes, limits.capability_lanes) = (per_owner, by_capabilities);
    (limits.isolated_lanes, limits.lanes) = (8, in_all);
    limits
}

fn forms() -> ClientCapabilities {
    ClientCapabilities::new().with_form_elicitation()
}

fn sampling() -> ClientCapabilities {
    ClientCapabilities::new().with_sampling()
}

/// A caller without a session that can do this.
fn caller(exact: ClientCapabilities) -> LaneCaller {
    LaneCaller::session((Owner::anonymous(), None), &Arc::default(), exact).without_session()
}

impl Test {
    /// Lanes declare exactly what their callers can do, but the server has not asked.
    fn new(limits: GatewayLimits) -> Self {
        let mut table = LaneTable::new(limits, true);
        table.set_exact(true);
        Self { table, now: Instant::now(), actions: Vec::new() }
    }

    fn on(&mut self, event: Event<u64>) {
        self.actions = self.table.on(event, self.now);
    }

    fn take(
        &mut self,
        caller: LaneCaller,
        purpose: LanePurpose,
    ) -> Result<(UseId, LaneId), NoLane> {
        let id = UseId(self.table.number());
        self.on(Event::Take(id, Wanted { caller, purpose, connection: None, until: None }));
        let given = self.actions.iter().find_map(|action| match action {
            Action::Give(it, given) if *it == id => Some(*given),
            _ => None,
        });
        given.unwrap().map(|given| (id, given.lane))
    }

    /// A lane for a caller that listens to lists.
    fn listen(&mut self, exact: ClientCapabilities) -> LaneId {
        let (id, lane) = self.take(caller(exact), LanePurpose::Wait).unwrap();
        self.on(Event::Leave(id));
        lane
    }

    fn attach(&mut self, lane: LaneId) -> UseId {
        let id = UseId(self.table.number());
        self.on(Event::Connect(id, lane, Start::WhenAllowed));
        id
    }

    fn starts(&self) -> bool {
        self.actions.iter().any(|action| matches!(action, Action::Dial(..)))
    }
}

#[test]
fn a_lane_that_a_call_has_taken_is_not_closed_for_another_call() {
    let mut test = Test::new(limits(0, 1, 10));
    let (call, lane) = test.take(caller(forms()), LanePurpose::Call).unwrap();
    let other = |test: &mut Test| test.take(caller(sampling()), LanePurpose::Call).map(drop);
    assert_eq!(other(&mut test), Err(NoLane::Full), "the server is about to be started");
    test.on(Event::Connect(call, lane, Start::Now));
    assert_eq!(other(&mut test), Err(NoLane::Full), "the server is being started");
    let link = Link { number: 7, connection: 7 };
    test.on(Event::Started { lane, link, states_capabilities: false });
    assert_eq!(other(&mut test), Err(NoLane::Full), "the server runs for the call");
    test.on(Event::Leave(call));
    assert_eq!(other(&mut test), Ok(()));
    assert!(test.actions.iter().any(|action| matches!(action, Action::Close(7))));
    assert!(!test.table.suits(lane, &caller(forms())), "the lane is gone");
}

#[test]
fn a_lane_is_closed_when_it_makes_room_for_a_call_and_stays_for_one_that_moves() {
    let mut test = Test::new(limits(8, 8, 1));
    let listening = test.listen(forms());
    let moving = test.take(caller(sampling()), LanePurpose::Move);
    assert_eq!(moving, Err(NoLane::Full));
    assert!(test.table.suits(listening, &caller(forms())));
    let before = test.table.changes();
    test.take(caller(sampling()), LanePurpose::Call).unwrap();
    assert!(!test.table.suits(listening, &caller(forms())));
    assert!(test.table.changes() > before, "its listeners see the end");
    test.attach(listening);
    assert!(!test.starts());
}

#[test]
fn a_lane_whose_caller_follows_resources_counts_while_its_server_does_not_run() {
    let mut test = Test::new(limits(0, 1, 10));
    let listening = test.listen(forms());
    let following = test.attach(listening);
    assert!(test.starts());
    let failure =
        || Event::NotStarted { lane: listening, problem: Unavailable::broken_off(), jitter: 1.0 };
    test.on(failure());
    test.on(Event::Leave(following));
    let again = test.attach(listening);
    assert!(!test.starts(), "there is a pause after the failure");
    let other = |test: &mut Test| test.take(caller(sampling()), LanePurpose::Start);
    assert_eq!(other(&mut test), Err(NoLane::Full));
    test.on(Event::Leave(again));
    let (call, _) = other(&mut test).unwrap();
    let again = test.attach(listening);
    test.now += Duration::from_secs(60);
    test.on(Event::Tick);
    assert!(!test.starts(), "there is no room");
    test.on(Event::Leave(call));
    assert!(test.starts());
    test.on(Event::Leave(again));
}

/// Makes a call of a peer that asks. Returns it, and the call that gave way.
fn ask(test: &mut Test, last: u8) -> (UseId, Option<UseId>) {
    let (call, _) = test.take(caller(forms()), LanePurpose::Call).unwrap();
    let peer = Some(CallerId::from(Peer([192, 0, 2, last].into())));
    let number = test.table.number();
    test.on(Event::Asked(number, call, peer));
    let recalled = test.actions.iter().find_map(|action| match action {
        Action::Recall(call) => Some(*call),
        _ => None,
    });
    recalled.into_iter().for_each(|call| test.on(Event::Leave(call)));
    test.now += Duration::from_secs(1);
    (call, recalled)
}

#[test]
fn lanes_starved_by_the_questions_of_one_peer_are_taken_from_that_peer() {
    let mut test = Test::new(limits(5, 8, 8));
    test.on(Event::Asks);
    let (_quiet, _) = ask(&mut test, 1);
    let (loud, ended): (Vec<UseId>, Vec<Option<UseId>>) = (0..5).map(|_| ask(&mut test, 2)).unzip();
    assert_eq!(ended, [None, None, None, Some(loud[0]), Some(loud[1])]);
}

#[test]
fn a_retired_table_is_over_although_a_call_uses_a_lane_that_was_removed() {
    let mut test = Test::new(limits(0, 0, 8));
    let client: Arc<ClientProfile> = Arc::default();
    let session = LaneCaller::session((Owner::anonymous(), None), &client, forms()).isolated();
    let (call, _) = test.take(session, LanePurpose::Call).unwrap();
    // The next call removes the lane of the session that is over.
    drop(client);
    assert_eq!(test.take(caller(forms()), LanePurpose::Start), Err(NoLane::Full));
    test.on(Event::Retire);
    test.on(Event::Leave(call));
    assert!(test.table.is_over());
}

#[test]
fn a_call_that_waits_for_a_connection_whose_cursor_it_has_goes_nowhere_else() {
    let mut test = Test::new(limits(8, 8, 8));
    test.on(Event::Asks);
    let (call, lane) = test.take(caller(forms()), LanePurpose::Call).unwrap();
    test.on(Event::Connect(call, lane, Start::Now));
    let link = Link { number: 7, connection: 7 };
    test.on(Event::Started { lane, link, states_capabilities: false });
    let id = UseId(test.table.number());
    let (caller, purpose) = (caller(forms()), LanePurpose::Call);
    let until = Some(test.now + Duration::from_secs(30));
    test.on(Event::Take(id, Wanted { caller, purpose, connection: Some(7), until }));
    assert!(test.actions.is_empty());
    test.on(Event::Leave(call));
    let expected = Ok(Given { lane, holds: true });
    assert!(
        matches!(&test.actions[..], [Action::Give(it, given)] if *it == id && *given == expected)
    );
}
