//! Serves the everything-server: `everything-server 127.0.0.1:3000`, under `/mcp`, or
//! `everything-server stdio`.

use bowline::Result;

const USAGE: &str = "usage: everything-server ADDRESS|stdio [--page-size ITEMS]";

#[tokio::main]
async fn main() -> Result {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let (place, server) = match *arguments.as_slice() {
        [place] => (place, bowline_conformance::server()),
        [place, "--page-size", items] => {
            (place, bowline_conformance::server().page_size(items.parse()?))
        }
        _ => return Err(USAGE.into()),
    };
    match place {
        "stdio" => server.run().await?,
        address => server.http().bind(address).await?,
    }
    Ok(())
}
