use bowline::tool;

#[tool(read_only = true)]
async fn search(query: String) -> String {
    query
}

#[tool(name, title = 7)]
async fn find(#[arg(range = 5)] limit: u32, #[arg(range = 1..=5)] text: String) -> String {
    format!("{limit} {text}")
}

fn main() {}
