use bowline::tool;

struct Hit;

struct Db;

#[tool]
impl Db {
    #[tool]
    async fn search(&self, _query: Hit) -> String {
        String::new()
    }

    #[tool]
    async fn find(&self, _query: String) -> Hit {
        Hit
    }
}

fn main() {
    let _ = Db.tools();
}
