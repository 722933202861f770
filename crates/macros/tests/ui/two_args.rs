use bowline::{Args, tool};

#[tool]
async fn add(Args(a): Args<i64>, Args(b): Args<i64>) -> i64 {
    a + b
}

#[tool]
async fn subtract(Args(a): Args<i64>, b: i64) -> i64 {
    a - b
}

fn main() {}
