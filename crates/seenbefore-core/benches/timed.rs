//! The hot functions by the clock: `cargo bench --bench timed`. On a shared machine compare numbers of one run only.

mod hot;

use criterion::{Criterion, criterion_group, criterion_main};

fn each(criterion: &mut Criterion) {
    let mut hot = hot::Hot::new();
    for name in hot::NAMES {
        criterion.bench_function(name, |bencher| bencher.iter(|| hot.call(name)));
    }
}

criterion_group!(benches, each);
criterion_main!(benches);
