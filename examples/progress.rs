//! Progress; cancellation needs no code.

use std::time::Duration;

use bowline::{Progress, Server, tool, tools};

/// Process files
#[tool]
async fn process(progress: Progress, files: Vec<String>) -> String {
    let mut bar = progress.total(files.len());
    for file in &files {
        tokio::time::sleep(Duration::from_millis(200)).await;
        bar.inc(file);
    }
    format!("processed {} files", files.len())
}

#[tokio::main]
async fn main() -> Result<(), bowline::ServeError> {
    Server::new("files", "1.0.0").tools(tools![process]).run().await
}
