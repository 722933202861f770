//! The ceiling with a prepared list of many tools: `ceiling-static http 127.0.0.1:3000 1000`.

use std::error::Error;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    bench_ceiling::serve().await
}
