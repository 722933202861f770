//! Questions without answers: other callers are served all the same. In virtual time.

use std::sync::Arc;
use std::time::Duration;

use bowline::{Ask, tool, tools};
use bowline_client::{Client, ToolOutcome};
use bowline_gateway::park::{ParkLimits, Parking, ParkingLot};
use bowline_gateway::{GatewayLimits, UpstreamFailure, bridge};
use bowline_proto::request::{Peer, Request};
use bowline_server::Server;
use bowline_server::layer::{self, Next};
use bowline_types::implementation::Implementation;
use bowline_types::revision::Revision;
use serde_json::json;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

use crate::support::{Fake, Heard, Way, agreeing, connect, echo, ways};

/// Greet the user
#[tool]
async fn greet(ask: Ask) -> bowline::Result<String> {
    Ok(if ask.confirm("Who is there?").await? { "hello" } else { "bye" }.to_owned())
}

fn fake() -> Fake {
    Fake::speaking(Revision::LATEST_LEGACY, echo().tools(tools![greet]))
}

/// What `bowline serve` serves.
async fn served(fake: &Fake, limits: GatewayLimits) -> Server {
    let lanes = fake.lanes(limits).described_by_server();
    lanes.start().await.unwrap();
    let lot = ParkingLot::new(ParkLimits::default()).unwrap();
    bridge(Parking::new(lanes, "server", lot), None)
}

/// Callers whose users are asked, and answer when they are let.
#[derive(Clone)]
struct Thinkers {
    server: Server,
    way: Way,
    answers: Arc<Semaphore>,
}

type Greeting = JoinHandle<bowline_client::Result<ToolOutcome>>;

impl Thinkers {
    fn new(server: &Server, way: Way) -> Self {
        Self { server: server.clone(), way, answers: Arc::new(Semaphore::new(0)) }
    }

    /// Makes calls that ask, each of a caller of its own.
    async fn greet(&self, calls: usize) -> Vec<Greeting> {
        let mut greetings = Vec::new();
        for _ in 0..calls {
            let answers = self.answers.clone();
            let caller = connect(&self.server, self.way, |builder| {
                builder.on_ask(move |question| {
                    let answers = answers.clone();
                    async move {
                        answers.acquire().await.unwrap().forget();
                        question.accept(true)
                    }
                })
            });
            let call = caller.await.call("greet", ()).timeout(Duration::from_secs(3000));
            greetings.push(tokio::spawn(call.into_future()));
            sleep(Duration::from_secs(1)).await;
        }
        greetings
    }
}

async fn agreeing_caller(server: &Server, way: Way) -> Client {
    connect(server, way, |builder| agreeing(builder, &Heard::default())).await
}

async fn say(caller: &Client) -> Duration {
    let begin = Instant::now();
    let said = caller.call("say", json!({ "message": "hi" })).await.unwrap();
    assert_eq!(said.text(), "hi");
    begin.elapsed()
}

#[tokio::test(start_paused = true)]
async fn lanes_starved_by_parked_questions_serve_calls_that_ask_nothing_at_once() {
    for way in ways() {
        let fake = fake();
        let server = served(&fake, GatewayLimits::default()).await;
        // The first question is refused or answered on a lane that callers share.
        say(&agreeing_caller(&server, way).await).await;
        let _thinking = Thinkers::new(&server, way).greet(9).await;
        for revision in [Revision::LATEST_LEGACY, Revision::LATEST] {
            let begin = Instant::now();
            let caller = agreeing_caller(&server, Way { revision, ..way }).await;
            assert!(begin.elapsed() < Duration::from_secs(1), "{way:?} {revision}");
            assert!(say(&caller).await < Duration::from_secs(1), "{way:?} {revision}");
        }
        assert!(fake.running().await <= 9, "{way:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_oldest_question_without_an_answer_goes_first_and_its_caller_reads_why() {
    for way in ways() {
        let fake = fake();
        let mut limits = GatewayLimits::default();
        limits.process_lanes = 3;
        let server = served(&fake, limits).await;
        let thinkers = Thinkers::new(&server, way);
        // The server is known to ask from its first question on.
        thinkers.answers.add_permits(1);
        thinkers.greet(1).await.remove(0).await.unwrap().unwrap();
        let mut thinking = thinkers.greet(3).await;
        thinkers.answers.add_permits(3);
        let error = thinking.remove(0).await.unwrap().unwrap_err();
        let error = error.rpc().unwrap();
        assert!(error.message.contains("waited for an answer"), "{way:?}: {}", error.message);
        assert!(error.parse_data::<UpstreamFailure>().unwrap().may_have_run, "{way:?}");
        for greeting in thinking {
            assert_eq!(greeting.await.unwrap().unwrap().text(), "hello", "{way:?}");
        }
    }
}

/// The address of a caller is in its name.
fn with_addresses(server: Server) -> Server {
    server.layer(layer::from_fn(|mut request: Request, next: Next| {
        let name = request.parts.client.info.as_ref().map(|info| info.name.clone());
        let last = name.and_then(|name| name.parse().ok()).unwrap_or(0);
        request.parts.extensions.insert(Peer([192, 0, 2, last].into()));
        next.run(request)
    }))
}

async fn caller_at(server: &Server, last: u8, way: Way) -> Client {
    let info = Implementation::new(last.to_string(), "1.0.0");
    let describe = |builder| agreeing(builder, &Heard::default()).implementation(info);
    connect(server, way, describe).await
}

#[tokio::test(start_paused = true)]
async fn silent_calls_of_one_address_leave_a_lane_to_others() {
    for way in ways() {
        let fake = fake();
        let mut limits = GatewayLimits::default();
        limits.process_lanes = 3;
        let server = with_addresses(served(&fake, limits).await);
        caller_at(&server, 1, way).await.call("greet", ()).await.unwrap();
        let mut slow = Vec::new();
        for _ in 0..3 {
            let call = caller_at(&server, 1, way).await.call("hang", ());
            slow.push(tokio::spawn(call.timeout(Duration::from_secs(3000)).into_future()));
            sleep(Duration::from_secs(1)).await;
        }
        let other = caller_at(&server, 2, way).await;
        assert!(say(&other).await < Duration::from_secs(1), "{way:?}");
        // The third call does not wait without end.
        let error = slow.remove(2).await.unwrap().unwrap_err();
        let expected = "is busy with other calls from your network address; try again later";
        assert!(error.rpc().unwrap().message.contains(expected), "{way:?} {error}");
    }
}

/// Its user has had time, and other callers wait.
#[tokio::test(start_paused = true)]
async fn a_question_without_an_answer_for_a_minute_gives_way_to_a_call_that_waits() {
    for way in ways() {
        let fake = fake();
        let mut limits = GatewayLimits::default();
        limits.process_lanes = 1;
        let server = served(&fake, limits).await;
        let thinkers = Thinkers::new(&server, way);
        thinkers.answers.add_permits(1);
        thinkers.greet(1).await.remove(0).await.unwrap().unwrap();
        let mut thinking = thinkers.greet(1).await;
        let caller = agreeing_caller(&server, way).await;
        sleep(Duration::from_secs(60)).await;
        assert!(say(&caller).await < Duration::from_secs(5), "{way:?}");
        thinkers.answers.add_permits(1);
        thinking.remove(0).await.unwrap().unwrap_err();
    }
}

/// The other call would keep the lane.
#[tokio::test(start_paused = true)]
async fn a_question_is_not_ended_while_another_call_of_its_session_runs_on_the_lane() {
    let way = Way { revision: Revision::LATEST_LEGACY, http: false };
    let fake = fake();
    let mut limits = GatewayLimits::default();
    limits.process_lanes = 1;
    let server = served(&fake, limits).await;
    agreeing_caller(&server, way).await.call("greet", ()).await.unwrap();
    let answers = Arc::new(Semaphore::new(0));
    let thinking = answers.clone();
    let busy = connect(&server, way, |builder| {
        builder.on_ask(move |question| {
            let answers = thinking.clone();
            async move {
                answers.acquire().await.unwrap().forget();
                question.accept(true)
            }
        })
    });
    let busy = busy.await;
    let greet = busy.call("greet", ()).timeout(Duration::from_secs(3000));
    let greeting = tokio::spawn(greet.into_future());
    let hang = busy.call("hang", ()).timeout(Duration::from_secs(3000));
    let hanging = tokio::spawn(hang.into_future());
    sleep(Duration::from_secs(61)).await;
    let other = agreeing_caller(&server, way).await;
    let error = other.call("say", json!({ "message": "hi" })).await.unwrap_err();
    assert!(error.rpc().unwrap().message.contains("is busy"), "{error}");
    answers.add_permits(1);
    assert_eq!(greeting.await.unwrap().unwrap().text(), "hello");
    hanging.abort();
}
