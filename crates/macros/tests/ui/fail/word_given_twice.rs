use bowline::tool;

#[tool(read_only, idempotent, read_only)]
async fn search(#[arg(default, default = 5)] limit: u32) -> u32 {
    limit
}

#[tool(read_only, destructive)]
async fn purge() {}

fn main() {}
