use bowline::{tool, tools};

#[tool]
async fn search(#[arg(range = 1..=300)] limit: u8) -> u8 {
    limit
}

fn main() {
    let _ = tools![search];
}
