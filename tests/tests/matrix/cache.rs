//! Caching, in virtual time: the client does not repeat a request while its cached result is valid.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bowline::client::{CacheOptions, Change, ClientBuilder};
use bowline::layer::{self, Next};
use bowline::{Resource, Server, Tool};
use bowline_proto::request::Request;
use bowline_testing::Harness;
use bowline_types::method::Method;
use tokio::time::sleep;

const MINUTE: Duration = Duration::from_secs(60);

/// A server with a TTL of a minute, which counts its requests.
fn counting() -> (Server, Arc<AtomicUsize>) {
    let counter = Arc::<AtomicUsize>::default();
    let counted = Arc::clone(&counter);
    let count = move |request: Request, next: Next| {
        if matches!(request.parts.method, Method::ToolsList | Method::ResourcesRead) {
            counted.fetch_add(1, Ordering::Relaxed);
        }
        next.run(request)
    };
    let server = Server::new("docs", "1.0.0")
        .ttl(MINUTE)
        .tool(Tool::new("search", || async { "found" }))
        .resource(Resource::new("docs://short", || async { "text" }).ttl(MINUTE))
        .resource(Resource::new("docs://never", || async { "text" }))
        .layer(layer::from_fn(count));
    (server, counter)
}

fn keeping(client: ClientBuilder) -> ClientBuilder {
    client.cache(CacheOptions::default())
}

// spec: CACHE-8, CACHE-10
#[bowline::test(every_revision, stateless)]
async fn the_client_caches_a_list_for_its_ttl(t: Harness) {
    let (server, counter) = counting();
    let client = t.connect(server).client(keeping).await;
    let kept = t.revision().has_cache_hints();
    for expected in [1, if kept { 1 } else { 2 }] {
        client.tools().all().await.unwrap();
        assert_eq!(counter.load(Ordering::Relaxed), expected);
    }
    sleep(MINUTE).await;
    client.tools().all().await.unwrap();
    assert_eq!(counter.load(Ordering::Relaxed), if kept { 2 } else { 3 });
}

// spec: CACHE-7, CACHE-8
#[bowline::test(every_revision, stateless)]
async fn the_client_caches_each_resource_for_its_own_ttl(t: Harness) {
    let (server, counter) = counting();
    let client = t.connect(server).client(keeping).await;
    let kept = if t.revision().has_cache_hints() { 1 } else { 2 };
    for (uri, reads) in [("docs://short", kept), ("docs://never", 2)] {
        counter.store(0, Ordering::Relaxed);
        client.read(uri).await.unwrap();
        client.read(uri).await.unwrap();
        assert_eq!(counter.load(Ordering::Relaxed), reads, "{uri}");
        client.read(uri).fresh().await.unwrap();
        assert_eq!(counter.load(Ordering::Relaxed), reads + 1, "{uri}");
    }
}

// spec: CACHE-17
#[bowline::test(every_revision)]
async fn a_change_removes_its_entry_from_the_cache(t: Harness) {
    let (server, _) = counting();
    let client = t.connect(server.clone()).client(keeping).await;
    let mut changes = client.subscribe().tools().open().await.unwrap();
    assert_eq!(client.tools().all().await.unwrap().len(), 1);
    server.registry().insert(Tool::new("index", || async {})).unwrap();
    assert_eq!(changes.next().await.unwrap().unwrap(), Change::Tools);
    assert_eq!(client.tools().all().await.unwrap().len(), 2);
}

#[bowline::test(every_revision, stateless)]
async fn a_client_without_a_cache_sends_every_request(t: Harness) {
    let (server, counter) = counting();
    let client = t.connect(server).await;
    client.tools().all().await.unwrap();
    client.tools().all().await.unwrap();
    assert_eq!(counter.load(Ordering::Relaxed), 2);
}
