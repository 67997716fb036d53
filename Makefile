# The table of contents: demo, test, lint, bench, docs, notebooks, spark-archive, sanitize, emulate, wheels, torture, soak, fuzz, clean.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := pyproject.toml CMakeLists.txt $(shell find native src -type f -not -name '*.pyc')
NATIVE = $(shell find native -name '*.hpp' -o -name '*.cpp')
SANITIZED := build/sanitized
COVERAGE := build/coverage.json
PEERS := $(VENV)/peers
CLANGS := clang++ clang++-19 clang++-18 clang++-17 clang++-16 clang++-15 clang++-14
CLANG ?= $(firstword $(foreach name,$(CLANGS),$(shell command -v $(name))))
FUZZED := build/fuzz
SECONDS ?= 900
MINUTES ?= 45

.PHONY: demo test lint format bench docs notebooks spark-archive sanitize emulate wheels torture soak fuzz clean

demo: $(VENV)/installed
	$(BIN)/neardup dedup examples/sample.jsonl -o demo-out --overwrite
	@echo
	$(BIN)/neardup compare examples/notice-v1.txt examples/notice-v2.txt
	@echo
	@echo "The clean collection is demo-out/kept.parquet; open demo-out/report.html for the whole story."
	@echo "To look at every cluster in the browser: $(BIN)/neardup explore demo-out"

# slipcover removes its probes from lines that have run. Measured in CPU time with Python 3.11: 3 % more
# on tests/features, 21 % on tests/torture; coverage.py took more than twice the time. Processes that
# tests start are not measured.
test: $(VENV)/installed $(VENV)/browser $(VENV)/java
	@mkdir -p build
	$(BIN)/python -m slipcover --source src/neardup --json --out $(COVERAGE) \
	  -m pytest -n auto --dist loadfile
	@$(BIN)/python -c "import json; print('Line coverage of src/neardup: %.1f %%' % \
	  json.load(open('$(COVERAGE)'))['summary']['percent_covered'])"

lint: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy --platform darwin --cache-dir .mypy_cache/darwin src
	$(BIN)/mypy --platform win32 --cache-dir .mypy_cache/win32 \
	  --follow-imports silent --exclude src/neardup/service src
	$(BIN)/clang-format --dry-run -Werror $(NATIVE)
	$(BIN)/codespell

format: $(VENV)/installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(NATIVE)

# Every benchmark with its peers, then the page made of the results: takes some minutes.
# simhash-pybind lives apart because it installs a module of the same name as simhash, text-dedup
# because it brings some seventy packages along.
bench: $(VENV)/installed
	$(BIN)/python -m pip install -q -e '.[dev,bench]'
	$(BIN)/python -m pip install -q --no-deps --upgrade --target $(PEERS)/simhash-pybind simhash-pybind==0.0.3
	test -x $(PEERS)/text-dedup/bin/python || $(PYTHON) -m venv $(PEERS)/text-dedup
	$(PEERS)/text-dedup/bin/python -m pip install -q text-dedup==0.4.0
	$(BIN)/python -m benchmarks

# What is made from the program and the results, then the site: build/site/html. PORT=8000 serves it, too.
docs: $(VENV)/installed
	$(BIN)/python scripts/command_pages.py
	$(BIN)/python scripts/http_api_page.py
	$(BIN)/python -m scripts.readme_numbers
	$(BIN)/python -m scripts.concept_pictures
	$(BIN)/python -m scripts.site $(if $(PORT),--serve $(PORT))

# Run the notebooks and store them with their output.
notebooks: $(VENV)/installed
	$(BIN)/python -m scripts.notebooks

# An environment for the executors of a Spark cluster, build/neardup-spark.tar.gz, with PACKAGES such as s3fs.
spark-archive: $(VENV)/installed
	$(BIN)/python -m pip install -q venv-pack==0.2.0
	$(BIN)/python scripts/spark_archive.py $(PACKAGES)

sanitize: $(VENV)/installed
	$(BIN)/cmake -S . -B $(SANITIZED) -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN))/ninja \
	  -DNEARDUP_PYTHON=OFF -DNEARDUP_TESTS=ON -DNEARDUP_SANITIZE=ON
	$(BIN)/cmake --build $(SANITIZED)
	$(SANITIZED)/native_tests
	$(SANITIZED)/fuzz_replay tests/fuzz_corpus | tail -n 1

# The native tests on instruction sets that this machine may lack: NEON by qemu, AVX-512 by Bochs.
emulate: $(VENV)/installed
	$(BIN)/python -m scripts.emulate

# The source distribution and the wheels that this machine can build, in dist, each tried without a
# compiler on every Python that is here. Needs only Python, and a compiler where zig is not used.
wheels:
	$(PYTHON) -m scripts.wheels

# Hostile trials of the whole program for MINUTES, and the figures of docs/how-it-works/reliability.md.
torture: $(VENV)/installed
	$(BIN)/python -m tests.torture --minutes $(MINUTES) --json benchmarks/results/torture.json
	$(BIN)/python scripts/reliability_page.py

# Mixed load on `neardup serve` for MINUTES, then 50 times kill -9 under load.
soak: MINUTES = 30
soak: $(VENV)/installed
	$(BIN)/python -m tests.soak --minutes $(MINUTES) --kills 50

# Each fuzzer of the native readers for SECONDS. What is found is a file build/fuzz/crash-*; what is
# new stays in build/fuzz/corpus, from which scripts/reduce_fuzz_corpus.py chooses what is kept.
fuzz: $(VENV)/installed
	@test -n "$(CLANG)" || { echo "The fuzzers need clang: apt install clang libclang-rt-14-dev, or CLANG=..."; exit 1; }
	$(BIN)/cmake -S . -B $(FUZZED) -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN))/ninja \
	  -DNEARDUP_PYTHON=OFF -DNEARDUP_FUZZ=ON -DCMAKE_CXX_COMPILER=$(CLANG)
	$(BIN)/cmake --build $(FUZZED)
	$(BIN)/python scripts/fuzz.py --seconds $(SECONDS)
	$(BIN)/python scripts/reliability_page.py

$(VENV)/installed: $(SOURCES)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --upgrade pip
	$(BIN)/python -m pip install -q -e '.[dev]'
	@touch $@

# Chromium for tests/explore/browser, where it may be installed; without it, those tests skip.
$(VENV)/browser: | $(VENV)/installed
	@mkdir -p build
	@if ! { command -v chromium || command -v chromium-browser || command -v google-chrome; } >/dev/null \
	  && test "$$(id -u)" = 0 && command -v apt-get >/dev/null; then \
	  echo "Installing Chromium for the tests (build/browser.log)"; \
	  { apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y \
	    --no-install-recommends chromium fonts-noto-cjk fonts-noto-core; } >build/browser.log 2>&1 || \
	    echo "Chromium could not be installed, so the tests in a browser will skip."; \
	fi
	@touch $@

# Java for tests/distributed, where it may be installed; without it, the tests on Spark skip.
$(VENV)/java: | $(VENV)/installed
	@mkdir -p build
	@if ! command -v java >/dev/null && test -z "$$JAVA_HOME" && test "$$(id -u)" = 0 \
	  && command -v apt-get >/dev/null; then \
	  echo "Installing Java for the tests (build/java.log)"; \
	  { apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y \
	    --no-install-recommends default-jre-headless; } >build/java.log 2>&1 || \
	    echo "Java could not be installed, so the tests on Spark will skip."; \
	fi
	@touch $@

clean:
	rm -rf $(VENV) build dist demo-out .pytest_cache .mypy_cache .ruff_cache .hypothesis
