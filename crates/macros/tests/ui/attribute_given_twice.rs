use bowline::{Progress, tool};

#[tool]
#[tool(read_only)]
async fn search(query: String) -> String {
    query
}

#[tool]
async fn find(#[ctx] #[arg(default)] progress: Progress) {
    drop(progress);
}

fn main() {}
