use std::rc::Rc;

use bowline::tool;

struct Db;

#[tool]
impl Db {
    #[tool]
    async fn search(&self, query: String) -> String {
        let query = Rc::new(query);
        std::future::ready(()).await;
        query.to_string()
    }
}

fn main() {
    let _ = Db.tools();
}
