use bowline::{State, resource};

#[resource]
async fn nameless() -> String {
    String::new()
}

#[resource(mime = "text/plain")]
async fn config() -> String {
    String::new()
}

#[resource("config://app" private)]
async fn settings() -> String {
    String::new()
}

#[resource("users/{id}")]
async fn user(id: u64) -> String {
    id.to_string()
}

#[resource("users://{id")]
async fn unclosed(id: u64) -> String {
    id.to_string()
}

#[resource("users://{user_id}/profile", size = 3, mine)]
async fn profile(id: u64) -> String {
    id.to_string()
}

#[resource("users://{user_id}/{page}")]
async fn page(State(_): State<u8>, page: u64) -> String {
    page.to_string()
}

#[resource("config://app")]
async fn part(section: String, #[arg(describe = "Which key")] key: String) -> String {
    section + &key
}

fn main() {}
