//! Roots: declared, listed if they exist and are permitted, and replaced.

use std::fs;
use std::time::Duration;

use bowline_client::types::deprecated::roots::Root;
use bowline_client::types::revision::Revision;
use bowline_client::{Client, ClientBuilder};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::{sleep, timeout};

use crate::peer::{Heard, Peer, both, builder, legacy, modern, pair, put};

const LIST: &str = "roots/list";
const HOUR: Duration = Duration::from_secs(3600);

fn root(directory: &TempDir) -> Root {
    Root::from_path(directory.path()).unwrap()
}

async fn listed(pair: &mut (Client, Peer)) -> Vec<String> {
    let result = put(pair, LIST, &json!({})).await.unwrap();
    let uri = |root: &Value| root["uri"].as_str().unwrap().to_owned();
    result["roots"].as_array().unwrap().iter().map(uri).collect()
}

/// The capabilities that the client declares in both eras.
async fn declared(builder: ClientBuilder) -> [Value; 2] {
    let (near, mut peer) = pair();
    let serve = async {
        let probe = peer.request("server/discover").await;
        let meta = &probe.params["_meta"];
        let modern = meta["io.modelcontextprotocol/clientCapabilities"]["roots"].clone();
        peer.refuse(&probe, -32601, "what?").await;
        let handshake = peer.shake("2025-11-25").await;
        [modern, handshake.params["capabilities"]["roots"].clone()]
    };
    let (client, declared) = tokio::join!(builder.connect(near), serve);
    client.unwrap();
    declared
}

// spec: ROOT-1, ROOT-2
#[tokio::test(start_paused = true)]
async fn roots_are_declared_with_their_changes_where_the_revision_has_them() {
    assert_eq!(declared(builder()).await, [Value::Null, Value::Null]);
    assert_eq!(declared(builder().roots([])).await, [json!({}), json!({ "listChanged": true })]);
}

// spec: ROOT-6
#[tokio::test(start_paused = true)]
async fn a_client_without_roots_does_not_know_the_method() {
    let [mut modern, mut session] = both(builder()).await;
    let error = put(&mut session, LIST, &json!({})).await.unwrap_err();
    assert_eq!(error, "this client does not offer `roots/list` (-32601)");
    let error = put(&mut modern, LIST, &json!({})).await.unwrap_err();
    assert!(error.contains("this client does not offer `roots/list`"), "{error}");
}

// spec: ROOT-5
#[tokio::test(start_paused = true)]
async fn roots_are_listed_with_their_names() {
    let directory = TempDir::new().unwrap();
    let root = root(&directory).with_name("Work");
    let expected = json!({ "roots": [{ "uri": root.uri, "name": "Work" }] });
    for mut pair in both(builder().roots([root])).await {
        assert_eq!(put(&mut pair, LIST, &json!({})).await.unwrap(), expected);
    }
}

// spec: ROOT-5, ROOT-9
#[tokio::test(start_paused = true)]
async fn an_invalid_root_is_refused_before_the_server_is_notified() {
    let mut climbing = Root::new("file:///home/me").unwrap();
    climbing.uri = "file:///home/me/%2e%2e/you".to_owned();
    let (near, mut peer) = pair();
    let error = builder().roots([climbing.clone()]).connect(near).await.unwrap_err();
    let complaint = "root `file:///home/me/%2e%2e/you`: it climbs out of a directory by `..`";
    assert_eq!(error.to_string(), format!("setting roots: {complaint}"));
    peer.hears_the_end().await;

    let directory = TempDir::new().unwrap();
    let mut pair = legacy(builder().roots([root(&directory)]), Revision::V2025_11_25).await;
    assert!(pair.0.set_roots([climbing]).is_err());
    let mut elsewhere = root(&directory);
    elsewhere.uri = "https://example.com".to_owned();
    assert!(pair.0.set_roots([elsewhere]).is_err());
    pair.1.gets_nothing().await;
    assert_eq!(listed(&mut pair).await, [root(&directory).uri]);
}

// spec: ROOT-3
#[tokio::test(start_paused = true)]
async fn a_session_is_notified_when_its_roots_change() {
    let (one, two) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let handshakes = Revision::ALL.into_iter().filter(|revision| !revision.is_modern());
    for revision in handshakes {
        let mut pair = legacy(builder().roots([root(&one)]), revision).await;
        pair.0.set_roots([root(&one)]).unwrap();
        pair.1.gets_nothing().await;
        pair.0.set_roots([root(&two), root(&one)]).unwrap();
        pair.1.notification("notifications/roots/list_changed").await;
        pair.1.gets_nothing().await;
        assert_eq!(listed(&mut pair).await, [root(&two).uri, root(&one).uri]);
    }
}

// spec: ROOT-2, ROOT-3
#[tokio::test(start_paused = true)]
async fn a_modern_server_is_not_notified_but_gets_the_new_roots() {
    let (one, two) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let mut pair = modern(builder().roots([root(&one)])).await;
    pair.0.set_roots([root(&two)]).unwrap();
    pair.1.gets_nothing().await;
    assert_eq!(listed(&mut pair).await, [root(&two).uri]);
}

#[tokio::test(start_paused = true)]
async fn roots_cannot_be_set_if_none_were_declared() {
    for (client, mut peer) in both(builder()).await {
        let error = client.set_roots([]).unwrap_err();
        let expected = "setting roots: the client declared no roots; call `roots` before \
                        connecting";
        assert_eq!(error.to_string(), expected);
        peer.gets_nothing().await;
    }
}

/// Expects a notification of changed roots without any delay.
async fn told(peer: &mut Peer) {
    let told = timeout(HOUR, peer.notification("notifications/roots/list_changed")).await;
    told.expect("no notification came");
}

// spec: ROOT-11, ROOT-17
#[tokio::test(start_paused = true)]
async fn a_session_is_notified_once_when_a_root_disappears_and_when_it_comes_back() {
    let (here, going) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let roots = [root(&here), root(&going)];
    for revision in Revision::ALL.into_iter().filter(|revision| !revision.is_modern()) {
        let mut pair = legacy(builder().roots(roots.clone()), revision).await;
        assert_eq!(listed(&mut pair).await, [root(&here).uri, root(&going).uri]);
        sleep(HOUR).await;
        pair.1.gets_nothing().await;
        fs::remove_dir(going.path()).unwrap();
        sleep(HOUR).await;
        told(&mut pair.1).await;
        pair.1.gets_nothing().await;
        assert_eq!(listed(&mut pair).await, [root(&here).uri]);
        fs::create_dir(going.path()).unwrap();
        sleep(HOUR).await;
        told(&mut pair.1).await;
        pair.1.gets_nothing().await;
        drop(pair.0);
        pair.1.hears_the_end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_never_asked_for_roots_is_not_notified_when_one_disappears() {
    let going = TempDir::new().unwrap();
    let mut pair = legacy(builder().roots([root(&going)]), Revision::LATEST_LEGACY).await;
    fs::remove_dir(going.path()).unwrap();
    sleep(HOUR).await;
    pair.1.gets_nothing().await;
}

// spec: ROOT-11, ROOT-17
#[tokio::test(start_paused = true)]
async fn a_root_that_cannot_be_opened_now_is_left_out() {
    let (there, gone) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let file = there.path().join("notes.txt");
    let roots = [root(&gone), Root::from_path(&file).unwrap(), root(&there)];
    let elsewhere = Root::new("file://elsewhere/share").unwrap();
    fs::remove_dir(gone.path()).unwrap();
    for mut pair in both(builder().roots(roots.iter().cloned().chain([elsewhere]))).await {
        assert_eq!(listed(&mut pair).await, [root(&there).uri]);
        fs::write(&file, "x").unwrap();
        assert_eq!(listed(&mut pair).await, [roots[1].uri.clone(), root(&there).uri]);
        fs::remove_file(&file).unwrap();
    }
}

// spec: ROOT-8, ROOT-10, ROOT-15, TRUST-9
#[tokio::test(start_paused = true)]
async fn a_root_is_listed_only_if_it_is_permitted() {
    let (public, private) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let heard = Heard::default();
    let log = heard.clone();
    let builder = builder()
        .roots([root(&private).with_name("private"), root(&public).with_name("public")])
        .permit_roots(move |root| {
            let name = root.name.unwrap();
            log.push(&*name);
            async move { name == "public" }
        });
    for mut pair in both(builder).await {
        assert_eq!(listed(&mut pair).await, [root(&public).uri]);
    }
    assert_eq!(heard.all(), ["private", "public", "private", "public"]);
}

// spec: ROOT-7, ROOT-21
#[tokio::test(start_paused = true)]
async fn a_failure_is_an_internal_error() {
    let directory = TempDir::new().unwrap();
    let builder =
        builder().roots([root(&directory)]).permit_roots(|_| async { panic!("no dialogue") });
    for mut pair in both(builder).await {
        let error = put(&mut pair, LIST, &json!({})).await.unwrap_err();
        assert!(error.ends_with("the client failed while it answered (-32603)"), "{error}");
    }
}
