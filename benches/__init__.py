"""The benchmarks: `make bench`. What is measured, and against what, is in docs/explanation/performance.md."""
