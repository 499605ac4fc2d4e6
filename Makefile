# Two commands set everything up by themselves: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := pyproject.toml CMakeLists.txt $(wildcard core/*/* core/*/*/*)

# Where Clang is; version 14 is the oldest that is tried.
CLANG := $(firstword $(foreach name,clang++ clang++-14 clang++-15 clang++-16 clang++-17 clang++-18 clang++-19,$(shell command -v $(name) 2>/dev/null)))
CORE_TESTS := tests/house/test_core_safety.py tests/house/test_fuzz.py tests/matching/test_transport.py tests/matching/test_matching.py tests/matching/test_celab.py \
	tests/matching/test_characters.py tests/language/test_words.py tests/matching/test_surface.py tests/language/test_tokeniser.py tests/matching/test_pivot_bags.py tests/house/test_core_stub.py tests/training/test_alignment.py tests/matching/test_states.py \
	tests/matching/test_state_encoder.py tests/matching/test_vectors.py tests/metrics/test_guards.py
FUZZ_SECONDS ?= 60
FUZZ_PAIRS ?= 20000
FUZZ_FILES ?= 200
FUZZ_CALLS ?= 43000

.PHONY: help demo test test-core test-checkpoints test-slow test-lowest test-clang test-neon test-threads test-free-threaded sanitize sanitize-quick fuzz lint bench wheel clean test-browser check-js screenshots test-plugs docs test-engines bench-engines release-check

help:
	@echo "make demo       score the example and explain one sentence"
	@echo "make test       the tests (minutes); make test-slow the long, data-hungry ones"
	@echo "make test-core  the part of them that is C++ without Python: the rules of the core"
	@echo "make test-checkpoints  encoders and tuning of TESLA-N beside PyTorch and transformers, in an environment of their own"
	@echo "make test-lowest   the tests in a fresh clone with the lowest versions that pyproject.toml allows"
	@echo "make test-clang    the core built with Clang, and its tests"
	@echo "make test-neon     the kernels for ARM, cross-compiled and run by qemu-aarch64"
	@echo "make test-threads  the threaded paths under the thread sanitizer"
	@echo "make test-free-threaded  the core under a Python without GIL: FREE_THREADED=python3.13t names it"
	@echo "make sanitize   the core's tests and the fuzzers with the address and undefined-behaviour sanitizers"
	@echo "make fuzz       fuzzers for FUZZ_SECONDS, FUZZ_PAIRS and FUZZ_FILES; guided by coverage where Clang is there"
	@echo "make test-browser  the pages of report, serve and judge in Chromium: no errors, no network, keyboard, accessibility, 3,000 segments x 10 systems"
	@echo "make test-engines  DuckDB, Ray and Spark on this machine, workers killed in the middle; bench-engines: what they cost"
	@echo "make test-plugs    each plug against the real library, in environments of their own; PLUGS=\"frames mbrs\" chooses"
	@echo "make docs       the documentation site, into build/site"
	@echo "make check-js   types and format of the report's script"
	@echo "make lint       ruff, mypy --strict, the order of the rooms, spelling"
	@echo "make bench      benchmarks: every figure a ratio against a named peer"
	@echo "make release-check  build sdist and wheels as they would be published, and try each in a clean environment"
	@echo "make wheel      build the wheel into dist/ and check its size"

# The packages of this repository, which pip must get together: it finds none of them elsewhere.
PACKAGES := --editable packages/data --editable . --editable packages/papers --editable packages/neural
PACKAGE_FILES := $(wildcard packages/*/pyproject.toml)

# The environment is made anew when the core or the dependencies change. The demo needs the packages alone; the tests take the rest.
$(VENV)/.package: $(SOURCES) $(PACKAGE_FILES)
	@$(PYTHON) tools/preflight.py
	@$(BIN)/python -m pip --version > /dev/null 2>&1 || { rm -rf $(VENV); $(PYTHON) -m venv $(VENV); }
	@echo "installing the packages into $(VENV); compiling the core takes one or two minutes"
	@mkdir -p build
	@$(BIN)/python -m pip install --disable-pip-version-check --no-compile --verbose $(PACKAGES) > build/install.log 2>&1 & pid=$$!; \
	  last=; while kill -0 $$pid 2> /dev/null; do sleep 2; share=$$(grep -o '^ *\[ *[0-9]*%\]\|^ *\[[0-9]*/[0-9]*\]' build/install.log | tail -1); \
	  if test -t 1; then test -z "$$share" || printf '\r  core: %s ' "$$share"; \
	  elif test "$$share" != "$$last"; then echo "  core: $$share"; last=$$share; fi; done; test ! -t 1 || echo; \
	  wait $$pid || { tail -40 build/install.log; exit 1; }
	touch $@

# The packages are there already, so that pip installs what the extras ask for and compiles nothing.
$(VENV)/.installed: $(VENV)/.package
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile "tesla-eval[dev]" "tesla-eval-papers[test]" "tesla-eval-neural[test]"
	touch $@

$(VENV)/.bench: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "tesla-eval[dev,bench]"
	touch $@

demo: $(VENV)/.package
	$(BIN)/tesla score -r examples/reference.txt examples/system-a.txt examples/system-b.txt -m m,bleu,chrf
	@echo
	$(BIN)/tesla explain "Police apprehended two men who stole automobiles." "The police arrested two men who had stolen cars."
	@echo
	$(BIN)/tesla explain -m pem-x -l en "Police did not arrest two men." "Police arrested two men."

test: $(VENV)/.installed test-core
	$(BIN)/python -m pytest
	cd packages/neural && ../../$(BIN)/python -m pytest -p no:cacheprovider

# What did not change is not compiled again. CMake comes with the build tools where the system has none.
TEST_CORE := build/test-core
test-core: $(VENV)/.build-tools
	PATH="$(CURDIR)/$(BIN):$$PATH" cmake -S tests/core -B $(TEST_CORE) > /dev/null
	PATH="$(CURDIR)/$(BIN):$$PATH" cmake --build $(TEST_CORE) --parallel 2 > $(TEST_CORE)/build.log || { cat $(TEST_CORE)/build.log; exit 1; }
	cd $(TEST_CORE) && PATH="$(CURDIR)/$(BIN):$$PATH" ctest --output-on-failure --parallel 2

test-slow: $(VENV)/.installed
	$(BIN)/python -m pytest -m slow

# PyTorch's build for CPUs is enough; pip takes the one for GPUs where its index has no other.
CHECKPOINTS := build/checkpoints
$(CHECKPOINTS)/.installed: $(SOURCES) packages/neural/pyproject.toml
	test -x $(CHECKPOINTS)/bin/python || $(PYTHON) -m venv $(CHECKPOINTS)
	$(CHECKPOINTS)/bin/pip install --quiet --disable-pip-version-check packages/data .
	$(CHECKPOINTS)/bin/pip install --quiet --disable-pip-version-check --editable "packages/neural[checkpoints,train]"
	touch $@

test-checkpoints: $(CHECKPOINTS)/.installed
	cd packages/neural && ../../$(CHECKPOINTS)/bin/pytest -p no:cacheprovider tests/checkpoints

# What builds the core outside of pip; CMake itself too, where the system has none.
$(VENV)/.build-tools: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "nanobind>=2.4"
	command -v cmake > /dev/null || $(BIN)/python -m pip install --quiet --disable-pip-version-check cmake
	touch $@

# One test is mostly SciPy, which takes a quarter of an hour there; the fuzzers take the core along the same ways.
sanitize: $(VENV)/.build-tools
	$(BIN)/python tools/checked_core.py address -- -m pytest -p no:cacheprovider $(CORE_TESTS) \
	  --deselect tests/matching/test_matching.py::test_real_pairs_match_as_in_the_textbook
	$(BIN)/python tools/checked_core.py address -- -m tests.fuzz.pairs --metric m,x,b,celab,s --count $(FUZZ_PAIRS)
	$(BIN)/python tools/checked_core.py address -- -m tests.fuzz.resources --count $(FUZZ_FILES)
	$(BIN)/python tools/checked_core.py address -- -m tests.fuzz.calls --count $(FUZZ_CALLS)

# The same in a few minutes, for every change: status 77 says that the sanitizer's library is missing.
sanitize-quick: $(VENV)/.build-tools
	@$(BIN)/python tools/checked_core.py address -- -m pytest -p no:cacheprovider tests/house/test_core_safety.py tests/house/test_fuzz.py \
	  || { status=$$?; test $$status = 77 && echo "make sanitize-quick: SKIPPED, there is no libasan" && exit 0; exit $$status; }

test-threads: $(VENV)/.build-tools
	$(BIN)/python tools/checked_core.py thread -- -m tests.fuzz.threads

# PYTHON_GIL=0: some libraries beside the core would switch the GIL on. Few have wheels for these Pythons, so pip may compile.
FREE_THREADED ?= $(firstword $(foreach name,python3.14t python3.13t,$(shell command -v $(name) 2>/dev/null)))
NO_GIL := build/free-threaded-$(notdir $(FREE_THREADED))
$(NO_GIL)/.installed: $(SOURCES)
	@test -n "$(FREE_THREADED)" || { echo "There is no free-threaded Python. Build CPython with --disable-gil, then name it: make test-free-threaded FREE_THREADED=..."; exit 1; }
	test -x $(NO_GIL)/bin/python || $(FREE_THREADED) -m venv $(NO_GIL)
	$(NO_GIL)/bin/pip install --quiet --disable-pip-version-check --prefer-binary --editable packages/data --editable ".[test]" --editable packages/papers
	touch $@

test-free-threaded: $(NO_GIL)/.installed
	$(NO_GIL)/bin/python -c "import sys, tesla_eval._core; sys.exit('the core switches the GIL on' if sys._is_gil_enabled() else 0)"
	PYTHON_GIL=0 $(NO_GIL)/bin/python -m tests.fuzz.threads
	PYTHON_GIL=0 $(NO_GIL)/bin/pytest -p no:cacheprovider $(CORE_TESTS) tests/metrics

test-clang: $(VENV)/.build-tools
	@test -n "$(CLANG)" || { echo "There is no Clang. Debian and Ubuntu: apt-get install clang-14"; exit 1; }
	CXX=$(CLANG) $(BIN)/python tools/checked_core.py plain -- -m pytest -p no:cacheprovider $(CORE_TESTS)
	CXX=$(CLANG) $(MAKE) test-core TEST_CORE=build/test-core-clang

# Processors with and without the dot product: the tests of the kernels must give the stored bits.
NEON := build/neon
test-neon: $(VENV)/.build-tools
	@command -v aarch64-linux-gnu-g++ > /dev/null && command -v qemu-aarch64 > /dev/null \
	  || { echo "There is no compiler or no emulator for ARM. Debian and Ubuntu: apt-get install g++-aarch64-linux-gnu qemu-user"; exit 1; }
	PATH="$(CURDIR)/$(BIN):$$PATH" cmake -S tests/core -B $(NEON) -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
	  -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++ -DCMAKE_EXE_LINKER_FLAGS=-static -DCMAKE_CROSSCOMPILING_EMULATOR=qemu-aarch64 \
	  "-DTESLA_KERNELS=neondot;neon;portable" > /dev/null
	PATH="$(CURDIR)/$(BIN):$$PATH" cmake --build $(NEON)
	cd $(NEON) && PATH="$(CURDIR)/$(BIN):$$PATH" QEMU_CPU=max ctest --output-on-failure
	cd $(NEON) && PATH="$(CURDIR)/$(BIN):$$PATH" QEMU_CPU=cortex-a57 ctest --output-on-failure --exclude-regex neondot

ifeq ($(CLANG),)
fuzz: $(VENV)/.installed
	@echo "There is no Clang: hypothesis makes the texts. For guidance by coverage: apt-get install clang-14 libclang-rt-14-dev"
	FUZZ_EXAMPLES=5000 $(BIN)/python -m pytest tests/house/test_fuzz.py
else
fuzz: $(VENV)/.installed
	cmake -S tests/fuzz -B build/fuzz -DCMAKE_CXX_COMPILER=$(CLANG) > /dev/null \
	  || { echo "Clang cannot build a fuzzer here. Debian and Ubuntu: apt-get install libclang-rt-14-dev"; exit 1; }
	cmake --build build/fuzz --parallel
	mkdir -p build/fuzz/corpus
	build/fuzz/core_fuzzer -max_total_time=$(FUZZ_SECONDS) -timeout=10 -max_len=4096 -print_final_stats=1 \
	  -artifact_prefix=build/fuzz/ build/fuzz/corpus
endif
	$(BIN)/python -m tests.fuzz.pairs --metric m,x,b,celab,s --count $(FUZZ_PAIRS)
	$(BIN)/python -m tests.fuzz.resources --count $(FUZZ_FILES)
	$(BIN)/python -m tests.fuzz.calls --count $(FUZZ_CALLS)

# What is committed, in a clone of its own: nothing that lies about here is found.
LOWEST := build/lowest
test-lowest:
	rm -rf $(LOWEST)
	git clone --quiet . $(LOWEST)/clone
	$(PYTHON) tools/lowest_versions.py > $(LOWEST)/constraints.txt
	$(PYTHON) -m venv $(LOWEST)/venv
	cd $(LOWEST)/clone && ../venv/bin/pip install --quiet --disable-pip-version-check --constraint ../constraints.txt packages/data ".[test]" packages/papers
	cd $(LOWEST)/clone && ../venv/bin/pytest -p no:cacheprovider tests

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell src core docs research tools benchmarks packages README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md

WEB := tools/web
$(WEB)/node_modules/.installed: $(WEB)/package.json
	cd $(WEB) && npm install --silent --no-package-lock --no-audit --no-fund
	touch $@

check-js: $(WEB)/node_modules/.installed
	cd $(WEB) && npm run --silent types && npm run --silent format

$(VENV)/.browser: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "playwright>=1.40" "starlette>=0.40" "uvicorn>=0.30" "httptools>=0.6"
	test -n "$$TESLA_CHROMIUM" || command -v chromium > /dev/null || apt-get install --yes --no-install-recommends chromium \
	  || echo "There is no Chromium. Debian: apt-get install chromium"
	command -v npm > /dev/null || echo "There is no npm: the accessibility tests will be skipped."
	touch $@

# Tests that lack Chromium, Playwright or axe-core are skipped and say so.
test-browser: $(VENV)/.browser
	-test ! -x "$$(command -v npm)" || $(MAKE) --silent $(WEB)/node_modules/.installed
	$(BIN)/python -m pytest -m browser -rs -s tests/report/test_browser.py tests/serving/test_page_browser.py tests/judgements/test_judging_browser.py

screenshots: $(VENV)/.browser
	$(BIN)/python tools/report_screenshots.py docs/images

# The engines have an environment of their own. Their tests start clusters, so they are not part of `make test`.
ENGINES := build/engines
$(ENGINES)/.installed: $(SOURCES)
	test -x $(ENGINES)/bin/python || $(PYTHON) -m venv $(ENGINES)
	$(ENGINES)/bin/pip install --quiet --disable-pip-version-check --upgrade pip
	$(ENGINES)/bin/pip install --quiet --disable-pip-version-check --editable packages/data --editable ".[test,duckdb,ray,spark]"
	touch $@

test-engines: $(ENGINES)/.installed
	$(ENGINES)/bin/python -m pytest -p no:cacheprovider -W default -rs --override-ini addopts=-q tests/engines

bench-engines: $(ENGINES)/.installed
	$(ENGINES)/bin/python -m benchmarks engines

# One environment per neighbour: tests/plugs/NAME.txt says what it needs, tests/plugs/test_NAME.py tests it. All share one wheel.
PLUGS ?= $(basename $(notdir $(wildcard tests/plugs/*.txt)))
PLUG_WHEEL := build/plugs/wheel/.built
PLUG_PIP := bin/pip install --quiet --disable-pip-version-check
$(PLUG_WHEEL): $(SOURCES) $(shell find src -type f -not -name '*.pyc')
	rm -rf $(@D)
	for package in packages/data . packages/papers packages/neural; do \
	  $(PYTHON) -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir $(@D) ./$$package || exit 1; done
	touch $@

.PRECIOUS: build/plugs/%/.ready build/plugs/%/.installed
build/plugs/%/.ready: tests/plugs/%.txt
	test -x $(@D)/bin/python || $(PYTHON) -m venv $(@D)
	$(@D)/$(PLUG_PIP) pytest hypothesis --requirement $<
	touch $@

# Our own package goes last: whatever versions a neighbour pins stay.
build/plugs/%/.installed: build/plugs/%/.ready $(PLUG_WHEEL)
	$(@D)/$(PLUG_PIP) --force-reinstall --no-deps build/plugs/wheel/*.whl
	$(@D)/$(PLUG_PIP) --find-links build/plugs/wheel tesla-eval
	touch $@

test-plugs: $(foreach plug,$(PLUGS),build/plugs/$(plug)/.installed)
	for plug in $(PLUGS); do echo "== $$plug"; \
	  TESLA_PLUG=$$plug build/plugs/$$plug/bin/python -m pytest -p no:cacheprovider -W default -rs --override-ini addopts=-q \
	    tests/plugs/test_$$plug.py tests/plugs/test_table.py || exit 1; done

DOCS := build/docs-venv
$(DOCS)/.installed: tools/docs_requirements.txt
	test -x $(DOCS)/bin/python || $(PYTHON) -m venv $(DOCS)
	$(DOCS)/bin/pip install --quiet --disable-pip-version-check --requirement $<
	touch $@

# Links and anchors are checked, and every page must be in the navigation of mkdocs.yml.
docs: $(DOCS)/.installed $(VENV)/.installed
	$(BIN)/python tools/command_help.py > build/commands.md
	NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/mkdocs build --clean --strict
	@echo "the site is in build/site; with search: python -m http.server --directory build/site"

bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks

wheel: $(VENV)/.installed
	rm -f dist/*.whl
	for package in . packages/data packages/papers packages/neural; do $(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist ./$$package || exit 1; done
	$(BIN)/python tools/check_wheel.py dist/*.whl

# What would be published, built and tried in clean environments; ten minutes.
release-check: $(VENV)/.installed
	$(BIN)/python tools/release_check.py

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
