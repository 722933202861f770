//! What the parking lot does with a call in every order of events, and what its limits refuse.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bowline_proto::members::Members;
use bowline_proto::request::{
    Access, ClientProfile, ExchangeId, Extensions, Outgoing, OutgoingQuestion, Owner, Parts, Peer,
    Reply, Sink, Success, SuccessKind,
};
use bowline_proto::sync::poll_once;
use bowline_types::elicitation::ElicitParams;
use bowline_types::elicitation::schema::FormSchema;
use bowline_types::error::code;
use bowline_types::input::{InputRequest, InputRequired, InputResponses};
use bowline_types::json::RawJson;
use bowline_types::meta::Meta;
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use serde_json::json;
use tokio::sync::{oneshot, watch};
use tokio::time::advance;

use super::*;

/// A server of an older revision that asks a number of questions, one after the other, and ends.
#[derive(Clone)]
struct Asking {
    questions: usize,
    running: Arc<AtomicUsize>,
    is_dead: Arc<watch::Sender<bool>>,
}

impl Asking {
    fn new(questions: usize) -> Self {
        let (running, is_dead) = (Arc::default(), Arc::new(watch::channel(false).0));
        Self { questions, running, is_dead }
    }

    async fn serve(self, request: Request) -> Response {
        let _running = Running::new(self.running);
        let mut dead = self.is_dead.subscribe();
        let mut answers = Vec::new();
        for number in 1..=self.questions {
            let (sender, answer) = oneshot::channel();
            let question = ElicitParams::form(format!("{number}?"), FormSchema::new());
            let reply = Reply::new(move |answer| _ = sender.send(answer));
            let request_ = InputRequest::Elicit(question);
            let asked = OutgoingQuestion { request: request_, reply, task: None };
            if request.parts.outbox.send(Outgoing::Ask(asked)).await.is_err() {
                return Err(ErrorObject::internal("it cannot ask"));
            }
            tokio::select! {
                answer = answer => match answer {
                    Ok(Ok(answer)) => answers.push(answer.into_text()),
                    Ok(Err(error)) => return Err(ErrorObject::internal(error.to_string())),
                    Err(_) => return Err(ErrorObject::internal("the question was dropped")),
                },
                Ok(_) = dead.wait_for(|is_dead| *is_dead) => {
                    return Err(ErrorObject::internal("the server is gone"));
                }
            }
        }
        let answers = RawJson::from_value(&json!({ "answers": answers })).unwrap();
        Ok(Success::raw(answers, Meta::new()))
    }
}

/// Counts the calls that run.
struct Running(Arc<AtomicUsize>);

impl Running {
    fn new(count: Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Service<Request> for Asking {
    type Response = Response;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let server = self.clone();
        Box::pin(async move { Ok(server.serve(request).await) })
    }
}

impl Upstream for Asking {
    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::new()
    }

    fn instructions(&self) -> Option<String> {
        None
    }
}

/// A call of the tool `a` by an owner, with what it returns from an earlier round.
fn request(owner: &Owner, input: Option<Input>) -> Request {
    let params = Members::default().with("name", "a");
    let parts = Parts {
        exchange: ExchangeId(1),
        method: Method::ToolsCall,
        revision: Revision::LATEST,
        client: Arc::new(ClientProfile::default()),
        meta: Members::default(),
        progress: None,
        log_level: None,
        input: input.map(Box::new),
        owner: owner.clone(),
        access: Access::none(),
        headers: None,
        outbox: Outbox::closed(),
        extensions: Extensions::default(),
    };
    Request { parts, params }
}

/// The answers to all questions that a call may have asked, and a state.
fn retry(state: &str) -> Option<Input> {
    let mut responses = InputResponses::new();
    for number in 1..=20 {
        let key = format!("q{number}");
        responses.set(key, &json!({ "action": "accept", "content": {} })).unwrap();
    }
    Some(Input { responses, state: Some(state.to_owned()) })
}

/// The state and the keys of the questions in an answer.
fn asked(response: &Response) -> (String, Vec<String>) {
    let success = response.as_ref().unwrap();
    assert_eq!(success.kind(), SuccessKind::InputRequired);
    let required: InputRequired = success.body().parse().unwrap();
    let keys = required.input_requests.iter().map(|(key, _)| key.to_owned()).collect();
    (required.request_state.unwrap(), keys)
}

fn parking(questions: usize, limits: ParkLimits) -> Parking<Asking> {
    Parking::new(Asking::new(questions), "far", ParkingLot::new(limits).unwrap())
}

fn is_bad_state(response: &Response) -> bool {
    matches!(response, Err(error) if error.code == code::INVALID_PARAMS && error.message.contains("requestState"))
}

// spec: MRTR-1, MRTR-30
#[tokio::test(start_paused = true)]
async fn a_call_goes_on_with_each_retry_and_its_keys_never_repeat() {
    let parking = parking(2, ParkLimits::default());
    let owner = Owner::anonymous();
    let first = parking.clone().answer(request(&owner, None)).await;
    let (state, keys) = asked(&first);
    assert_eq!(keys, ["q1"]);
    // Without an answer the same question comes again.
    let nothing = Input { responses: InputResponses::new(), state: Some(state) };
    let (state, keys) = asked(&parking.clone().answer(request(&owner, Some(nothing))).await);
    assert_eq!(keys, ["q1"]);
    let (state, keys) = asked(&parking.clone().answer(request(&owner, retry(&state))).await);
    assert_eq!(keys, ["q2"]);
    let done = parking.clone().answer(request(&owner, retry(&state))).await.unwrap();
    assert_eq!(done.kind(), SuccessKind::Complete);
    assert_eq!(done.body().as_str().matches("accept").count(), 2);
}

// spec: MRTR-13, MRTR-15, MRTR-16
#[tokio::test(start_paused = true)]
async fn a_state_counts_for_one_owner_one_call_one_upstream_and_one_round() {
    let parking = parking(2, ParkLimits::default());
    let ann = Owner::known("https://auth.example.com", "ann");
    let (state, _) = asked(&parking.clone().answer(request(&ann, None)).await);
    let bob = Owner::known("https://auth.example.com", "bob");
    assert!(is_bad_state(&parking.clone().answer(request(&bob, retry(&state))).await));
    let mut other = request(&ann, retry(&state));
    other.params = other.params.with("name", "b");
    assert!(is_bad_state(&parking.clone().answer(other).await));
    let elsewhere = Parking { name: "near".into(), ..parking.clone() };
    assert!(is_bad_state(&elsewhere.answer(request(&ann, retry(&state))).await));
    let replica = Parking::new(
        parking.upstream.clone(),
        "far",
        ParkingLot::new(ParkLimits::default()).unwrap(),
    );
    assert!(is_bad_state(&replica.answer(request(&ann, retry(&state))).await));
    // The call itself is untouched, and a second use of its state gives the same answer.
    let second = parking.clone().answer(request(&ann, retry(&state))).await;
    let again = parking.clone().answer(request(&ann, retry(&state))).await;
    assert_eq!(asked(&second), asked(&again));
    assert_eq!(parking.upstream.running.load(Ordering::Relaxed), 1);
}

#[tokio::test(start_paused = true)]
async fn a_retry_that_is_under_way_is_not_made_twice() {
    let parking = parking(2, ParkLimits::default());
    let owner = Owner::anonymous();
    let (state, _) = asked(&parking.clone().answer(request(&owner, None)).await);
    let mut running = Box::pin(parking.clone().answer(request(&owner, retry(&state))));
    assert!(poll_once(&mut running).await.is_pending());
    let refused = parking.clone().answer(request(&owner, retry(&state))).await.unwrap_err();
    assert!(refused.message.contains("have arrived already"), "{refused:?}");
    asked(&running.await);
}

#[tokio::test(start_paused = true)]
async fn beyond_its_limits_a_lot_refuses_questions() {
    let limits = ParkLimits { in_all: 3, ..ParkLimits::default() };
    let parking = parking(1, limits);
    let owner = |name| Owner::known("https://auth.example.com", name);
    for name in ["ann", "ann", "bob"] {
        asked(&parking.clone().answer(request(&owner(name), None)).await);
    }
    for name in ["bob", "eve"] {
        let refused = parking.clone().answer(request(&owner(name), None)).await.unwrap_err();
        assert!(refused.message.contains("too many questions"), "{refused:?}");
    }
    assert_eq!(parking.lot.len(), 3);
}

/// Otherwise callers that never answer would keep those who share their owner from asking.
#[tokio::test(start_paused = true)]
async fn beyond_its_number_of_parked_calls_the_oldest_of_an_owner_is_ended_and_says_so() {
    let parking = parking(1, ParkLimits { per_owner: 2, ..ParkLimits::default() });
    let owner = Owner::anonymous();
    let mut states = Vec::new();
    for _ in 0..3 {
        states.push(asked(&parking.clone().answer(request(&owner, None)).await).0);
        advance(Duration::from_secs(1)).await;
    }
    assert_eq!(parking.upstream.running.load(Ordering::Relaxed), 2);
    let ended = parking.clone().answer(request(&owner, retry(&states[0]))).await.unwrap_err();
    assert!(ended.message.contains("waited for an answer"), "{ended:?}");
    for state in &states[1..] {
        parking.clone().answer(request(&owner, retry(state))).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_peer_with_many_parked_calls_ends_its_own_before_those_of_others() {
    let parking = parking(1, ParkLimits { per_owner: 3, ..ParkLimits::default() });
    let of = |last: u8| {
        let mut request = request(&Owner::anonymous(), None);
        request.parts.extensions.insert(Peer([192, 0, 2, last].into()));
        request
    };
    let (quiet, _) = asked(&parking.clone().answer(of(1)).await);
    for _ in 0..10 {
        advance(Duration::from_secs(1)).await;
        asked(&parking.clone().answer(of(2)).await);
    }
    parking.answer(request(&Owner::anonymous(), retry(&quiet))).await.unwrap();
}

/// A server that goes on without an answer, and reports its progress.
#[derive(Clone)]
struct Undeterred;

impl Service<Request> for Undeterred {
    type Response = Response;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let outbox = request.parts.outbox.clone();
        Box::pin(async move {
            let asked = Asking::new(1).serve(request).await;
            let progress = Outgoing::Progress(Default::default());
            _ = outbox.emit(progress);
            assert!(asked.is_err(), "there is room");
            Ok(Ok(Success::empty()))
        })
    }
}

impl Upstream for Undeterred {
    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::new()
    }

    fn instructions(&self) -> Option<String> {
        None
    }
}

/// Counts what reaches a caller.
#[derive(Default)]
struct Counted(AtomicUsize);

impl Sink for Counted {
    fn poll_ready(&self, _: ExchangeId, _: &mut Context<'_>) -> Poll<()> {
        Poll::Ready(())
    }

    fn emit(&self, _: ExchangeId, _: Outgoing) -> Result<(), Outgoing> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn progress_of_a_call_whose_question_was_refused_for_want_of_room_reaches_its_caller() {
    let lot = ParkingLot::new(ParkLimits { in_all: 0, ..ParkLimits::default() }).unwrap();
    let counted = Arc::new(Counted::default());
    let mut request = request(&Owner::anonymous(), None);
    request.parts.outbox = Outbox::new(request.parts.exchange, counted.clone());
    Parking::new(Undeterred, "far", lot).answer(request).await.unwrap();
    assert_eq!(counted.0.load(Ordering::Relaxed), 1);
}

/// Lets an owner make calls that end. Gives the states of their last retries, and the length of one
/// outcome.
async fn ended(parking: &Parking<Asking>, owner: &Owner, calls: usize) -> (Vec<String>, usize) {
    let (mut states, mut length) = (Vec::new(), 0);
    for _ in 0..calls {
        let (state, _) = asked(&parking.clone().answer(request(owner, None)).await);
        let done = parking.clone().answer(request(owner, retry(&state))).await.unwrap();
        length = done.body().as_str().len();
        states.push(state);
        advance(Duration::from_millis(100)).await;
    }
    (states, length)
}

/// Which of these retries get their outcome once more.
async fn kept(parking: &Parking<Asking>, owner: &Owner, states: &[String]) -> Vec<bool> {
    let mut kept = Vec::new();
    for state in states {
        let again = parking.clone().answer(request(owner, retry(state))).await;
        kept.push(!is_bad_state(&again));
    }
    kept
}

#[tokio::test(start_paused = true)]
async fn the_newest_outcomes_are_kept_up_to_a_number_and_a_length() {
    let owner = |name| Owner::known("https://auth.example.com", name);
    let (ann, bob) = (owner("ann"), owner("bob"));
    let any = parking(1, ParkLimits::default());
    let (states, length) = ended(&any, &ann, 3).await;
    assert_eq!(kept(&any, &ann, &states).await, [true, true, true]);
    let default = ParkLimits::default;
    for (limits, of_ann, of_bob) in [
        (ParkLimits { outcomes_per_owner: 2, ..default() }, [false, true, true], true),
        (
            ParkLimits { outcome_bytes_per_owner: 2 * length, ..default() },
            [false, true, true],
            true,
        ),
        (ParkLimits { outcome_bytes_per_owner: length - 1, ..default() }, [false; 3], false),
        (ParkLimits { outcome_bytes_in_all: 2 * length, ..default() }, [false, true, true], false),
    ] {
        let parking = parking(1, limits.clone());
        let (states, _) = ended(&parking, &ann, 3).await;
        let (others, _) = ended(&parking, &bob, 1).await;
        assert_eq!(kept(&parking, &ann, &states).await, of_ann, "{limits:?}");
        assert_eq!(kept(&parking, &bob, &others).await, [of_bob], "{limits:?}");
        advance(Duration::from_secs(70)).await;
        tokio::task::yield_now().await;
        assert!(parking.lot.is_empty(), "{limits:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_asks_in_a_limited_number_of_rounds() {
    let parking = parking(5, ParkLimits { rounds: 3, ..ParkLimits::default() });
    let owner = Owner::anonymous();
    let mut answer = parking.clone().answer(request(&owner, None)).await;
    for _ in 0..3 {
        let (state, _) = asked(&answer);
        answer = parking.clone().answer(request(&owner, retry(&state))).await;
    }
    let error = answer.unwrap_err();
    assert!(error.message.contains("3 rounds"), "{error:?}");
}

/// What may happen to a call, in any order.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// The caller answers.
    Retry,
    /// The caller sends its last answers again.
    Duplicate,
    /// The caller answers, and goes away before it hears of the outcome.
    Disconnect,
    /// The caller does not answer in time.
    Expiry,
    /// The server ends.
    Death,
}

const EVENTS: [Event; 5] =
    [Event::Retry, Event::Duplicate, Event::Disconnect, Event::Expiry, Event::Death];

/// Every order of four events leaves the lot empty and no call running, once all timeouts
/// are over.
#[tokio::test(start_paused = true)]
async fn every_order_of_events_leaves_the_lot_empty() {
    let length = 4u32;
    for number in 0..EVENTS.len().pow(length) {
        let event = |place| EVENTS[number / EVENTS.len().pow(place) % EVENTS.len()];
        let order: Vec<_> = (0..length).map(event).collect();
        let parking = parking(3, ParkLimits::default());
        let owner = Owner::anonymous();
        let (mut state, _) = asked(&parking.clone().answer(request(&owner, None)).await);
        let mut last = state.clone();
        for event in &order {
            match event {
                Event::Retry => {
                    last.clone_from(&state);
                    let answer = parking.clone().answer(request(&owner, retry(&state))).await;
                    if let Ok(success) = &answer
                        && success.kind() == SuccessKind::InputRequired
                    {
                        state = asked(&answer).0;
                    }
                }
                Event::Duplicate => {
                    let _ = parking.clone().answer(request(&owner, retry(&last))).await;
                }
                Event::Disconnect => {
                    let call = parking.clone().answer(request(&owner, retry(&state)));
                    let _ = poll_once(&mut Box::pin(call)).await;
                }
                Event::Expiry => {
                    advance(Duration::from_secs(602)).await;
                    tokio::task::yield_now().await;
                }
                Event::Death => _ = parking.upstream.is_dead.send_replace(true),
            }
            assert!(parking.upstream.running.load(Ordering::Relaxed) <= 1, "{order:?}");
        }
        for _ in 0..700 {
            if parking.lot.is_empty() {
                break;
            }
            advance(Duration::from_secs(1)).await;
            tokio::task::yield_now().await;
        }
        assert!(parking.lot.is_empty(), "{order:?}");
        assert_eq!(parking.upstream.running.load(Ordering::Relaxed), 0, "{order:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn another_process_with_the_same_keys_says_that_a_parked_call_is_not_its_own() {
    let lot = || ParkingLot::with_keys([[1; 32]], ParkLimits::default()).unwrap();
    let [here, there] = [(); 2].map(|()| Parking::new(Asking::new(1), "far", lot()));
    let owner = Owner::anonymous();
    let (state, _) = asked(&here.clone().answer(request(&owner, None)).await);
    let refused = there.answer(request(&owner, retry(&state))).await.unwrap_err();
    // A gateway that was restarted with its keys cannot tell its old process from another one.
    let reason = "belongs to another process of the gateway, or to one that has ended";
    assert!(refused.message.contains(reason), "{}", refused.message);
    // The call still waits where it is.
    let done = here.answer(request(&owner, retry(&state))).await.unwrap();
    assert_eq!(done.kind(), SuccessKind::Complete);
}
