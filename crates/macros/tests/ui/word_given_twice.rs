use bowline::tool;

#[tool(read_only, idempotent, read_only)]
async fn search(#[arg(default, default = 5)] limit: u32) -> u32 {
    limit
}

#[tool(destructive, read_only)]
async fn purge() {}

#[tool(additive, destructive)]
async fn append() {}

fn main() {}
