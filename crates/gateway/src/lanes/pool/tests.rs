//! Which lanes count against the limits, and which are closed or recalled to make room. Runs in
//! virtual time.

use std::time::Duration;

use bowline_client::Client;
use bowline_proto::callers::CallerId;
use bowline_proto::request::{Peer, Success};
use bowline_server::Server;
use bowline_transport::duplex::duplex;
use bowline_types::capability::ClientCapabilities;
use futures_core::future::BoxFuture;
use tokio::time::timeout;

use super::*;
use crate::dial::{Dial, DialError, builder};
use crate::lanes::recall::Recallable;
use crate::limits::GatewayLimits;
use crate::supervise::Audience;

/// Starts a server in this process.
struct InMemory;

impl Dial for InMemory {
    fn dial(
        &self,
        declared: ClientCapabilities,
        limits: &GatewayLimits,
    ) -> BoxFuture<'static, Result<Client, DialError>> {
        let (near, far) = duplex();
        tokio::spawn(Server::new("far", "1.0.0").serve(far));
        let builder = builder(declared, limits);
        Box::pin(async move { Ok(builder.connect(near).await?) })
    }

    fn is_process(&self) -> bool {
        true
    }
}

const FORMS: &str = r#"{"elicitation":{"form":{}}}"#;
const SAMPLING: &str = r#"{"sampling":{}}"#;

fn take(
    pool: &Arc<LanePool>,
    (exact, purpose): (&str, LanePurpose),
    most: MostLanes,
) -> Result<TakenLane, NoLane> {
    let key = LaneKey::declaring(exact);
    let wanted = Wanted { key, session: None, peer: None, is_exclusive: false, purpose };
    pool.take(&wanted, most, || lane_of(pool))
}

fn lane_of(pool: &LanePool) -> Supervised {
    let declared = (ClientCapabilities::new(), Audience::Many);
    let told = (Arc::default(), pool.phases().clone(), pool.endings().clone());
    Supervised::new(Arc::new(InMemory), declared, told, GatewayLimits::default())
}

#[tokio::test(start_paused = true)]
async fn a_lane_that_a_call_has_taken_is_not_closed_for_another_call() {
    let most = MostLanes { per_owner: 0, by_capabilities: 1, isolated: 1, in_all: 10 };
    let pool = Arc::default();
    let forms = take(&pool, (FORMS, LanePurpose::Start), most).unwrap();
    let other = || take(&pool, (SAMPLING, LanePurpose::Start), most);
    assert_eq!(other().unwrap_err(), NoLane::Full, "the server is about to be started");
    drop(forms.supervised.lease().await.unwrap());
    assert_eq!(other().unwrap_err(), NoLane::Full, "the call has no lease yet");
    let freed = pool.room();
    drop(forms);
    timeout(Duration::from_secs(1), freed).await.expect("a call that waits tries again");
    drop(other().unwrap());
    assert_eq!(pool.all().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_lane_is_closed_when_it_makes_room_for_a_call_and_stays_for_one_that_moves() {
    let most = MostLanes { per_owner: 8, by_capabilities: 8, isolated: 8, in_all: 1 };
    let pool = Arc::default();
    let listening = take(&pool, (FORMS, LanePurpose::Wait), most).unwrap().supervised.clone();
    let moving = take(&pool, (SAMPLING, LanePurpose::Move), most);
    assert_eq!(moving.unwrap_err(), NoLane::Full);
    drop(take(&pool, (SAMPLING, LanePurpose::Start), most).unwrap());
    timeout(Duration::from_secs(1), listening.closed()).await.expect("its listeners see the end");
    assert_eq!(pool.hold(&listening, most).unwrap_err(), NoLane::Closed);
}

#[tokio::test(start_paused = true)]
async fn a_lane_whose_caller_follows_resources_counts_while_its_server_does_not_run() {
    let most = MostLanes { per_owner: 0, by_capabilities: 1, isolated: 1, in_all: 10 };
    let pool = Arc::default();
    let listening = take(&pool, (FORMS, LanePurpose::Wait), most).unwrap().supervised.clone();
    let hold = pool.hold(&listening, most).unwrap();
    let other = || take(&pool, (SAMPLING, LanePurpose::Start), most);
    assert_eq!(other().unwrap_err(), NoLane::Full);
    drop(hold);
    let _other = other().unwrap();
    assert_eq!(pool.hold(&listening, most).unwrap_err(), NoLane::Full);
}

/// The call on a lane that a peer has taken, and which asks.
async fn asking(pool: &Arc<LanePool>, last: u8, most: usize) -> tokio::task::JoinHandle<bool> {
    let key = LaneKey::declaring(FORMS);
    let purpose = LanePurpose::Start;
    let wanted = Wanted { key, session: None, peer: None, is_exclusive: true, purpose };
    let all = MostLanes { per_owner: 8, by_capabilities: 8, isolated: 8, in_all: 8 };
    let lane = pool.take(&wanted, all, || lane_of(pool)).unwrap();
    let recallable = Recallable::default();
    let peer = Some(CallerId::from(Peer([192, 0, 2, last].into())));
    let question = pool.ask(&lane.supervised, (peer, recallable.handle()), most);
    tokio::time::advance(Duration::from_secs(1)).await;
    tokio::spawn(async move {
        let call = async move {
            tokio::time::sleep(Duration::from_secs(10)).await;
            drop((lane, question));
            (Ok(Success::empty()), false)
        };
        recallable.run(Box::pin(call)).await.is_some()
    })
}

#[tokio::test(start_paused = true)]
async fn lanes_starved_by_the_questions_of_one_peer_are_taken_from_that_peer() {
    let pool = Arc::default();
    let quiet = asking(&pool, 1, 3).await;
    let mut loud = Vec::new();
    for _ in 0..4 {
        loud.push(asking(&pool, 2, 3).await);
        tokio::task::yield_now().await;
    }
    let mut ended = Vec::new();
    for call in loud {
        ended.push(call.await.unwrap());
    }
    assert_eq!(ended, [false, false, true, true]);
    assert!(quiet.await.unwrap());
}

#[tokio::test(start_paused = true)]
async fn a_pool_is_drained_when_a_call_leaves_a_lane_that_was_removed() {
    let most = MostLanes { per_owner: 0, by_capabilities: 0, isolated: 8, in_all: 8 };
    let pool: Arc<LanePool> = Arc::default();
    let client = Arc::default();
    let (key, purpose) = (LaneKey::isolated(&client), LanePurpose::Start);
    let wanted = Wanted { key, session: None, peer: None, is_exclusive: false, purpose };
    let call = pool.take(&wanted, most, || lane_of(&pool)).unwrap();
    let draining = pool.clone();
    let draining = tokio::spawn(async move { draining.drained().await });
    tokio::time::sleep(Duration::from_secs(1)).await;
    // The next call removes the lane of the session that is over.
    drop(client);
    assert_eq!(take(&pool, (FORMS, LanePurpose::Start), most).unwrap_err(), NoLane::Full);
    drop(call);
    timeout(Duration::from_secs(1), draining).await.expect("no call has a lane").unwrap();
}
