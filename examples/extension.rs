//! An extension of your own: a server with a method outside of the specification, and a client that
//! calls it. Both are in this program; usually each side is a crate that knows the same types.

use bowline::transport::duplex;
use bowline::{Client, ClientExtension, Context, Extension, Json, Params, Result, Server, State};
use serde::{Deserialize, Serialize};

/// Both sides declare this identifier: a domain of the author in reverse, and a name.
const SEARCH: &str = "com.example/search";

#[derive(Serialize, Deserialize)]
struct Query {
    text: String,
}

#[derive(Serialize, Deserialize)]
struct Hits {
    titles: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct Visited {
    shelf: u32,
}

type Titles = &'static [&'static str];

/// Looks at one shelf after the other, and tells the client where it is.
async fn run(
    Params(query): Params<Query>,
    State(titles): State<Titles>,
    context: Context,
) -> Result<Json<Hits>> {
    let mut hits = Vec::new();
    for (shelf, title) in (1..).zip(titles) {
        context.notify(SEARCH, "notifications/search/visited", &Visited { shelf }).await?;
        if title.contains(&query.text) {
            hits.push((*title).to_owned());
        }
    }
    Ok(Json(Hits { titles: hits }))
}

fn library() -> Server {
    let titles: Titles = &["All about knots", "Sailing alone", "Knots and splices"];
    let search = Extension::new(SEARCH).method("search/run", run);
    Server::new("library", "1.0.0").state(titles).extension(search)
}

#[tokio::main]
async fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let (ours, theirs) = duplex();
    tokio::spawn(library().serve(theirs));
    let visited = |visited: Visited| eprintln!("shelf {}", visited.shelf);
    let search =
        ClientExtension::new(SEARCH).on_notification("notifications/search/visited", visited);
    let client = Client::builder("reader", "1.0.0").extension(search).connect(ours).await?;

    let search = client.extension(SEARCH);
    let query = Query { text: "nots".to_owned() };
    let hits: Hits = search.request("search/run", &query).await?;
    eprintln!("{}", hits.titles.join(", "));
    Ok(())
}
