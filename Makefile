# Each target does all of its own set-up; `make` alone shows what there is.
# Builds go outside of the checkout unless CARGO_TARGET_DIR says where.
CARGO_TARGET_DIR ?= $(HOME)/.cache/hadal/target
export CARGO_TARGET_DIR

.PHONY: help demo demo-cluster test fuzz siege siege-cluster simulate screenshots downgrade bench bench-native bench-restart bench-lifetimes rivals bench-druid bench-scylla bench-scuba bench-cluster bench-functions bench-dashboards bench-small bench-weights bench-arrow bench-page compare-duckdb fmt lint

help:
	@echo 'make demo                   build Hadal and open it on live example data'
	@echo 'make demo ARGS="--help"     the same, with arguments for "hadal demo"'
	@echo 'make demo-cluster           the same as a cluster: three machines of two leaf processes each'
	@echo 'make test                   format, lints and all tests, as the reviewers run them'
	@echo 'make fuzz ARGS=600          look for inputs that break row blocks, 600 seconds per target'
	@echo 'make screenshots            pictures of every view, light and dark, wide and narrow; ARGS=heat for some'
	@echo 'make siege                  ten minutes of random lives: kill -9, full disks, altered files; ARGS="--minutes 2 --seed 7"'
	@echo 'make siege-cluster          six hosts, cut off from each other, killed and frozen, with rows coming in; as root'
	@echo 'make compare-duckdb         random queries to Hadal and to DuckDB; ARGS="--queries 20000 --seed 7"'
	@echo 'make simulate               clusters with faults, all from a seed; ARGS="--seeds 100000 --first 7"'
	@echo 'make downgrade              the same with lives of an earlier version in between (BEFORE=COMMIT)'
	@echo 'make bench                  measure kernels, whole queries and promised figures; fails if a promise is missed'
	@echo 'make bench ARGS="--help"     also how long the tests and a new clone take'
	@echo 'make bench-native           compare a build for any x86-64 with one for this processor'
	@echo 'make bench-restart          how long a server is away when it is restarted; ARGS="--gib 8" with more'
	@echo 'make bench-functions        rows per second of functions in JavaScript, on one core'
	@echo 'make bench-dashboards       64 clients with a dashboard each, below and beyond the capacity'
	@echo 'make bench-small            a hundred small tables that grow slowly, beside DuckDB'
	@echo 'make bench-weights          what sample rates cost: the same rows with and without them'
	@echo 'make bench-arrow            rows per second of a large answer to a Python program'
	@echo 'make bench-page             how long a person waits on the page: first load, clicks, views, the mouse'
	@echo 'make bench-lifetimes        durable ingest, a thousand times kill -9, expiry, row blocks on disk; ARGS="kills" for one'
	@echo 'make rivals                 Hadal beside DuckDB, ClickHouse, Polars, DataFusion on the same data'
	@echo 'make rivals ARGS="--quick"  the same on a tenth of the data; --help tells of more'
	@echo 'make bench-druid            the queries of the first benchmark of Druid (2012), beside its published figures'
	@echo 'make bench-scylla           the scans of "One Billion Rows a Second" (2019), beside its published figures'
	@echo 'make bench-scuba            the experiments of "Scuba: Diving into Data at Facebook" (2013), beside its model; QUICK=1 for less'
	@echo 'make bench-cluster          measure what a cluster promises, with 40 leaf processes'
	@echo 'make lint                   lints only'
	@echo 'make fmt                    format the sources'
	@echo
	@echo 'Builds are kept in $(CARGO_TARGET_DIR)'

demo:
	@make/need cargo cc node npm
	@make/page
	cargo build --release --package hadal
	@exec "$(CARGO_TARGET_DIR)/release/hadal" demo $(CLUSTER) $(ARGS)

# A variable of a target is also one of what it depends on.
demo-cluster: CLUSTER = --machines 3
demo-cluster: demo

test:
	@make/test

fuzz:
	@make/need cargo rustfmt cc
	@make/fuzz $(ARGS)

screenshots:
	@make/need cargo cc node npm chromium
	@make/page
	cargo build --profile ci --package hadal
	@exec node tests/e2e/screenshots.mjs $(ARGS)

# With debug assertions, as tests have them.
siege:
	@make/need cargo cc node npm python3
	@make/page
	cargo build --profile ci --package hadal
	@exec python3 -B bench/siege/siege.py "$(CARGO_TARGET_DIR)/ci/hadal" $(ARGS)

# As root: every host is a network namespace.
siege-cluster:
	@make/need cargo cc node npm python3
	@make/page
	cargo build --profile ci --package hadal
	@exec python3 -B bench/cluster/siege.py "$(CARGO_TARGET_DIR)/ci/hadal" $(ARGS)

# With debug assertions, as tests have them.
compare-duckdb:
	@make/need cargo cc node npm python3
	@make/page
	cargo build --profile ci --package hadal
	@python=$$(make/python tests tests/python-requirements.txt) && \
		exec "$$python" -B tests/compare/compare.py "$(CARGO_TARGET_DIR)/ci/hadal" $(ARGS)

simulate:
	@make/need cargo cc
	@make/simulate $(ARGS)

# Until there are releases: an earlier program whose restarts were measured.
BEFORE = 993032c
downgrade:
	@make/need cargo cc git node npm python3
	@make/page
	cargo build --profile ci --package hadal
	@before=$$(make/before "$(BEFORE)") && \
		exec python3 -B bench/siege/siege.py "$(CARGO_TARGET_DIR)/ci/hadal" --before "$$before" $(ARGS)

bench:
	@make/need cargo cc git node npm chromium python3
	@make/page
	cargo build --release --package hadal --package hadal-workloads
	cargo build --release --package hadal-encoding --example kernels
	@data=$$(make/real-data) && make/bench "$(CARGO_TARGET_DIR)/release" "$$data" $(ARGS)

rivals: COMPARISON = bench/rivals/rivals.py
bench-druid: COMPARISON = bench/posts/druid.py
bench-scylla: COMPARISON = bench/posts/scylla.py
bench-scylla: PICTURES = --pictures docs/scaling
rivals bench-druid bench-scylla:
	@make/need cargo cc node npm python3
	@make/page
	cargo build --release --package hadal --package hadal-bench
	@make/rivals "$(COMPARISON)" "$(CARGO_TARGET_DIR)/release/hadal" "$(CARGO_TARGET_DIR)/release/hadal-bench" $(PICTURES) $(ARGS)

# The plots are those of docs/scaling.md, unless the run is a quick one.
bench-scuba:
	@make/need cargo cc python3
	cargo build --release --package hadal-scuba --package hadal-bench
	@exec python3 -B bench/scuba/scuba.py $(if $(QUICK),--quick,--pictures docs/scaling) \
		"$(CARGO_TARGET_DIR)/release/hadal-scuba" "$(CARGO_TARGET_DIR)/release/hadal-bench" -- $(ARGS)

bench-cluster:
	@make/need cargo cc node npm python3
	@make/page
	cargo build --release --package hadal --package hadal-bench
	@exec python3 -B bench/cluster/promises.py \
		"$(CARGO_TARGET_DIR)/release/hadal" "$(CARGO_TARGET_DIR)/release/hadal-bench" $(ARGS)

bench-native:
	@make/need cargo cc node npm python3
	@make/page
	cargo build --release --package hadal --package hadal-bench
	CARGO_TARGET_DIR="$(CARGO_TARGET_DIR)/native" RUSTFLAGS="-C target-cpu=native" cargo build --release --package hadal
	@make/rivals bench/native.py "$(CARGO_TARGET_DIR)/release/hadal" "$(CARGO_TARGET_DIR)/release/hadal-bench" \
		"$(CARGO_TARGET_DIR)/native/release/hadal" $(ARGS)

bench-restart: MEASURED = bench/restart.py
bench-lifetimes: MEASURED = bench/lifetimes/lifetimes.py
bench-restart bench-lifetimes:
	@make/need cargo cc node npm python3
	@make/page
	cargo build --release --package hadal --package hadal-bench
	cargo build --release --package hadal-store --example multiply
	@make/rivals "$(MEASURED)" "$(CARGO_TARGET_DIR)/release/hadal" "$(CARGO_TARGET_DIR)/release/hadal-bench" \
		"$(CARGO_TARGET_DIR)/release/examples/multiply" $(ARGS)

bench-functions:
	@make/need cargo cc node npm python3
	@make/page
	cargo build --release --package hadal
	@python3 bench/functions.py "$(CARGO_TARGET_DIR)/release/hadal" $(ARGS)

bench-dashboards:
	@make/need cargo cc node npm python3
	@make/page
	cargo build --release --package hadal
	@python3 -B bench/dashboards.py "$(CARGO_TARGET_DIR)/release/hadal" $(ARGS)

bench-small: COMPARISON = small_tables.py
bench-weights: COMPARISON = weights.py
bench-weights: GENERATOR = "$(CARGO_TARGET_DIR)/release/hadal-bench"
bench-small bench-weights:
	@make/need cargo cc node npm python3
	@make/page
	cargo build --release --package hadal --package hadal-bench
	@make/rivals bench/$(COMPARISON) "$(CARGO_TARGET_DIR)/release/hadal" $(GENERATOR) $(ARGS)

bench-arrow:
	@make/need cargo cc node npm python3
	@make/page
	cargo build --release --package hadal
	@python=$$(make/python tests tests/python-requirements.txt) && \
		exec "$$python" -B bench/arrow.py "$(CARGO_TARGET_DIR)/release/hadal" $(ARGS)

bench-page:
	@make/need cargo cc node npm chromium
	@make/page
	cargo build --release --package hadal
	@HADAL_BINARY="$(CARGO_TARGET_DIR)/release/hadal" exec node bench/page/page.mjs $(ARGS)

fmt:
	@make/need cargo rustfmt node npm
	@make/page
	cargo fmt --all
	cd ui && npm run --silent fmt

lint:
	@make/need cargo clippy cc node npm
	@make/page
	cargo clippy --workspace --all-targets --profile ci -- -D warnings
	cd ui && npm run --silent lint && npm run --silent types
