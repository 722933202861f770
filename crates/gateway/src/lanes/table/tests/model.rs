//! Every order of calls, starts, failures, questions and time on a small table, up to a depth, with what
//! must hold after each step.
//!
//! Three callers of two owners use a server that asks: a session and single calls of one owner, and
//! single calls of another. An owner has two lanes, all owners together three.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bowline_proto::request::{ClientProfile, Owner};
use bowline_types::capability::ClientCapabilities;

use super::super::*;
use crate::lanes::key::LaneCaller;
use crate::unavailable::Unavailable;

/// How many steps a history has.
const DEPTH: usize = 6;

/// Calls that are open at the same time.
const MOST_CALLS: usize = 4;

#[derive(Clone, Copy, Debug)]
enum Step {
    /// A caller makes a call.
    Call(usize),
    /// The call that was made first ends, whatever it waits for.
    LeaveFirst,
    /// The same for the last one.
    LeaveLast,
    /// The server asks the call that runs longest.
    Ask,
    /// The oldest start succeeds.
    Start,
    /// The oldest start fails.
    Fail,
    /// The oldest connection ends by itself.
    Die,
    /// A second passes.
    Second,
    /// Calls that wait give up, and what nothing uses is idle.
    Hour,
    /// Another table takes over.
    Retire,
}

const STEPS: [Step; 12] = [
    Step::Call(0),
    Step::Call(1),
    Step::Call(2),
    Step::LeaveFirst,
    Step::LeaveLast,
    Step::Ask,
    Step::Start,
    Step::Fail,
    Step::Die,
    Step::Second,
    Step::Hour,
    Step::Retire,
];

#[derive(Clone, Debug)]
struct Call {
    id: UseId,
    caller: usize,
    state: CallState,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum CallState {
    Waiting,
    Connecting(LaneId),
    Running(LaneId, u64),
}

impl CallState {
    fn lane(self) -> Option<LaneId> {
        match self {
            Self::Waiting => None,
            Self::Connecting(lane) | Self::Running(lane, _) => Some(lane),
        }
    }
}

/// The table and what a driver would know.
#[derive(Clone)]
struct World {
    table: LaneTable<u64>,
    callers: Arc<[LaneCaller; 3]>,
    /// The open calls, the oldest first.
    calls: Vec<Call>,
    asked: BTreeSet<UseId>,
    /// The starts that go on, the oldest first.
    starts: Vec<LaneId>,
    open: Vec<(LaneId, u64)>,
    owners: BTreeMap<LaneId, usize>,
    now: Instant,
    is_retired: bool,
    steps: Vec<Step>,
}

impl World {
    fn new(client: &Arc<ClientProfile>) -> Self {
        let mut limits = GatewayLimits::default();
        (limits.process_lanes, limits.lanes) = (2, 3);
        let mut table = LaneTable::new(limits, true);
        table.note_asks();
        let caller = |name: &str| {
            let owner = Owner::known("https://issuer.example", name);
            LaneCaller::session((owner, None), client, ClientCapabilities::new().with_sampling())
        };
        let callers =
            [caller("ann"), caller("ann").without_session(), caller("bob").without_session()];
        Self {
            table,
            callers: Arc::new(callers),
            calls: Vec::new(),
            asked: BTreeSet::new(),
            starts: Vec::new(),
            open: Vec::new(),
            owners: BTreeMap::new(),
            now: Instant::now(),
            is_retired: false,
            steps: Vec::new(),
        }
    }

    /// Takes a step. `None` if it changes nothing in this state.
    fn take(&mut self, step: Step) -> Option<()> {
        self.steps.push(step);
        match step {
            Step::Call(caller) => self.call(caller)?,
            Step::LeaveFirst => self.leave(self.calls.first()?.id),
            Step::LeaveLast => self.leave(self.calls.last()?.id),
            Step::Ask => {
                let runs = |it: &&Call| matches!(it.state, CallState::Running(..));
                let id = self.calls.iter().find(runs)?.id;
                self.asked.insert(id).then_some(())?;
                let number = self.table.number();
                self.on(Event::Asked(number, id, None));
            }
            Step::Start => {
                let lane = take_first(&mut self.starts)?;
                self.started(lane);
            }
            Step::Fail => {
                let lane = take_first(&mut self.starts)?;
                self.on(Event::NotStarted { lane, problem: Unavailable::stopped(), jitter: 0.5 });
            }
            Step::Die => {
                let (lane, _) = take_first(&mut self.open)?;
                self.on(Event::Died { lane, jitter: 0.5 });
            }
            Step::Second => self.pass(Duration::from_secs(1)),
            Step::Hour => self.pass(Duration::from_secs(3600)),
            Step::Retire => {
                (!std::mem::replace(&mut self.is_retired, true)).then_some(())?;
                self.on(Event::Retire);
            }
        }
        Some(())
    }

    fn call(&mut self, caller: usize) -> Option<()> {
        (self.calls.len() < MOST_CALLS).then_some(())?;
        let id = UseId(self.table.number());
        self.calls.push(Call { id, caller, state: CallState::Waiting });
        let until = Some(self.now + Duration::from_secs(30));
        let (caller, purpose) = (self.callers[caller].clone(), LanePurpose::Call);
        self.on(Event::Take(id, Wanted { caller, purpose, connection: None, until }));
        Some(())
    }

    fn leave(&mut self, id: UseId) {
        self.calls.retain(|call| call.id != id);
        self.asked.remove(&id);
        self.on(Event::Leave(id));
    }

    fn started(&mut self, lane: LaneId) {
        let number = self.table.number();
        self.open.push((lane, number));
        let link = Link { number, connection: number };
        self.on(Event::Started { lane, link, states_capabilities: false });
    }

    /// Lets time pass, with a tick at each deadline.
    fn pass(&mut self, time: Duration) {
        let until = self.now + time;
        let mut ticks = 0;
        while let Some(at) = self.table.deadline(self.now).filter(|at| *at <= until) {
            self.now = at.max(self.now);
            self.on(Event::Tick);
            ticks += 1;
            assert!(ticks < 10_000, "{:?}: the table asks for the time without end", self.steps);
        }
        self.now = until;
    }

    fn on(&mut self, event: Event<u64>) {
        for action in self.table.on(event, self.now) {
            self.perform(action);
        }
    }

    fn perform(&mut self, action: Action<u64>) {
        match action {
            Action::Give(id, given) => self.given(id, given),
            Action::Connect(id, Ok(link)) => {
                let CallState::Connecting(lane) = *self.state(id) else {
                    panic!("{:?}: a second connection", self.steps);
                };
                assert!(self.open.contains(&(lane, link.number)), "{:?}: not open", self.steps);
                *self.state(id) = CallState::Running(lane, link.number);
            }
            Action::Connect(id, Err(_)) => {
                assert!(matches!(self.state(id), CallState::Connecting(_)), "{:?}", self.steps);
                self.leave(id);
            }
            Action::Dial(lane, ..) => self.starts.push(lane),
            Action::Abort(lane) => {
                self.starts.retain(|start| *start != lane);
                self.ended();
            }
            Action::Close(number) => {
                let uses =
                    |call: &Call| matches!(call.state, CallState::Running(_, it) if it == number);
                assert!(!self.calls.iter().any(uses), "{:?}: a call used it", self.steps);
                self.open.retain(|(_, open)| *open != number);
                self.ended();
            }
            Action::Recall(id) => {
                assert!(self.asked.contains(&id), "{:?}: it does not ask", self.steps);
                self.leave(id);
            }
        }
    }

    fn ended(&mut self) {
        assert!(self.table.ending > 0, "{:?}: the table does not wait for the end", self.steps);
        self.on(Event::Ended);
    }

    fn given(&mut self, id: UseId, given: Result<Given, NoLane>) {
        let state = *self.state(id);
        assert_eq!(state, CallState::Waiting, "{:?}: answered twice", self.steps);
        let Ok(Given { lane, holds }) = given else { return self.leave(id) };
        assert!(holds);
        let caller = self.calls.iter().find(|call| call.id == id).unwrap().caller;
        let overtakes = |it: &Call| it.caller == caller && it.state == CallState::Waiting;
        let first = self.calls.iter().find(|it| overtakes(it)).unwrap().id;
        assert_eq!(first, id, "{:?}: a later call was served first", self.steps);
        self.owners.insert(lane, caller / 2);
        *self.state(id) = CallState::Connecting(lane);
        self.on(Event::Connect(id, lane, Start::Now));
    }

    fn state(&mut self, id: UseId) -> &mut CallState {
        &mut self.calls.iter_mut().find(|call| call.id == id).expect("it has left").state
    }

    fn check(&self) {
        let lanes = self.open.iter().map(|(lane, _)| lane).chain(&self.starts);
        let of_owner = |owner| lanes.clone().filter(|lane| self.owners[*lane] == owner).count();
        // The callers of the first owner are 0 and 1.
        let owner = |caller: usize| caller / 2;
        assert!(of_owner(0) <= 2 && of_owner(1) <= 2, "{:?}: too many lanes", self.steps);
        assert!(self.table.lanes.len() <= 3, "{:?}: too many lanes in all", self.steps);
        for call in &self.calls {
            let others = self.calls.iter().filter(|it| it.id != call.id);
            let is_of_session = |it: &Call| call.caller == 0 && it.caller == 0;
            if let Some(lane) = call.state.lane() {
                let mut together = others.filter(|it| it.state.lane() == Some(lane));
                assert!(together.all(is_of_session), "{:?}: two askers", self.steps);
            } else {
                let of_owner = others.filter(|it| owner(it.caller) == owner(call.caller));
                let holders: Vec<&Call> = of_owner.filter(|it| it.state.lane().is_some()).collect();
                let held: BTreeSet<LaneId> =
                    holders.iter().filter_map(|it| it.state.lane()).collect();
                let is_free = held.len() < 2 || holders.iter().any(|it| is_of_session(it));
                assert!(!is_free, "{:?}: a call waits for a lane that is free", self.steps);
            }
        }
    }

    /// After all calls have left, everything is closed some time later, or at once by a table that is
    /// retired.
    fn check_end(mut self) {
        while let Some(call) = self.calls.first() {
            self.leave(call.id);
        }
        assert_eq!(self.table.is_over(), self.is_retired, "{:?}", self.steps);
        while let Some(lane) = take_first(&mut self.starts) {
            self.started(lane);
        }
        self.pass(Duration::from_secs(24 * 3600));
        assert_eq!((self.open, self.table.ending), (Vec::new(), 0), "{:?}", self.steps);
        assert!(self.table.uses.is_empty(), "{:?}: {:?}", self.steps, self.table.uses);
        assert_eq!(self.table.deadline(self.now), None, "{:?}", self.steps);
    }
}

fn take_first<T>(list: &mut Vec<T>) -> Option<T> {
    (!list.is_empty()).then(|| list.remove(0))
}

/// Takes all steps from here, and counts the histories.
fn explore(world: &World, depth: usize) -> usize {
    let mut count = 1;
    for step in STEPS {
        let mut next = world.clone();
        if next.take(step).is_none() {
            continue;
        }
        next.check();
        count += match depth {
            1 => {
                next.check_end();
                1
            }
            _ => explore(&next, depth - 1),
        };
    }
    count
}

#[test]
fn in_every_order_of_events_calls_get_lanes_within_the_limits_and_all_is_closed_after_them() {
    let client = Arc::default();
    let histories = explore(&World::new(&client), DEPTH);
    assert!(histories > 10_000, "{histories}");
}
