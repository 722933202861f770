//! Features that some callers see and others do not.

use bowline::client::ClientBuilder;
use bowline::layer::{self, Next};
use bowline::{Definition, Prompt, Resource, Server, Tool};
use bowline_proto::request::{Owner, Parts, Request, Response};
use bowline_testing::Harness;
use bowline_types::implementation::Implementation;

/// Trusts the name of the client, which only a test may do.
async fn authenticate(mut request: Request, next: Next) -> Response {
    if let Some(info) = &request.parts.client.info {
        request.parts.owner = Owner::known("test", &info.name);
    }
    next.run(request).await
}

fn is_ada(caller: &Parts) -> bool {
    caller.owner.identity() == Some(("test", "ada"))
}

fn office() -> Server {
    let text = || async { "text" };
    Server::new("office", "1.0.0")
        .tools([Tool::new("greet", text), Tool::new("purge", text).visible(is_ada)])
        .prompts([Prompt::new("plan", text), Prompt::new("audit", text)])
        .resource(Resource::new("notes://salaries", text).visible(is_ada))
        .visible(|caller, feature| match feature {
            Definition::Prompt(prompt) => prompt.name != "audit" || is_ada(caller),
            _ => true,
        })
        .layer(layer::from_fn(authenticate))
}

fn called(name: &str) -> impl FnOnce(ClientBuilder) -> ClientBuilder {
    let info = Implementation::new(name, "1.0.0");
    |client| client.implementation(info)
}

#[bowline::test(every_revision)]
async fn a_caller_sees_features_that_are_visible_to_it(t: Harness) {
    let client = t.connect(office()).client(called("ada")).await;
    assert_eq!(client.tools().all().await.unwrap().len(), 2);
    assert_eq!(client.prompts().all().await.unwrap().len(), 2);
    assert_eq!(client.call("purge", ()).await.unwrap().text(), "text");
    assert_eq!(client.read("notes://salaries").await.unwrap().text(), "text");
}

// spec: TOOL-11, RSRC-5, PRMT-5, CACHE-24
#[bowline::test(every_revision, stateless)]
async fn a_hidden_feature_does_not_exist_for_other_callers(t: Harness) {
    let client = t.connect(office()).client(called("eve")).await;
    assert_eq!(client.tools().all().await.unwrap().len(), 1);
    assert_eq!(client.prompts().all().await.unwrap().len(), 1);
    assert!(client.resources().all().await.unwrap().is_empty());
    assert!(client.read("notes://salaries").await.unwrap_err().is_not_found());
    let hidden = client.call("purge", ()).await.unwrap_err().to_string();
    let absent = client.call("parch", ()).await.unwrap_err().to_string();
    assert_eq!(hidden, absent.replace("parch", "purge"));
    assert!(client.prompt("audit").await.unwrap_err().is_refused());
}

#[bowline::test(every_revision)]
async fn two_callers_of_one_server_see_different_features(t: Harness) {
    let server = office();
    let ada = t.connect(server.clone()).client(called("ada")).await;
    let eve = t.connect(server).client(called("eve")).await;
    let (hers, theirs) = tokio::join!(ada.tools().all(), eve.tools().all());
    assert_eq!((hers.unwrap().len(), theirs.unwrap().len()), (2, 1));
}
