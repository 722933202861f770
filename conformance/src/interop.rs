//! What other SDKs can do beyond the suite: roots, URL elicitation, sampling with tools, results of
//! any type, and what a server notices outside of calls.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bowline::extract::Visit;
use bowline::{Ask, Cancel, Error, Json, Progress, Result, State, Tool, tool, tools};
use schemars::JsonSchema;
use serde::Serialize;
use tokio::time::sleep;

const PAGE: &str = "https://example.com/sign-in";

pub(crate) fn tools() -> impl IntoIterator<Item = Tool> {
    tools![
        interop_list_roots,
        interop_ask_url,
        interop_require_url,
        interop_visit_pages,
        interop_sample_with_tools,
        interop_numbers,
        interop_wait,
        interop_seen,
    ]
}

/// Tell the client's roots
#[tool(read_only)]
async fn interop_list_roots(ask: Ask) -> Result<Json<Vec<String>>> {
    Ok(Json(root_uris(&ask).await?))
}

async fn root_uris(ask: &Ask) -> Result<Vec<String>> {
    Ok(ask.roots().await?.iter().map(|root| root.uri.clone()).collect())
}

/// Ask the user to visit a page, and say when that is done
#[tool(read_only)]
async fn interop_ask_url(ask: Ask) -> Result<String> {
    let visit = ask.url("Sign in, please", PAGE).await?;
    visit.complete().await;
    Ok(format!("the user agreed to visit {}", visit.url()))
}

/// Refuse to work before the user has visited a page
#[tool(read_only)]
async fn interop_require_url(ask: Ask, State(seen): State<Seen>) -> Result<&'static str> {
    if !seen.edit().is_signed_in {
        let visit = Visit::new(&ask, "Sign in first, please", PAGE)?;
        seen.edit().visits.push(visit.clone());
        return Err(Error::url_elicitation_required([visit]));
    }
    Ok("the user is signed in")
}

/// Be the page that `interop_require_url` needs to be visited
#[tool(idempotent)]
async fn interop_visit_pages(State(seen): State<Seen>) -> String {
    let visits = {
        let mut seen = seen.edit();
        seen.is_signed_in = true;
        std::mem::take(&mut seen.visits)
    };
    for visit in &visits {
        visit.complete().await;
    }
    format!("visited {} pages", visits.len())
}

/// Ask the client's model, which may call a tool of ours
#[tool(read_only)]
async fn interop_sample_with_tools(ask: Ask) -> Result<String> {
    let clock = Tool::new("clock", || async {}).describe("Tell the time");
    let question = ask.sample("What time is it?").max_tokens(100).tools([clock]);
    Ok(question.run(|_wish| async { "12:15" }).await?.text())
}

/// Answer with structured output that is no object
#[tool(read_only)]
fn interop_numbers() -> Json<Vec<u8>> {
    Json(vec![1, 2, 3])
}

/// Wait for half a minute, and note if the client does not wait for the answer any more
#[tool(read_only)]
async fn interop_wait(
    progress: Progress,
    cancel: Cancel,
    State(seen): State<Seen>,
) -> &'static str {
    progress.report(1, None, "waiting");
    tokio::select! {
        () = sleep(Duration::from_secs(30)) => "waited",
        () = cancel.cancelled() => {
            seen.edit().cancelled += 1;
            "cancelled"
        }
    }
}

/// Tell what was seen outside of calls: how many were cancelled, and the roots after they changed
#[tool(read_only)]
fn interop_seen(State(seen): State<Seen>) -> Json<Noticed> {
    let seen = seen.edit();
    Json(Noticed { cancelled: seen.cancelled, roots: seen.roots.clone() })
}

/// Records the roots whenever the client announces a change.
pub(crate) async fn roots_changed(ask: Ask, State(seen): State<Seen>) -> Result {
    let roots = root_uris(&ask).await?;
    seen.edit().roots = Some(roots);
    Ok(())
}

#[derive(Serialize, JsonSchema)]
struct Noticed {
    cancelled: u32,
    roots: Option<Vec<String>>,
}

/// What the server has recorded since its start, shared by all calls.
#[derive(Clone, Default)]
pub(crate) struct Seen(Arc<Mutex<Sights>>);

#[derive(Default)]
struct Sights {
    cancelled: u32,
    roots: Option<Vec<String>>,
    is_signed_in: bool,
    /// URL elicitations that are not complete.
    visits: Vec<Visit>,
}

impl Seen {
    fn edit(&self) -> MutexGuard<'_, Sights> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
