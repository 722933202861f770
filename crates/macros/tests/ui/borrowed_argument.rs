use bowline::tool;

#[tool]
async fn search(query: &str, tags: Option<&[String]>) -> String {
    format!("{query} {tags:?}")
}

fn main() {}
