//! Which server asks.

use bowline::extract::Visit;
use bowline::{Ask, Error, tool, tools};
use bowline_gateway::bridge;
use bowline_server::{Server, Tool};
use bowline_types::elicitation::UrlElicitationRequired;
use bowline_types::error::code;
use bowline_types::revision::Revision;

use crate::support::{BOTH, Fake, Heard, agreeing, connect, gateway, ways};

const PAGE: &str = "https://mail.example.com/login";

/// Deploy the thing
#[tool]
async fn deploy(ask: Ask) -> bowline::Result<String> {
    Ok(format!("deployed: {}", ask.confirm("Deploy?").await?))
}

/// Sign in
#[tool]
async fn sign_in(ask: Ask) -> bowline::Result<&'static str> {
    ask.url("Sign in to your mail", PAGE).await?;
    Ok("agreed")
}

fn server() -> Server {
    let read = |ask: Ask| async move {
        let visit = Visit::new(&ask, "Sign in to your mail", PAGE)?;
        Err::<(), _>(Error::url_elicitation_required([visit]))
    };
    // A name that is made to look like another server.
    Server::new("bank", "1.0.0").tools(tools![deploy, sign_in]).tool(Tool::new("read", read))
}

const FILE: &str = r#"{ "mcpServers": { "my deployer": { "command": "x" } } }"#;

// spec: ELIC-10
#[tokio::test(start_paused = true)]
async fn a_question_begins_with_the_configured_name_of_its_server() {
    for upstream in BOTH {
        for way in ways() {
            let gateway = gateway(FILE, [("my deployer", Fake::speaking(upstream, server()))]);
            let heard = Heard::default();
            let server = bridge(gateway, None);
            let caller = connect(&server, way, |builder| agreeing(builder, &heard)).await;
            let deployed = caller.call("my-deployer__deploy", ()).await.unwrap();
            assert_eq!(deployed.text(), "deployed: true", "{way:?} {upstream}");
            assert_eq!(heard.take(), ["my deployer: Deploy?"], "{way:?} {upstream}");
            let agreed = caller.call("my-deployer__sign_in", ()).await.unwrap();
            assert_eq!(agreed.text(), "agreed", "{way:?} {upstream}");
            assert_eq!(heard.take(), ["my deployer: Sign in to your mail"], "{way:?} {upstream}");
        }
    }
}

// spec: ELIC-10
#[tokio::test(start_paused = true)]
async fn a_page_that_a_call_demands_first_begins_with_it_too() {
    let fake = Fake::speaking(Revision::LATEST_LEGACY, server());
    let gateway = gateway(FILE, [("my deployer", fake)]);
    for way in ways().filter(|way| way.revision == Revision::LATEST_LEGACY) {
        let heard = Heard::default();
        let server = bridge(gateway.clone(), None);
        let caller = connect(&server, way, |builder| agreeing(builder, &heard)).await;
        let error = caller.call("my-deployer__read", ()).await.unwrap_err();
        let error = error.rpc().unwrap();
        assert_eq!(error.code, code::URL_ELICITATION_REQUIRED, "{way:?}");
        let required: UrlElicitationRequired = error.parse_data().unwrap();
        assert_eq!(required.elicitations[0].message, "my deployer: Sign in to your mail");
    }
}
