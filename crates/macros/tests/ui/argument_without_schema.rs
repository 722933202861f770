use bowline::{Args, tool, tools};

struct Query {
    text: String,
}

#[tool]
async fn search(query: Query, limit: Option<u32>) -> String {
    format!("{} {limit:?}", query.text)
}

#[tool]
async fn find(Args(query): Args<Query>) -> String {
    query.text
}

fn main() {
    let _ = tools![search, find];
}
