//! Completion of the arguments of prompts and the variables of templates.

use bowline_server::{Args, Error, Prompt, Resource, Server, State, Typed, starting_with};
use bowline_types::completion::Completion;
use bowline_types::method::Method;
use bowline_types::prompt::PromptArgument;
use bowline_types::revision::Revision;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::peer::{BOTH, EVERY, Peer};

fn prompt(name: &str) -> Prompt {
    Prompt::new(name, || async { "done" })
        .argument(PromptArgument::required("owner"))
        .argument(PromptArgument::new("repository"))
        .argument(PromptArgument::new("branch"))
}

fn server() -> Server {
    let repositories = |typed: Typed| async move {
        let all = match typed.chosen("owner") {
            Some("ada") => vec!["engine", "notes"],
            Some(_) => vec![],
            None => vec!["everything"],
        };
        starting_with(&typed, all)
    };
    let users =
        Resource::template(
            "users://{id}/{page}",
            |id: u8, _: String| async move { id.to_string() },
        );
    Server::new("completer", "1")
        .prompt(
            prompt("clone")
                .complete("owner", |typed| async move { starting_with(typed, ["ada", "alan"]) })
                .complete("repository", repositories),
        )
        .resource(users.complete("id", |typed| async move { starting_with(typed, ["1", "12"]) }))
        .resource(Resource::new("users://me", || async { "me" }))
}

fn of_prompt(argument: &str, value: &str) -> Value {
    json!({
        "ref": { "type": "ref/prompt", "name": "clone" },
        "argument": { "name": argument, "value": value },
    })
}

fn of_resource(uri: &str, argument: &str, value: &str) -> Value {
    json!({
        "ref": { "type": "ref/resource", "uri": uri },
        "argument": { "name": argument, "value": value },
    })
}

async fn complete(peer: &Peer, params: Value) -> Value {
    let mut result = peer.ask(Method::CompletionComplete, params).await.unwrap();
    result["completion"].take()
}

// spec: COMP-2, COMP-8
#[tokio::test]
async fn the_arguments_of_a_prompt_are_completed() {
    let server = server();
    for revision in EVERY {
        let peer = Peer::new(&server, revision);
        let completion = complete(&peer, of_prompt("owner", "al")).await;
        assert_eq!(completion, json!({ "values": ["alan"], "total": 1, "hasMore": false }));
        let completion = complete(&peer, of_prompt("owner", "")).await;
        assert_eq!(completion["values"], json!(["ada", "alan"]));
    }
}

// spec: COMP-3
#[tokio::test]
async fn the_variables_of_a_template_are_completed() {
    let server = server();
    for revision in EVERY {
        let peer = Peer::new(&server, revision);
        // Named by its text, or by a URI that it made.
        for uri in ["users://{id}/{page}", "users://1/home"] {
            let completion = complete(&peer, of_resource(uri, "id", "1")).await;
            assert_eq!(completion["values"], json!(["1", "12"]));
        }
    }
}

// spec: COMP-4
#[tokio::test]
async fn what_was_chosen_before_is_known() {
    let server = server();
    for revision in BOTH {
        let peer = Peer::new(&server, revision);
        let mut params = of_prompt("repository", "");
        assert_eq!(complete(&peer, params.clone()).await["values"], json!(["everything"]));
        params["context"] = json!({ "arguments": { "owner": "ada" } });
        assert_eq!(complete(&peer, params.clone()).await["values"], json!(["engine", "notes"]));
        params["context"] = json!({ "arguments": { "owner": "bob" } });
        let nothing = json!({ "values": [], "total": 0, "hasMore": false });
        assert_eq!(complete(&peer, params).await, nothing);
    }
}

#[tokio::test]
async fn an_argument_without_a_completer_has_no_suggestions() {
    let peer = Peer::new(&server(), Revision::LATEST);
    let nothing = json!({ "values": [], "total": 0, "hasMore": false });
    assert_eq!(complete(&peer, of_prompt("branch", "m")).await, nothing);
    assert_eq!(complete(&peer, of_resource("users://{id}/{page}", "page", "")).await, nothing);
}

// spec: COMP-6, COMP-14
#[tokio::test]
async fn what_does_not_exist_cannot_be_completed() {
    let server = server();
    let mut unknown = of_prompt("owner", "");
    unknown["ref"]["name"] = json!("nope");
    let mut tool = of_prompt("owner", "");
    tool["ref"]["type"] = json!("ref/tool");
    let mut nameless = of_prompt("owner", "");
    nameless["argument"] = json!({ "value": "a" });
    let mut number = of_prompt("owner", "");
    number["context"] = json!({ "arguments": { "a": 1 } });
    for revision in BOTH {
        let peer = Peer::new(&server, revision);
        for (params, expected) in [
            (unknown.clone(), "no prompt is named `nope`"),
            (of_prompt("nope", ""), "no argument is named `nope`"),
            (of_resource("users://{nope}", "id", ""), "no resource template is named"),
            (of_resource("users://me", "id", ""), "no resource template is named `users://me`"),
            (of_resource("users://{id}/{page}", "nope", ""), "no argument is named `nope`"),
            (tool.clone(), "`ref.type`: expected `ref/prompt` or `ref/resource`"),
            (nameless.clone(), "`params.argument.name`: missing"),
            (number.clone(), "`params.context.arguments.a`: expected a string, found the number 1"),
            (json!({}), "`params.ref`: missing"),
        ] {
            let error = peer.ask(Method::CompletionComplete, params).await.unwrap_err();
            assert_eq!(error.code, -32602);
            assert!(error.message.starts_with(expected), "{error}");
        }
    }
}

// spec: COMP-5
#[tokio::test]
async fn a_server_that_completes_nothing_has_no_method_for_it() {
    let server = Server::new("plain", "1").prompt(prompt("clone"));
    for revision in BOTH {
        let peer = Peer::new(&server, revision);
        let asked = peer.ask(Method::CompletionComplete, of_prompt("owner", "")).await;
        assert_eq!(asked.unwrap_err().code, -32601);
    }
}

// spec: COMP-2
#[tokio::test]
async fn a_hundred_of_many_suggestions_are_sent() {
    let many = |_: Typed| async { (0..250).map(|n| n.to_string()).collect::<Vec<_>>() };
    let told = |_: Typed| async { Completion::new(["a"]).with_total(9000).with_more(true) };
    let prompt = prompt("clone").complete("owner", many).complete("repository", told);
    let peer = Peer::new(&Server::new("many", "1").prompt(prompt), Revision::LATEST);
    let completion = complete(&peer, of_prompt("owner", "")).await;
    assert_eq!(completion["values"].as_array().unwrap().len(), 100);
    assert_eq!((&completion["total"], &completion["hasMore"]), (&json!(250), &json!(true)));
    let completion = complete(&peer, of_prompt("repository", "")).await;
    assert_eq!(completion, json!({ "values": ["a"], "total": 9000, "hasMore": true }));
}

// spec: COMP-7
#[tokio::test]
async fn a_completion_that_fails_is_an_internal_error() {
    let fail = |_: Typed| async { Err::<Vec<String>, _>(Error::from("the index is gone")) };
    let panic = |_: Typed| async { panic!("secret") as Vec<String> };
    let prompt = prompt("clone").complete("owner", fail).complete("repository", panic);
    let server = Server::new("broken", "1").prompt(prompt);
    for revision in BOTH {
        let peer = Peer::new(&server, revision);
        for (argument, expected) in [
            ("owner", "the index is gone"),
            ("repository", "the completion of `repository` panicked"),
        ] {
            let asked = peer.ask(Method::CompletionComplete, of_prompt(argument, "")).await;
            let error = asked.unwrap_err();
            assert_eq!((error.code, error.message.as_str()), (-32603, expected));
        }
    }
}

#[tokio::test]
async fn a_completer_is_a_handler_like_others() {
    #[derive(Deserialize, JsonSchema)]
    struct Chosen {
        owner: Option<String>,
    }
    async fn branches(
        State(main): State<&'static str>,
        Args(Chosen { owner }): Args<Chosen>,
        typed: Typed,
    ) -> [String; 1] {
        [format!("{main} {owner:?} {} {typed}", typed.argument())]
    }
    let prompt = prompt("clone").complete_with("branch", branches);
    let server = Server::new("handlers", "1").prompt(prompt).state("main");
    let peer = Peer::new(&server, Revision::LATEST);
    let mut params = of_prompt("branch", "ma");
    params["context"] = json!({ "arguments": { "owner": "ada" } });
    let completion = complete(&peer, params).await;
    assert_eq!(completion["values"], json!([r#"main Some("ada") branch ma"#]));
}

#[test]
fn what_only_completers_have_is_refused_elsewhere() {
    let prompt = Prompt::new("a", |typed: Typed| async move { typed.to_string() });
    let error = Server::new("odd", "1").prompt(prompt).build().unwrap_err().to_string();
    assert_eq!(error, "prompt `a` takes `Typed`, which only the completion of an argument has");
}
