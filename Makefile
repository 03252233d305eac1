# One command for each thing; CI runs `make test`. `make setup` makes .venv, and every other target does that first.
BIN := .venv/bin

# Where it is set, each of the some hundred processes that the tests start would compile headrace, and each run all tests.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup demo test test-fast conformance check bench soak lock docs docs-site pictures clean

setup:
	@scripts/setup

demo: setup
	@$(BIN)/headrace demo $(ARGS)

# Three processes, each with its own brokers and Spark session: with two, two cores wait for half of the time, for sessions that
# expire and processes that are killed. The longest files come first. HEADRACE_TESTS=all has the random ones repeat themselves,
# and takes none that is skipped (no kubectl, promtool, browser …) for one that passes.
PARALLEL := -n 3 --dist loadfile --no-loadscope-reorder

test: setup
	@$(BIN)/ruff format --check . && $(BIN)/ruff check .
	@$(BIN)/python -m pytest $(PARALLEL) $(ARGS)

# What starts no broker, no Spark, no database and no browser, in some 90 s.
test-fast: setup
	@$(BIN)/python -m pytest $(PARALLEL) --fast $(ARGS)

# All recorded scenarios of Kafka Connect's REST API; `make test` leaves out those that take half a minute or more.
conformance: setup
	@HEADRACE_CONFORMANCE=all $(BIN)/python -m pytest tests/conformance $(ARGS)

# Generated docs, import order and module sizes are checked by tests. The fast tests run on their own first: only then is a warning
# an error, and a process that one starts refused.
check: setup
	$(BIN)/pyright
	@$(MAKE) test-fast ARGS=
	@$(MAKE) test ARGS="$(ARGS)"

bench: setup
	@$(BIN)/python -m benchmarks.run $(BENCH) $(ARGS)

# Mirrors under load while everything fails by chance, for twenty minutes: `make soak ARGS="--minutes 60"`.
soak: setup
	@$(BIN)/python -m benchmarks.run soak $(ARGS)

# Write again what is generated in docs/: tables of options, commands, REST, metrics, llms.txt.
docs: setup
	@$(BIN)/python -m headrace.docs_pages docs

# The site of docs/ in build/site (docs/decisions/0019-docs-site.md).
docs-site: docs
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

# Take the screenshots of the page again, and copy those that docs/ shows; look at them before they are committed.
pictures: setup
	@$(BIN)/python -m pytest tests/page
	@$(BIN)/python scripts/pictures.py

# Lock the newest versions that pyproject.toml allows, for every system and Python: for .venv, and of these what a container needs
# to run a worker (with all extras), and to build the wheel. Needs uv; names no package index.
LOCK := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --no-header

lock:
	$(LOCK) --upgrade --all-extras --group dev pyproject.toml -o requirements.lock
	$(LOCK) --all-extras --constraint requirements.lock pyproject.toml -o deploy/requirements.lock
	$(LOCK) --group build --constraint requirements.lock -o deploy/requirements-build.lock

# What was fetched into the user's cache directory stays; `headrace jars` says where that is.
clean:
	rm -rf .venv build dist .pytest_cache .ruff_cache .hypothesis
	find src tests benchmarks -name __pycache__ -prune -exec rm -rf {} +
