use bowline::tools;

async fn add(a: i64, b: i64) -> i64 {
    a + b
}

struct Subtract;

fn main() {
    let _ = tools![add];
    let _ = tools![Subtract];
    let _ = tools![multiply];
}
