use std::rc::Rc;

use bowline::{tool, tools};

#[tool]
async fn search(query: String) -> String {
    let query = Rc::new(query);
    std::future::ready(()).await;
    query.to_string()
}

fn main() {
    let _ = tools![search];
}
