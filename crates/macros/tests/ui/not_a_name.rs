use bowline::{tool, tools};

#[tool]
async fn add(a: i64, b: i64) -> i64 {
    a + b
}

fn main() {
    let _ = tools![add()];
    let _ = tools!["add"];
}
