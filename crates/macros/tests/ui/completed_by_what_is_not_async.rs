use bowline::{Typed, prompt, prompts};

fn languages(typed: Typed) -> Vec<String> {
    vec![typed.to_string()]
}

#[prompt]
async fn review(
    #[arg(complete = languages)] language: String,
    #[arg(complete = |typed| vec![typed])] focus: String,
) -> String {
    language + &focus
}

fn main() {
    let _ = prompts![review];
}
