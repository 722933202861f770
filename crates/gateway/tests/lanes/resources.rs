//! Resources on a gateway: which servers are asked for a URI.

use bowline_gateway::bridge;
use bowline_proto::request::{Request, Success};
use bowline_server::layer::{self, Next};
use bowline_server::{Resource, Server};
use bowline_types::method::Method;
use bowline_types::resource::{ReadResourceResult, ResourceContents};

use crate::support::{BOTH, Fake, Heard, connect, gateway, ways};

const FILE: &str = r#"{ "mcpServers": { "far": { "command": "x" }, "near": { "command": "y" } } }"#;

/// A server that lists one resource, and has more. Notes the URIs that it is asked for.
fn listing(uri: &str, heard: &Heard) -> Server {
    let (scheme, heard) = (uri.split_once(':').unwrap().0.to_owned(), heard.clone());
    let server = Server::new("lists", "1.0.0").resource(Resource::new(uri, || async { "listed" }));
    unlisted(server, scheme, heard)
}

/// A server that also has every resource of a scheme.
fn unlisted(server: Server, scheme: String, heard: Heard) -> Server {
    server.layer(layer::from_fn(move |request: Request, next: Next| {
        let uri = request.params.string("uri").ok().flatten().unwrap_or_default().into_owned();
        let reads = request.parts.method == Method::ResourcesRead;
        if reads {
            heard.note(&uri);
        }
        let has = reads && uri.starts_with(&format!("{scheme}:")) && uri.ends_with("/more");
        let revision = request.parts.revision;
        let rest = next.run(request);
        async move {
            if !has {
                return rest.await;
            }
            let contents = ResourceContents::text(uri, "more");
            Success::complete(ReadResourceResult::new(vec![contents]), revision)
        }
    }))
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_down_does_not_hide_the_resources_of_the_next() {
    for way in ways() {
        let heard = Heard::default();
        let (far, near) =
            (Fake::new(listing("a:///1", &heard)), Fake::new(listing("b:///1", &heard)));
        far.set_failing(true);
        let server = bridge(gateway(FILE, [("far", far), ("near", near)]), None);
        let caller = connect(&server, way, |builder| builder).await;
        assert_eq!(caller.read("b:///1").await.unwrap().text(), "listed", "{way:?}");
        assert_eq!(caller.read("b:///more").await.unwrap().text(), "more", "{way:?}");
        // The server that may have it is down.
        let error = caller.read("a:///1").await.unwrap_err();
        assert!(error.rpc().unwrap().message.contains("`far`"), "{way:?}: {error}");
    }
}

// spec: TRUST-12
#[tokio::test(start_paused = true)]
async fn a_server_does_not_hear_of_the_resources_of_another() {
    for upstream in BOTH {
        for way in ways() {
            let (ours, theirs) = (Heard::default(), Heard::default());
            let near = Fake::speaking(upstream, listing("b:///1", &ours));
            let far = Fake::speaking(upstream, listing("a:///1", &theirs));
            let server = bridge(gateway(FILE, [("far", far), ("near", near)]), None);
            let caller = connect(&server, way, |builder| builder).await;
            assert_eq!(caller.read("b:///more").await.unwrap().text(), "more", "{way:?}");
            assert!(caller.read("b:///none").await.is_err(), "{way:?}");
            assert!(caller.read("c:///none").await.is_err(), "{way:?}");
            assert_eq!(theirs.take(), [""; 0], "{way:?} {upstream}");
            assert_eq!(ours.take(), ["b:///more", "b:///none"], "{way:?} {upstream}");
        }
    }
}

/// Tools of such a server may name its resources.
#[tokio::test(start_paused = true)]
async fn a_server_that_lists_no_resource_is_asked_for_those_of_a_scheme_that_none_lists() {
    for way in ways() {
        let (ours, theirs) = (Heard::default(), Heard::default());
        let empty = Server::new("lists nothing", "1.0.0");
        let empty = empty.resource(Resource::new("c:///0", || async { "" }).visible(|_| false));
        let near = Fake::new(unlisted(empty, "c".to_owned(), ours.clone()));
        let far = Fake::new(listing("a:///1", &theirs));
        let server = bridge(gateway(FILE, [("far", far), ("near", near)]), None);
        let caller = connect(&server, way, |builder| builder).await;
        assert_eq!(caller.read("c:///more").await.unwrap().text(), "more", "{way:?}");
        assert_eq!((ours.take(), theirs.take()), (vec!["c:///more".to_owned()], vec![]), "{way:?}");
    }
}
