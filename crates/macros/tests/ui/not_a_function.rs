use bowline::tool;

#[tool]
struct Search {
    query: String,
}

fn main() {}
