//! Our client: `echo-client http URL REVISION IN_FLIGHT CALLS`, or `echo-client stdio PROGRAM
//! REVISION IN_FLIGHT CALLS`.

use bench_measure::{Failure, MESSAGE, Plan, Target};
use bowline::types::Content;
use bowline::types::Revision;
use bowline::{Client, Command};
use serde::Serialize;

#[derive(Clone, Copy, Serialize)]
struct Echo {
    message: &'static str,
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let plan = Plan::from_arguments()?;
    let client = connect(&plan).await?;
    let caller = client.clone();
    plan.run(move || {
        let call = caller.call("echo", Echo { message: MESSAGE });
        async move {
            let outcome = call.await?;
            let text = outcome.content().first();
            Ok(matches!(text, Some(Content::Text(text)) if text.text == MESSAGE))
        }
    })
    .await?;
    client.close().await;
    Ok(())
}

async fn connect(plan: &Plan) -> Result<Client, Failure> {
    let revision: Revision = plan.revision.parse()?;
    let builder = Client::builder("echo-client", "1.0.0").revisions([revision]);
    Ok(match &plan.target {
        Target::Http(url) => builder.http(url).connect().await?,
        Target::Stdio(program) => builder.connect(Command::new(program).arg("stdio")).await?,
    })
}
