use bowline::{tool, tools};

struct Database;

/// Ours, and not the one of the library.
struct Context;

#[tool]
async fn search(#[ctx] database: Database, query: String) -> String {
    drop(database);
    query
}

#[tool]
async fn find(context: Context, query: String) -> String {
    drop(context);
    query
}

fn main() {
    let _ = tools![search, find];
}
