# Two commands set everything up by themselves: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := pyproject.toml CMakeLists.txt $(wildcard core/*/*)

.PHONY: help demo test test-slow lint bench wheel clean

help:
	@echo "make demo       score the example and explain one sentence"
	@echo "make test       the tests (minutes); make test-slow the long, data-hungry ones"
	@echo "make lint       ruff, mypy --strict, the order of the rooms"
	@echo "make bench      benchmarks: every figure a ratio against a named peer"
	@echo "make wheel      build the wheel into dist/ and check its size"

# The environment is made anew when the core or the dependencies change.
$(VENV)/.installed: $(SOURCES)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/pip install --quiet --disable-pip-version-check --editable ".[dev]"
	touch $@

$(VENV)/.bench: $(VENV)/.installed
	$(BIN)/pip install --quiet --disable-pip-version-check --editable ".[dev,bench]"
	touch $@

demo: $(VENV)/.installed
	$(BIN)/tesla score -r examples/reference.txt examples/system-a.txt examples/system-b.txt -m m,bleu,chrf
	@echo
	$(BIN)/tesla explain "$$(sed -n 2p examples/system-b.txt)" "$$(sed -n 2p examples/reference.txt)"

test: $(VENV)/.installed
	$(BIN)/pytest

test-slow: $(VENV)/.installed
	$(BIN)/pytest -m slow

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks

wheel: $(VENV)/.installed
	rm -f dist/*.whl
	$(BIN)/pip wheel --quiet --no-deps --wheel-dir dist .
	$(BIN)/python tools/check_wheel.py dist/*.whl

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
