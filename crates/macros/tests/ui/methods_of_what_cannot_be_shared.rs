use std::cell::Cell;

use bowline::tool;

struct Counter(Cell<u32>);

#[tool]
impl Counter {
    #[tool]
    async fn count(&self) -> u32 {
        self.0.update(|count| count + 1);
        self.0.get()
    }

    #[tool]
    async fn reset(&self) {
        self.0.set(0);
    }
}

fn main() {
    let _ = Counter(Cell::new(0)).tools();
}
