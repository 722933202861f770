use bowline::{tool, tools};

struct Hit {
    title: String,
}

#[tool]
async fn search(query: String) -> Hit {
    Hit { title: query }
}

#[tool]
fn find(query: String) -> Vec<Hit> {
    vec![Hit { title: query }]
}

#[tool]
async fn open(path: String) -> Result<String, Hit> {
    Err(Hit { title: path })
}

fn main() {
    let _ = tools![search, find, open];
}
