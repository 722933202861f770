//! URL elicitation.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bowline::client::ClientBuilder;
use bowline::extract::Visit;
use bowline::{Ask, AskError, Error, Question, Server, Tool, tool, tools};
use bowline_testing::Harness;
use bowline_types::error::code;
use tokio::sync::mpsc::unbounded_channel;

const PAGE: &str = "https://mail.example.com/login";

/// Sign in
#[tool]
async fn sign_in(ask: Ask) -> bowline::Result<&'static str> {
    match ask.url("Sign in to your mail", PAGE).await {
        Ok(visit) => {
            assert_eq!(visit.url(), PAGE);
            visit.complete().await;
            Ok("agreed")
        }
        Err(AskError::Declined) => Ok("declined"),
        Err(AskError::Unsupported(_)) => Ok("cannot be sent"),
        Err(error) => Err(error.into()),
    }
}

fn mail() -> Server {
    Server::new("mail", "1.0.0").tools(tools![sign_in])
}

fn allowing(client: ClientBuilder) -> ClientBuilder {
    client.allow_urls()
}

#[bowline::test(every_revision)]
async fn a_user_agrees_to_visit_a_page(t: Harness) {
    let agree = |question: &Question| {
        assert_eq!(question.page().unwrap().host(), "mail.example.com");
        question.consent()
    };
    let client = t.connect(mail()).client(allowing).answering(agree).await;
    let expected = if t.revision().has_elicitation_modes() { "agreed" } else { "cannot be sent" };
    assert_eq!(client.call("sign_in", ()).await.unwrap().text(), expected);
}

#[bowline::test(every_revision)]
async fn a_user_declines_to_visit_a_page(t: Harness) {
    let client = t.connect(mail()).client(allowing).answering(Question::decline).await;
    let expected = if t.revision().has_elicitation_modes() { "declined" } else { "cannot be sent" };
    assert_eq!(client.call("sign_in", ()).await.unwrap().text(), expected);
}

#[bowline::test(every_revision, stateless)]
async fn the_server_sends_no_url_to_a_client_that_allows_forms_only(t: Harness) {
    let client = t.connect(mail()).answering(|question| question.accept(true)).await;
    assert_eq!(client.call("sign_in", ()).await.unwrap().text(), "cannot be sent");
    assert!(t.questions().is_empty());
}

#[bowline::test(every_revision)]
async fn a_client_gets_the_completion_of_a_url_elicitation_in_revisions_that_have_it(t: Harness) {
    let (sender, mut done) = unbounded_channel();
    let hearing = |client: ClientBuilder| {
        client.allow_urls().on_elicitation_complete(move |id| sender.send(id.to_owned()).unwrap())
    };
    let (named, names) = std::sync::mpsc::channel();
    let agree = move |question: &Question| {
        named.send(question.page().unwrap().elicitation_id().map(str::to_owned)).unwrap();
        question.consent()
    };
    let client = t.connect(mail()).client(hearing).answering(agree).await;
    client.call("sign_in", ()).await.unwrap();
    if t.revision().has_elicitation_ids() {
        assert_eq!(done.recv().await, names.recv().unwrap());
    } else {
        assert_eq!(names.try_iter().flatten().count(), 0);
        assert!(done.is_empty());
    }
}

/// A tool that works only after the user has signed in.
fn mailbox(signed_in: Arc<AtomicBool>) -> Server {
    let open = move |ask: Ask| {
        let signed_in = signed_in.load(Ordering::Relaxed);
        async move {
            if !signed_in {
                let visit = Visit::new(&ask, "Sign in to your mail", PAGE)?;
                return Err(Error::url_elicitation_required([visit]));
            }
            Ok("no new mail")
        }
    };
    Server::new("mail", "1.0.0").tool(Tool::new("open", open))
}

#[bowline::test(every_revision)]
async fn a_call_that_needs_a_url_elicitation_first_fails_or_asks(t: Harness) {
    let signed_in = Arc::<AtomicBool>::default();
    let signs_in = Arc::clone(&signed_in);
    let visit = move |question: &Question| {
        signs_in.store(true, Ordering::Relaxed);
        question.consent()
    };
    let client = t.connect(mailbox(signed_in.clone())).client(allowing).answering(visit).await;
    match client.call("open", ()).await {
        Ok(outcome) if t.revision().has_input_requests() => {
            assert_eq!(outcome.text(), "no new mail");
        }
        Ok(outcome) => assert!(outcome.is_error() && !t.revision().has_elicitation_modes()),
        Err(error) => {
            assert!(t.revision().has_elicitation_ids());
            assert_eq!(error.rpc().unwrap().code, code::URL_ELICITATION_REQUIRED);
            assert_eq!(error.url_elicitations()[0].url(), PAGE);
            signed_in.store(true, Ordering::Relaxed);
            assert_eq!(client.call("open", ()).await.unwrap().text(), "no new mail");
        }
    }
}
