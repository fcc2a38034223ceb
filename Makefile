# Two commands do everything on a fresh machine with Python 3.11+: `make demo` and `make test`.
# Each makes the virtual environment, installs the pinned packages, and finds or fetches Java and Flink.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
SEED   ?= random
# One more than there are processors: some tests wait.
WORKERS := $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)

# Compiled modules are kept: a test starts hundreds of processes that import the same thousand.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup demo demo-reactive demo-kafka demo-spark test test-long check lint types contracts unit property golden spark flink e2e bench bench-kafka bench-spark \
        bench-reaction services reference lock fix clean

help: ## Show this list.
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sort | awk -F ':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

setup: $(VENV)/.installed ## Make the virtual environment with pinned packages.

$(VENV)/.installed: requirements/dev.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

demo: setup ## Run Headgate against a real Flink cluster for four minutes (SEED=1 repeats a draw).
	$(BIN)/headgate demo --seed $(SEED)

demo-reactive: setup ## Workers come, die and go, and a reactive job follows (five minutes).
	$(BIN)/headgate demo --reactive --seed $(SEED)

demo-kafka: setup ## A job that reads Kafka; the broker is killed once and comes back (six minutes).
	$(BIN)/headgate demo --kafka --seed $(SEED)

demo-spark: setup ## A PySpark application with two added lines on a real standalone cluster (four minutes).
	$(BIN)/headgate demo --spark --seed $(SEED)

# Engines, each on clusters of its own: a lane (tests/conftest.py) is a process, and four run beside each other. The
# demonstration is judged by the clock, so it has the machine to itself.
DEMO    := tests/e2e/test_demo.py::test_headgate_follows_the_load
ENGINES := tests/spark_streaming tests/flink tests/e2e tests/conformance tests/spark
LANES   := -n 4 --dist loadscope --no-loadscope-reorder

test: check ## Everything but `test-long`: `check`, then Spark, Flink and end-to-end tests. 25 minutes.
	$(BIN)/pytest -m 'not long' $(DEMO)
	$(BIN)/pytest -m 'not long' $(LANES) --durations 25 --deselect $(DEMO) $(ENGINES)

test-long: setup ## Before a release: every demonstration, random draws, stock settings, long kill tests.
	$(BIN)/pytest -n auto --hypothesis-profile random tests/property
	$(BIN)/pytest -m long --durations 25 $(ENGINES)

check: lint types contracts ## What to run before a commit. Five minutes.
	$(BIN)/pytest -n $(WORKERS) --dist worksteal tests/unit tests/property tests/golden

lint: setup ## Style, and the generated reference against its source.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python scripts/check_sizes.py
	$(BIN)/python scripts/generate_reference.py --check

types: setup ## mypy, strict.
	$(BIN)/mypy -n $(WORKERS)
	MYPYPATH=src:examples/embed $(BIN)/mypy examples/embed
	MYPYPATH=src:examples/plugin-template/src:examples/plugin-template/tests $(BIN)/mypy examples/plugin-template

contracts: setup ## Which package may import which.
	$(BIN)/lint-imports

unit: setup ## Fast tests: no Spark, no Flink.
	$(BIN)/pytest -n auto tests/unit

property: setup ## Hypothesis tests of the safety rules.
	$(BIN)/pytest -n auto tests/property

golden: setup ## The reference autoscaler's cases.
	$(BIN)/pytest tests/golden

spark: setup ## Tests that need a Spark session.
	$(BIN)/pytest tests/spark

flink: setup ## Tests against real Flink clusters.
	$(BIN)/pytest tests/flink

e2e: setup ## Whole processes together.
	$(BIN)/pytest tests/e2e

bench: setup ## Measure cycles, steps to a right parallelism, reactive mode, policies, rescales; prints tables (two hours).
	$(BIN)/python -m benchmarks.cycle
	$(BIN)/python -m benchmarks.loop_cost
	$(BIN)/python -m benchmarks.loop_cost_page
	$(BIN)/python -m benchmarks.soak
	$(BIN)/python -m benchmarks.soak_page
	$(BIN)/python -m benchmarks.failing
	$(BIN)/python -m benchmarks.failing_page
	$(BIN)/python -m benchmarks.fleet
	$(BIN)/python -m benchmarks.fleet_page
	$(BIN)/python -m benchmarks.ds2 --write-docs
	$(BIN)/python -m benchmarks.reactive
	$(BIN)/python -m benchmarks.reactive_page
	$(BIN)/python -m benchmarks.policies
	$(BIN)/python -m benchmarks.policies_page
	$(BIN)/headgate measure-rescale --runs benchmarks/results/rescale_runs.csv
	$(BIN)/python -m benchmarks.rescale_page

bench-kafka: setup ## The true lag of Kafka jobs against the connector's gauge and a script; prints tables (half an hour).
	$(BIN)/python -m benchmarks.kafka_lag
	$(BIN)/python -m benchmarks.kafka_lag_page

bench-reaction: setup ## Reaction to the load: 500 random jobs in the simulator, a real cluster, as shipped; prints tables (hours).
	$(BIN)/python -m benchmarks.reaction
	$(BIN)/python -m benchmarks.reaction_page
	$(BIN)/python -m benchmarks.reaction_flink
	$(BIN)/python -m benchmarks.reaction_flink_page
	$(BIN)/python -m benchmarks.shipped
	$(BIN)/python -m benchmarks.shipped_page

bench-spark: setup ## Executors of one Spark application by four policies, three seeds of 20 minutes each; prints tables (five hours).
	$(BIN)/python -m benchmarks.spark_policies
	$(BIN)/python -m benchmarks.spark_policies_page

services: setup ## Install what the tests need beyond Python packages (Debian, as root): Flink, Kafka, databases, Kubernetes, ...
	$(BIN)/python -m headgate.engines.flink.local
	bash scripts/services.sh

reference: setup ## Write docs/reference from the declarations.
	$(BIN)/python scripts/generate_reference.py

lock: setup ## Pin the newest packages that pyproject.toml allows.
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile pyproject.toml --group test --universal --python-version 3.11 --generate-hashes \
	    --no-header --no-emit-index-url --no-annotate --quiet --upgrade -o requirements/dev.lock

fix: setup ## Let the formatter and the linter mend what they can.
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean: ## Remove the virtual environment and what tools left behind.
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build dist
