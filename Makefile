# The verbs of the project. `make help` lists them. They need Python >= 3.11, make and the package registry, nothing else.
# ARGS="…" passes options on to the program that a verb runs: make bench ARGS=--quick, make test ARGS="-k groups".
PYTHON ?= $(shell command -v python3 || command -v python3.13 || command -v python3.12 || command -v python3.11 || echo python3)
UV_VERSION := 0.13.9
ACTIONLINT_VERSION := v1.7.12
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.synced
# A lane of tests; a test that fails gets a second try at the end: docs/contributing/tests.md.
LANE := $(BIN)/python -m scripts.run_tests
# A worker takes whole files, in the order of tests/conftest.py: brokers and Spark are shared by the tests of a file. More
# workers than cores, for tests wait longer than they work; the soak tests have several JVMs each.
BY_FILE := --dist loadfile --no-loadscope-reorder
# The files that speak of these marks: to collect all others takes minutes, and finds nothing.
MARKED := $$(grep -rlwE "jvm|soak|nightly" tests --include="test_*.py")
export UV_PROJECT_ENVIRONMENT := $(CURDIR)/$(VENV)
# Where it is set, every process compiles every module anew: a start of the broker takes twice as long, the tests too.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
# The former names of ARGS; other variables (SEED=7, MINUTES=20, OPEN=…) are shorthands of options.
$(foreach old,SIMULATE_OPTIONS CHAOS_OPTIONS LAB_OPTIONS,$(if $($(old)),$(error $(old) is called ARGS now: ARGS="$($(old))")))
.PHONY: help setup lock upgrade demo pipeline connect test test-all soak nightly every-python check types unit format broker cluster site site-build pages notebook notebooks bench bench-check compiled wheel simulate chaos mutants actionlint clean

help: ## list the verbs
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo 'ARGS="…" passes options on: make pipeline ARGS=--help, make test ARGS="-k groups".'

setup: $(STAMP) ## a .venv with all extras, from the lock file (idempotent; the others call it)

$(STAMP): pyproject.toml uv.lock
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "kafka_lite needs Python >= 3.11, this is %s: try make setup PYTHON=python3.12" % sys.version.split()[0])'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { echo "python -m venv failed: on Debian and Ubuntu, apt install python3-venv"; exit 1; }
	@test -x $(BIN)/uv || $(BIN)/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)
	@echo "Installing the packages of uv.lock into $(VENV): 1.5 GB, some four minutes the first time, seconds from uv's cache"
	@# On a terminal uv shows its progress; in a log it would only list two hundred packages.
	@# Compiled here once, by all cores: processes that start at the same time would each compile the same modules.
	@# The package gssapi has no wheel for Linux, and needs the headers of MIT Kerberos to be built.
	@quiet=$$(test -t 2 || echo --quiet); kerberos=$$(command -v krb5-config >/dev/null || echo --no-extra gssapi); \
		$(BIN)/uv sync --frozen --all-extras $$kerberos --compile-bytecode $$quiet
	@$(BIN)/python -m compileall -q -j 2 kafka_lite kafka_learn pipeline pyspark_kafka_lite chapters scripts tests/support
	@$(BIN)/python -m scripts.commit_message --install
	@touch $@

lock: setup ## bring uv.lock up to date with pyproject.toml, and upgrade nothing
	$(BIN)/uv lock $(ARGS)

upgrade: setup ## upgrade the dependencies in uv.lock (ARGS="--upgrade-package rich": this one)
	$(BIN)/uv lock $(or $(ARGS),--upgrade)

demo: setup ## the main job: 336,776 flights through the broker into PySpark, and a chart (about a minute)
	$(BIN)/python -m pipeline.demo $(ARGS)

pipeline: setup ## a day of flights and weather through streaming queries, live, checked by pandas (ARGS=--help)
	@$(BIN)/python -m pipeline $(ARGS)

connect: setup ## a table of SQLite through a topic into Parquet files, by two connectors, live (half a minute; ARGS=--help)
	@$(BIN)/python -m pipeline.connect_demo $(ARGS)

ureplicator: setup ## two clusters, a controller and three workers between them: a topic is added, a worker killed, live (ARGS=--help)
	@$(BIN)/python -m pipeline.ureplicator_demo $(ARGS)

test: check ## the whole, but for what needs real Kafka and what only soaks: some five minutes on two quiet cores
	$(LANE) --processes 8 test tests -- --ignore=tests/unit -q -m "not jvm and not soak and not nightly" $(ARGS)

test-all: test soak nightly every-python ## make test, and the rest: real Kafka, long chaos, every Python that is here

soak: setup ## what make test leaves out: beside real Kafka and ZooKeeper (Java, Maven), long chaos, others' test suites
	$(LANE) soak $(MARKED) -- -n 3 $(BY_FILE) -m "(jvm or soak) and not nightly" $(ARGS)

nightly: setup ## the longest of soak, by themselves: Spark loses its driver or an executor; five stream processors beside each other; all examples
	$(LANE) nightly $(MARKED) -- -n 2 $(BY_FILE) -m nightly $(ARGS)
	KAFKA_LITE_EXAMPLES=all $(LANE) --processes 2 examples tests/unit -- -q -m hypothesis

every-python: setup ## the unit tests on every other Python that is here (ARGS=--newest: on the newest of them)
	$(BIN)/python -m scripts.every_python $(ARGS)

check: setup ## lint, types, import contracts, unit tests: one or two minutes, the first time three
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-logo 2>/dev/null || $(BIN)/lint-imports
	@$(MAKE) --no-print-directory -j 2 types unit ARGS=

# Together, since mypy alone would leave a core idle.
types: setup
	$(BIN)/mypy $(ARGS)

unit: setup
	$(LANE) --processes 3 unit tests/unit -- -q -m "not soak" $(ARGS)

format: setup ## let ruff format and mend what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The compiled build runs if `make compiled` has made it of today's source; BUILD=plain does without it.
broker: setup ## start a broker on 127.0.0.1:9092, embedded ZooKeeper included
	@compiled="$$(test "$(BUILD)" = plain || $(BIN)/python -m scripts.compile_hot_modules --path)"; \
	PYTHONPATH="$$compiled" exec $(BIN)/kafka-lite server-start config/server.properties $(ARGS)

# Where its files are, how many brokers: ARGS="--dir FOLDER --brokers 5".
cluster: setup ## three brokers on 127.0.0.1:9092, 9093 and 9094, and a ZooKeeper: kill one (ARGS=--help)
	@compiled="$$(test "$(BUILD)" = plain || $(BIN)/python -m scripts.compile_hot_modules --path)"; \
	PYTHONPATH="$$compiled" exec $(BIN)/kafka-lite cluster-start $(ARGS)

site: setup ## the docs site on 127.0.0.1:8000, rebuilt on change (the first build takes some six minutes)
	$(BIN)/python -m kafka_learn.site serve $(ARGS)

site-build: setup ## the docs site into site/, strictly: unknown symbols and dead links fail
	$(BIN)/python -m kafka_learn.site build $(ARGS)

pages: setup ## rewrite what Markdown pages say from data, and fill lines of more than 130 columns
	$(BIN)/python -m kafka_learn.site.repository_pages

notebook: setup ## JupyterLab on the chapters' notebooks (OPEN=chapters/….ipynb: on one of them)
	@$(BIN)/python -m kafka_learn.jupyter_notebooks $(OPEN) $(ARGS)

notebooks: setup ## execute every notebook
	$(BIN)/python -m kafka_learn.notebooks $(ARGS)

bench: setup ## kafka_lite beside Kafka 3.9.1 and 4.3.1, which need Java and Maven: three quarters of an hour (ARGS=--quick: ten minutes)
	$(BIN)/python -m bench $(ARGS)

bench-check: setup ## whether anything is slower than it was: some thirty ratios to Kafka 3.9.1 in one run of ten minutes
	$(BIN)/python -m bench.check $(ARGS)

# SEED=n: one seed, as ever. SEEDS=n: many, on all processors. BROKERS=3: a cluster. SCENARIO=name: another one. RECORD=run.html: draw the run. LINK='?seed=1&…': play a run of the live page. See docs/design/simulation.md.
simulate: setup ## a whole broker and its clients in a world from a seed (SEED=n, or SEEDS=n for many)
	$(BIN)/python -m kafka_learn.simulate $(if $(SEED),--seed $(SEED)) $(if $(SEEDS),--seeds $(SEEDS)) \
		$(if $(BROKERS),--brokers $(BROKERS)) $(if $(SCENARIO),--scenario $(SCENARIO)) $(if $(RECORD),--record $(RECORD)) $(if $(LINK),--link '$(LINK)') $(ARGS)

# MINUTES=20, SEED=n, BROKERS=5; see docs/design/chaos.md. ARGS=--help.
chaos: setup ## a real cluster and its clients, each in its own process, under faults from a seed (MINUTES=5)
	@$(BIN)/python -m kafka_lite.testing.chaos.command $(if $(MINUTES),--minutes $(MINUTES)) $(if $(SEED),--seed $(SEED)) \
		$(if $(BROKERS),--brokers $(BROKERS)) $(ARGS)

# ARGS=--note puts what is found into the table of docs/design/mutants.md; ARGS="--sample 3": three of the modules in it.
mutants: setup ## small mistakes in a module, which its unit tests should notice (MODULE=kafka_lite.network.large_requests)
	@$(BIN)/python -m scripts.mutants $(MODULE) $(ARGS)

compiled: setup ## the package with its hot modules compiled, in build/compiled (needs a C compiler; optional)
	$(BIN)/python -m scripts.compile_hot_modules $(ARGS)

wheel: setup ## wheels in dist/: a plain one, and a compiled one if there is a C compiler
	$(BIN)/python -m scripts.build_wheels

actionlint: ## check GitHub's workflows (needs Go)
	go run github.com/rhysd/actionlint/cmd/actionlint@$(ACTIONLINT_VERSION)

clean: ## remove what the build made (the .venv stays)
	rm -rf site build dist .build .mypy_cache .ruff_cache .pytest_cache .hypothesis
