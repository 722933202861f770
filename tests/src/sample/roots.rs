//! Tools that ask for the client's roots.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bowline::{Ask, Server, State, tool, tools};

/// Tools that list roots, check paths against them, and report their changes.
pub(super) fn server(server: Server) -> Server {
    server.state(Seen::default()).on_roots_changed(look).tools(tools![list, inside, seen, heard])
}

/// How many roots there were at the last change, and how many changes there were.
#[derive(Clone, Default)]
struct Seen {
    roots: Arc<AtomicUsize>,
    changes: Arc<AtomicUsize>,
}

async fn look(State(seen): State<Seen>, ask: Ask) -> bowline::Result {
    seen.changes.fetch_add(1, Ordering::Relaxed);
    seen.roots.store(ask.roots().await?.iter().len(), Ordering::Relaxed);
    Ok(())
}

/// List the roots
#[tool]
async fn list(ask: Ask) -> bowline::Result<String> {
    let roots = ask.roots().await?;
    let shown = |root: &bowline_types::deprecated::roots::Root| {
        format!("{} ({})", root.uri, root.name.as_deref().unwrap_or("nameless"))
    };
    Ok(roots.iter().map(shown).collect::<Vec<_>>().join(", "))
}

/// Hold a path against the roots
#[tool]
async fn inside(ask: Ask, path: PathBuf) -> bowline::Result<bool> {
    // Asked for twice in the tool, and once on the wire.
    Ok(ask.roots().await?.contain(&path) && ask.roots().await?.contain(path))
}

/// Tell how many roots there were when they last changed
#[tool]
fn seen(State(seen): State<Seen>) -> usize {
    seen.roots.load(Ordering::Relaxed)
}

/// Tell how often the server heard that roots changed
#[tool]
fn heard(State(seen): State<Seen>) -> usize {
    seen.changes.load(Ordering::Relaxed)
}
