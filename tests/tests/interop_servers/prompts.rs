//! Prompts: listed, filled in, refused, completed.

use bowline_types::completion::Reference;
use serde_json::json;

use crate::connected_client::ConnectedClient;

pub(crate) async fn check(connected: &ConnectedClient) {
    listing(connected).await;
    filling_in(connected).await;
    completion(connected).await;
}

async fn listing(connected: &ConnectedClient) {
    let prompts = connected.client.prompts().all().await.unwrap();
    let find = |name| prompts.iter().find(|it| it.name == name).expect(name);
    let introduce = find("introduce");
    assert_eq!(introduce.description.as_deref(), Some("Asks for an introduction."));
    let arguments: Vec<_> =
        introduce.arguments.iter().map(|it| (it.name.as_str(), it.required)).collect();
    assert_eq!(arguments, [("name", true), ("tone", false)]);
    assert!(find("illustrate").arguments.is_empty());
    if connected.revision.has_titles() {
        assert_eq!(find("illustrate").display_name(), "Illustrate");
    }
}

async fn filling_in(connected: &ConnectedClient) {
    let client = &connected.client;
    for (tone, expected) in
        [(None, "Introduce Ada, plainly."), (Some("warmly"), "Introduce Ada, warmly.")]
    {
        let call = client.prompt("introduce").argument("name", "Ada");
        let filled = call.arguments(tone.map(|tone| ("tone", tone))).await.unwrap();
        let messages = serde_json::to_value(&filled.messages).unwrap();
        let text = json!({ "type": "text", "text": expected });
        assert_eq!(messages, json!([{ "role": "user", "content": text }]));
    }
    let illustrated = client.prompt("illustrate").await.unwrap();
    let resource =
        json!({ "uri": "peer://motd", "mimeType": "text/plain", "text": "Tie a bowline." });
    let expected = json!([
        { "role": "user", "content": { "type": "image", "data": "AAH+/w==", "mimeType": "image/png" } },
        { "role": "assistant", "content": { "type": "resource", "resource": resource } },
    ]);
    assert_eq!(serde_json::to_value(&illustrated.messages).unwrap(), expected);
    for refused in [client.prompt("introduce"), client.prompt("no-such-prompt")] {
        let error = refused.await.unwrap_err();
        assert!(error.is_refused(), "{error}");
    }
}

async fn completion(connected: &ConnectedClient) {
    let complete = |name, typed| {
        connected.client.complete(Reference::prompt("introduce")).argument(name, typed)
    };
    assert_eq!(complete("name", "A").await.unwrap().values(), ["Ada", "Alan"]);
    assert!(complete("name", "Z").await.unwrap().values().is_empty());
    assert_eq!(complete("tone", "").await.unwrap().values(), ["casually"]);
    // Older servers do not get the arguments chosen before.
    let hears = connected.revision.has_completion_context();
    let chosen = complete("tone", "").context("name", "Ada").await.unwrap();
    assert_eq!(chosen.values(), [if hears { "formally" } else { "casually" }]);
}
