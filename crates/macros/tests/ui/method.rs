use bowline::tool;

struct Db;

impl Db {
    #[tool]
    async fn search(&self, query: String) -> String {
        query
    }
}

fn main() {}
