//! Tools that work while they ask, in virtual time, use `once`, and never stop asking.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bowline::{Ask, Error, Log, Progress, Server, State, tool, tools};

/// A tool that works during questions, one with `once`, and one that asks without end.
pub(super) fn server(server: Server) -> Server {
    server.state(Orders::default()).tools(tools![search, pay, nag, everything])
}

/// Look for something, ask on the way, and go on looking meanwhile
#[tool]
async fn search(progress: Progress, log: Log, ask: Ask) -> bowline::Result<String> {
    progress.report(1, None, "begun");
    log.info("looking around");
    let (meanwhile, still) = (progress.clone(), log.clone());
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(1)).await;
        meanwhile.report(2, None, "still at it");
        still.info("looking further");
    });
    let deeper = ask.confirm("Look deeper?").await?;
    progress.report(3, None, "answered");
    Ok(format!("found {}", if deeper { "treasure" } else { "nothing" }))
}

/// The orders that were numbered, and those that were paid.
#[derive(Clone, Default)]
struct Orders {
    last: Arc<AtomicU32>,
    paid: Arc<Mutex<HashSet<u32>>>,
}

/// Pay an order, which can be done only once
#[tool]
async fn pay(State(orders): State<Orders>, ask: Ask) -> bowline::Result<String> {
    let number = || async { Ok::<_, Error>(orders.last.fetch_add(1, Ordering::Relaxed) + 1) };
    let order = ask.once("order", number).await?;
    if !ask.confirm(format!("Pay order {order}?")).await? {
        return Ok(format!("order {order} waits"));
    }
    if !orders.paid.lock().unwrap().insert(order) {
        return Err(format!("order {order} was paid before"))?;
    }
    Ok(format!("order {order} is paid"))
}

/// Ask and ask
#[tool]
async fn nag(ask: Ask) -> bowline::Result<String> {
    while !ask.confirm("Now?").await? {}
    Ok("at last".to_owned())
}

/// Ask the user, the user's browser, the model and the file system at the same time
#[tool]
async fn everything(ask: Ask) -> bowline::Result<String> {
    let (sure, _, sampled, roots) = tokio::try_join!(
        ask.confirm("Sure?"),
        ask.url("Have a look", "https://example.com/"),
        ask.sample("Hello?").ask(),
        ask.roots(),
    )?;
    Ok(format!("{sure}, {}, {} roots", sampled.text(), roots.iter().len()))
}
