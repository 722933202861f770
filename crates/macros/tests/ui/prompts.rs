use bowline::{prompt, prompts};

struct Topic;

#[prompt]
async fn about(topic: Topic) -> String {
    let Topic = topic;
    String::new()
}

#[prompt]
async fn count(number: u32) -> u32 {
    number
}

fn main() {
    let _ = prompts![about, count];
}
