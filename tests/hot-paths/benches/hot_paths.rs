//! Measures the time of the cases: `cargo bench -p bowline-hot-paths`, optionally with a part of a
//! name.

use bowline_hot_paths::CASES;
use criterion::Criterion;

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    for case in CASES {
        let mut run = case.prepare();
        criterion.bench_function(case.name, |bencher| bencher.iter(&mut run));
    }
    criterion.final_summary();
}
