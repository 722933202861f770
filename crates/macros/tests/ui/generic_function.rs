use bowline::tool;

#[tool]
async fn search<T: ToString>(query: T) -> String {
    query.to_string()
}

#[tool]
async fn find(query: impl ToString) -> String {
    query.to_string()
}

#[tool]
async fn find_all(queries: Vec<impl ToString>) -> usize {
    queries.len()
}

fn main() {}
