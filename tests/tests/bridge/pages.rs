//! Web pages that the user visits: asked in the middle of a call, and demanded before it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bowline::client::ClientBuilder;
use bowline::extract::Visit;
use bowline::{Ask, Error, Server, Tool, tool, tools};
use bowline_types::error::code;
use bowline_types::revision::Revision;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::support::{ALL, Cell, Heard, L, M, cells};

const PAGE: &str = "https://mail.example.com/login";

/// Sign in
#[tool]
async fn sign_in(ask: Ask) -> bowline::Result<&'static str> {
    let visit = ask.url("Sign in to your mail", PAGE).await?;
    visit.complete().await;
    Ok("agreed")
}

/// A server that refuses to read mail before the user has signed in.
fn mail() -> Server {
    let signed_in = Arc::<AtomicBool>::default();
    let read = move |ask: Ask| {
        let signed_in = signed_in.clone();
        async move {
            if signed_in.swap(true, Ordering::Relaxed) {
                return Ok("no mail");
            }
            let visit = Visit::new(&ask, "Sign in to your mail", PAGE)?;
            Err(Error::url_elicitation_required([visit]))
        }
    };
    Server::new("mail", "1.0.0").tools(tools![sign_in]).tool(Tool::new("read", read))
}

fn visiting(builder: ClientBuilder, heard: &Heard, done: UnboundedSender<String>) -> ClientBuilder {
    let heard = heard.clone();
    let builder = builder.allow_urls().on_ask(move |question| {
        heard.note(question.url().unwrap_or("a form"));
        let answer = question.consent();
        async move { answer }
    });
    builder.on_elicitation_complete(move |name| _ = done.send(name.to_owned()))
}

#[tokio::test(start_paused = true)]
async fn a_caller_visits_a_page_in_the_middle_of_a_call() {
    for cell in cells(&ALL) {
        let heard = Heard::default();
        let (done, mut completed) = unbounded_channel();
        let client = cell.through(&mail(), |builder| visiting(builder, &heard, done)).await;
        assert_eq!(client.call("sign_in", ()).await.unwrap().text(), "agreed", "{cell:?}");
        assert_eq!(heard.all(), [PAGE], "{cell:?}");
        if cell.caller == L {
            assert!(completed.recv().await.is_some(), "{cell:?}");
        }
    }
}

// spec: ELIC-36
#[tokio::test(start_paused = true)]
async fn a_page_that_a_call_demands_first_is_visited_and_the_call_made_again() {
    for cell in cells(&[(M, L), (M, M), (L, M)]) {
        let heard = Heard::default();
        let (done, _completed) = unbounded_channel();
        let client = cell.through(&mail(), |builder| visiting(builder, &heard, done)).await;
        assert_eq!(client.call("read", ()).await.unwrap().text(), "no mail", "{cell:?}");
        assert_eq!(heard.all(), [PAGE], "{cell:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_caller_of_the_same_revision_gets_the_demand_itself() {
    for cell in cells(&[(L, L)]) {
        let heard = Heard::default();
        let (done, _completed) = unbounded_channel();
        let client = cell.through(&mail(), |builder| visiting(builder, &heard, done)).await;
        let error = client.call("read", ()).await.unwrap_err();
        assert_eq!(error.rpc().unwrap().code, code::URL_ELICITATION_REQUIRED, "{cell:?}");
        assert_eq!(error.url_elicitations()[0].url(), PAGE, "{cell:?}");
        assert_eq!(client.call("read", ()).await.unwrap().text(), "no mail", "{cell:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn for_an_older_caller_the_demand_becomes_a_failure_that_names_the_page() {
    let older = Cell { caller: Revision::V2025_06_18, upstream: L, http: (false, false) };
    let client = older.through(&mail(), |builder| builder).await;
    let failed = client.call("read", ()).await.unwrap();
    assert!(failed.is_error());
    assert!(failed.text().contains(PAGE), "{}", failed.text());
}
