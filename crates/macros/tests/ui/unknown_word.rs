use bowline::tool;

#[tool(readonly)]
async fn search(query: String) -> String {
    query
}

#[tool(description = "Searches")]
async fn find(#[arg(min = 1)] limit: u32) -> u32 {
    limit
}

fn main() {}
