# Everything runs from this checkout alone: the targets make .venv from the machine's python3 and build the Rust core into it.
# Needed beforehand: Python 3.11 or newer (PYTHON=… picks another), a Rust toolchain with clippy and rustfmt, a C compiler.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules

PYTHON ?= python3
VENV := $(CURDIR)/.venv
BIN := $(VENV)/bin
export PATH := $(BIN):$(PATH)
# One interpreter for every build of the binding, so that cargo and maturin share what they compiled.
export PYO3_PYTHON := $(BIN)/python
# Keys must not depend on it, so every run gets another one.
export PYTHONHASHSEED := random
export PIP_DISABLE_PIP_VERSION_CHECK := 1

RUST := $(shell find crates -name '*.rs' -o -name Cargo.toml 2>/dev/null)
DATA := $(shell find crates spec -type f -not -name '*.rs' 2>/dev/null)

.PHONY: help demo test lint bench clean counts crash server test-rust test-python

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/built  ## judge the sample crawls in examples/sample and explain one duplicate
	@tools/demo.sh

test: lint test-rust test-python  ## everything that must be true: lint, Rust tests, Python tests

lint: $(VENV)/built  ## formatting, linters, types, floors, the kernel's stub
	ruff check
	ruff format --check
	mypy
	lint-imports
	python -m mypy.stubtest seenbefore._kernel
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked --quiet -- -D warnings

test-rust: $(VENV)/built  ## the Rust tests alone
	@# The binding is tested from Python: a test binary of it would need a shared libpython, which not every machine has.
	if cargo nextest --version >/dev/null 2>&1; then \
	    cargo nextest run --workspace --exclude seenbefore-py --locked --no-fail-fast && cargo test --doc --workspace --exclude seenbefore-py --locked; \
	else \
	    cargo test --workspace --exclude seenbefore-py --locked --no-fail-fast; \
	fi

test-python: $(VENV)/built  ## the Python tests alone
	pytest

# The tests of the store in PostgreSQL start a server of their own, where one is installed; elsewhere they are skipped and say so.
server:  ## install Debian's PostgreSQL for the tests that start a server
	@command -v initdb >/dev/null || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || \
	    { apt-get update -qq && apt-get install -y -qq --no-install-recommends postgresql >/dev/null; }

crash: KILLS ?= 200
crash: $(VENV)/built  ## kill runs at random moments, and let every call fail: make crash SEED=… KILLS=1000
	KILLS=$(KILLS) SEED=$(SEED) EVERY_CALL=1 pytest -q -s tests/crash

bench: $(VENV)/built  ## the benchmarks beside DuckDB, Polars and plain Python (not part of the tests)
	pip install --quiet $$(sed -n 's/^bench = \[\(.*\)\]/\1/p' pyproject.toml | tr -d '",')
	python -m benches.run $(BENCH)

counts: $(VENV)/built  ## the instructions of the hot functions against their bounds; needs valgrind (not part of the tests)
	SEENBEFORE_COUNTS=1 pytest -q -s tests/counts

clean:  ## remove what the targets made
	rm -rf .venv target demo-out .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	rm -f python/seenbefore/_kernel*.so
	find python tests tools -name __pycache__ -type d -prune -exec rm -rf {} +

# maturin comes first, alone, because it installs the rest: the package in place, its dependencies, and the pinned tools.
$(VENV)/maturin: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "$(PYTHON) is older than 3.11: name a newer one, as in  make PYTHON=python3.11 $(MAKECMDGOALS)" >&2; exit 2; }
	@command -v cargo >/dev/null || { echo "cargo was not found: install a Rust toolchain first" >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)
	pip install --quiet "$$(sed -n 's/.*"\(maturin==[^"]*\)".*/\1/p' pyproject.toml)"
	@touch $@

$(VENV)/built: $(VENV)/maturin Cargo.toml Cargo.lock $(RUST) $(DATA)
	VIRTUAL_ENV=$(VENV) maturin develop --release --locked --extras test,dev,arrow,postgres
	@touch $@
