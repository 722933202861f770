use bowline::tool;

#[tool]
async fn distance((x, y): (f64, f64), _: String) -> f64 {
    x.hypot(y)
}

fn main() {}
