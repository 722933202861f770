use bowline::{tool, tools};

#[tool]
async fn search(query: Query) -> Hit {
    query.run()
}

#[tool]
fn find(#[arg(default)] query: Question) -> Answer {
    query.run()
}

fn main() {
    let _ = tools![search, find];
}
