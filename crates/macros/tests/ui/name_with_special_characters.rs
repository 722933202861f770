use bowline::tool;

#[tool(name = "search the web")]
async fn search(query: String) -> String {
    query
}

#[tool]
async fn größe() -> u32 {
    1
}

#[tool]
async fn find(a: String, #[arg(rename = "a")] b: String) -> String {
    a + &b
}

fn main() {}
