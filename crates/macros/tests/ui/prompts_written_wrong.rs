use bowline::{prompt, prompts};

#[prompt(read_only)]
async fn review(language: String) -> String {
    language
}

#[prompt]
async fn pick(#[arg(min = 1)] number: u32) -> String {
    number.to_string()
}

struct Db;

impl Db {
    #[prompt]
    async fn search(&self, query: String) -> String {
        query
    }
}

fn main() {
    let _ = prompts![review pick];
    let _ = prompts!["review"];
}
