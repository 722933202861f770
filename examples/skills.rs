//! Skills: a server that tells models how to use its tool, with a text and a file beside it.
//!
//! A server with a folder of skills says `Skills::dir("./skills")?` instead.

use bowline::{Server, Skills, tool, tools};

const SKILL: &str = "\
---
name: refunds
description: Refund an order. Use it when a customer asks for their money back.
---

# Refunds

1. Find the limit for the customer's country in `references/limits.md`.
2. Below the limit, call the tool `refund`. Above it, ask the user first.
";

const LIMITS: &str = "\
| country | limit |
|---|---|
| DE | 100 |
| FR | 80 |
";

/// Refund an order
#[tool]
async fn refund(order: u64, amount: f64) -> String {
    format!("Refunded {amount} for order {order}")
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let skills = Skills::files([
        ("refunds/SKILL.md", SKILL), //
        ("refunds/references/limits.md", LIMITS),
    ])?;
    Server::new("shop", "1.0.0").tools(tools![refund]).skills(skills).run().await?;
    Ok(())
}
