use bowline::{tool, tools};

#[tool]
async fn search(
    #[arg(default = 20.5)] limit: u32,
    #[arg(range = 1.5..=2.5)] weight: u32,
) -> u32 {
    limit + weight
}

fn main() {
    let _ = tools![search];
}
