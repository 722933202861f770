//! A client: starts a server, lists its tools, calls one. `client -- COMMAND ARGS`.

use bowline::{Client, Command};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut command = std::env::args().skip(1).skip_while(|argument| argument == "--");
    let program =
        command.next().ok_or("usage: client COMMAND ARGS, such as `client uvx mcp-server-git`")?;
    let client = Client::connect(Command::new(program).args(command)).await?;
    eprintln!("it speaks {}", client.revision());
    for tool in client.tools().all().await? {
        eprintln!("{}: {}", tool.name, tool.description.as_deref().unwrap_or("(no description)"));
    }
    client.close().await;
    Ok(())
}
