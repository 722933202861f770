use bowline::tool;

struct Db;

#[tool]
impl Db {
    #[tool]
    async fn open(self, path: String) -> String {
        path
    }

    #[tool]
    #[tool]
    fn insert(&mut self, _row: &str) {}

    #[tool(name = "insert")]
    fn find<T>(&self, _key: String) {}
}

struct Empty;

#[tool(read_only)]
impl Empty {
    fn nothing(&self) {}
}

trait Search {
    fn search(&self) -> String;
}

#[tool]
impl Search for Db {
    #[tool]
    fn search(&self) -> String {
        String::new()
    }
}

fn main() {
    let _ = Db.tools();
}
