struct Harness;

#[bowline::test(modern)]
async fn takes_words(t: Harness) {
    drop(t);
}

#[bowline::test]
fn is_not_async(t: Harness) {
    drop(t);
}

#[bowline::test]
async fn takes_nothing() {}

fn main() {}
