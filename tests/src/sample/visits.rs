//! Tools with URL elicitation.

use std::sync::{Arc, Mutex};

use bowline::extract::Visit;
use bowline::{Ask, Error, Server, State, tool, tools};

/// URLs that may be visited, that must be visited first, that are complete, and that are not valid.
pub(super) fn server(server: Server) -> Server {
    server.state(Pages::default()).tools(tools![sign_in, read, finish, stray])
}

/// The URL elicitations that are not complete.
#[derive(Clone, Default)]
struct Pages(Arc<Mutex<Vec<Visit>>>);

impl Pages {
    fn keep(&self, visits: impl IntoIterator<Item = Visit>) {
        self.0.lock().unwrap().extend(visits);
    }

    fn take(&self) -> Vec<Visit> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

/// Sign in on a page
#[tool]
async fn sign_in(State(pages): State<Pages>, ask: Ask) -> bowline::Result<String> {
    pages.keep([ask.url("Sign in to your mail", "https://mail.example.com/login").await?]);
    Ok("Tell me when you are done".to_owned())
}

/// Read mail, which wants two pages to be visited first
#[tool]
async fn read(State(pages): State<Pages>, ask: Ask) -> bowline::Result<String> {
    let visits = [
        Visit::new(&ask, "Sign in to your mail", "https://mail.example.com/login")?,
        Visit::new(&ask, "Pay for it", "https://pay.example.com/")?,
    ];
    pages.keep(visits.clone());
    Err(Error::url_elicitation_required(visits))
}

/// Be done with all pages
#[tool]
async fn finish(State(pages): State<Pages>) -> String {
    let visits = pages.take();
    for visit in &visits {
        visit.complete().await;
    }
    format!("done with {}", visits.len())
}

/// Send the user to a page that no browser should open
#[tool]
async fn stray(ask: Ask) -> bowline::Result<String> {
    ask.url("Sign in", "http://mail.example.com/login").await?;
    Ok("went there".to_owned())
}
