# make demo and make test work from a fresh checkout. CONTRIBUTING.md explains the other targets.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# pip is among them because the pip of a new environment may be too old for dependency groups.
BUILD_REQUIREMENTS := 'pip>=25.1' 'scikit-build-core>=1.1' 'cython>=3.3' 'cython-cmake>=0.3' 'numpy>=2.0' 'cmake>=3.25' 'ninja>=1.11'
KERNELS := CMakeLists.txt pyproject.toml $(wildcard ext/*.py ext/*/* src/tieaware/include/*)
# Packages that Spark's tests and benchmark need besides the extra. pyspark does not support pandas 3 yet.
BESIDE_SPARK := pytest hypothesis 'pandas>=2.2,<3' scikit-learn pytrec-eval-terrier
# Packages of which only some files are needed, and none of their requirements: beir's evaluation without torch, and the
# KaTeX that djangocms-katex carries without Django.
BESIDE_TEST := beir
BESIDE_DOCS := djangocms-katex
# Versions known to work, for builds too. CONTRIBUTING.md explains how to take the newest instead.
CONSTRAINTS ?= constraints/main.txt
export PIP_CONSTRAINT = $(CONSTRAINTS)
# For packages that come as source. pip refuses it together with --no-build-isolation.
export PIP_BUILD_CONSTRAINT = $(CONSTRAINTS)
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test lint docs bench test-tools test-spark test-wheel checked fuzz faults concurrency mutations scale audit constraints

demo: $(VENV)/installed
	$(BIN)/tieaware demo

# The tests start Python hundreds of times, so bytecode must be kept. They need only two of the installed pytest plugins;
# with autoload, pytest would rewrite the assertions of every plugin's package.
test: export PYTHONDONTWRITEBYTECODE :=
test: export PYTEST_DISABLE_PLUGIN_AUTOLOAD := 1
PYTEST := $(BIN)/python -m pytest -p xdist.plugin -p _hypothesis_pytestplugin -n 2 --dist loadfile --no-loadscope-reorder
# Four to eight minutes without the slow cases: public collections, large samples, large reports. SELECT= runs these too,
# SELECT='-m slow' these alone. Only single tests and parameters are slow, never a module: tests/project/test_gate.py.
SELECT ?= -m 'not slow'
test: $(VENV)/installed-test
	$(PYTEST) $(SELECT)

# The integrations of tools that bring torch (7 GB), in their own environment, where almost no test of tests/integrations
# is skipped.
test-tools: .venv-tools/installed
	.venv-tools/bin/python -m pytest tests/tools tests/integrations tests/conformance/test_tools.py tests/measures/test_measures_of_other_tools.py tests/engine/test_device_counts.py

# The Spark integration, in its own environment, because pyspark needs an older pandas. Needs Java 17 or later.
# WHEEL=dist/*.whl installs a built wheel instead of building the kernels again.
test-spark: .venv-spark/installed
	.venv-spark/bin/python -c 'from tieaware.integrations.spark import check_java; check_java()'
	.venv-spark/bin/python -m pytest tests/spark

# The whole suite against kernels with bounds checks and the address sanitizer. Python itself is built without it, so the
# sanitizer must be loaded first, together with the C++ library whose exceptions it wraps. Leak detection is off because
# Python does not free everything at exit.
checked: .venv-checked/installed
	LD_PRELOAD="$$($(CC) -print-file-name=libasan.so) $$($(CC) -print-file-name=libstdc++.so.6)" ASAN_OPTIONS=detect_leaks=0:alloc_dealloc_mismatch=0 PYTHONMALLOC=malloc \
	  .venv-checked/bin/python -m pytest $(TESTS)

# Each fuzzer runs for SECONDS: table files, producers of Arrow tables, stored files, then the engines and entry points
# against each other, and with clang libFuzzer on the parser and on the interface. Finds are printed and kept in
# build/fuzz. See fuzz/README.md.
SECONDS ?= 60
CLANG ?= clang
fuzz: $(VENV)/installed-test
	$(BIN)/python fuzz/tables.py --seconds $(SECONDS)
	$(BIN)/python fuzz/producers.py --seconds $(SECONDS)
	$(BIN)/python fuzz/stored.py --seconds $(SECONDS)
	$(BIN)/python fuzz/differential.py --seconds $(SECONDS)
	$(BIN)/python fuzz/interface.py --seconds $(SECONDS)
	if command -v $(CLANG) > /dev/null; then \
	  $(MAKE) build/fuzz/driver && fuzz/run parser $(SECONDS) && fuzz/run interface $(SECONDS); \
	else echo "no $(CLANG): the two fuzzers of compiled code are left out"; fi

# The tests of docs/reliability.md that are too long or too large for the suite. A preloaded library makes allocations,
# reads and writes fail where a test says so; with PYTHONMALLOC=malloc, Python allocates every object through it.
faults: $(VENV)/installed-test build/faults.so
	LD_PRELOAD=$(CURDIR)/build/faults.so PYTHONMALLOC=malloc $(BIN)/python -m pytest tests/faults

build/faults.so: tests/faults/faults.c
	mkdir -p build
	$(CC) -O1 -g -Wall -shared -fPIC -o $@ $< -ldl

# The thread sanitizer must find the deliberate race and no other. setarch turns off address randomisation, which the
# sanitizer does not support on every kernel.
RACES = setarch -R env LD_PRELOAD="$$($(CC) -print-file-name=libtsan.so)" PYTHONPATH=tests \
  .venv-watched/bin/python tests/concurrency/races.py
concurrency: $(VENV)/installed-test .venv-watched/installed
	$(BIN)/python -m pytest tests/concurrency
	$(RACES)
	! $(RACES) on purpose 2> build/race
	grep --quiet 'WARNING: ThreadSanitizer: data race' build/race
	$(MAKE) checked TESTS=tests/concurrency/test_changing_scores.py

# The suite is tested too: it must find each of 74 faults that are planted in a copy of the sources, in less than
# 20 minutes for all.
mutations: $(VENV)/installed-test
	$(BIN)/python -m pytest tests/mutations

# At most 20 GiB of memory for each program, and half an hour in total.
scale: $(VENV)/installed-test
	$(BIN)/python -m pytest tests/scale

# Fails if a target is missed that benchmarks/expected_to_miss.toml does not list. The record is written nevertheless, so
# this comes last. SMALL=--small runs tiny workloads without targets: each asserts its result, and all must still run.
SMALL :=
bench: $(VENV)/installed-bench
	$(BIN)/python -m benchmarks.scaling $(SMALL)
	$(BIN)/python -m pytest benchmarks $(or $(SMALL),--record)

lint: $(VENV)/installed-lint
	$(BIN)/ruff check .
	PATH="$(BIN):$$PATH" cython-lint ext
	$(BIN)/mypy
	$(BIN)/mypy --platform win32 --cache-dir .mypy_cache/win32
	$(BIN)/python -m pytest -q tests/typing

# The sdist and the wheel built from it, in dist/, checked by the packaging tools. auditwheel prints the oldest Linux that
# the wheel runs on; published wheels are built by cibuildwheel. BUILD='--sdist --wheel --no-isolation' reuses the kernels
# of the environment.
BUILD ?=
audit: $(VENV)/installed-release
	rm -rf dist
	$(BIN)/python -m build $(BUILD) --outdir dist .
	$(BIN)/twine check --strict dist/*
	$(BIN)/check-wheel-contents dist/*.whl
	$(BIN)/auditwheel show dist/*.whl

# The tests that cibuildwheel runs, on the wheel in dist/ for this Python, in an environment with the newest NumPy or
# another (NUMPY=2.0.0).
TESTS_OF_WHEELS = $(shell $(PYTHON) -c 'from tomllib import load; print(load(open("pyproject.toml", "rb"))["tool"]["cibuildwheel"]["test-command"])')
test-wheel: CONSTRAINTS =
test-wheel:
	rm -rf build/wheel
	$(PYTHON) -m venv build/wheel/venv
	build/wheel/venv/bin/python -m pip install --quiet 'numpy$(if $(NUMPY),==$(NUMPY))' pytest hypothesis mpmath
	build/wheel/venv/bin/python -m pip install --quiet --no-index --find-links dist tieaware
	cp -R tests pyproject.toml build/wheel
	cd build/wheel && PATH="$$PWD/venv/bin:$$PATH" && $(TESTS_OF_WHEELS)

# The site, in build/site. Its pages are staged in build/docs, because some lie in other folders. Warnings of the builder
# are errors; check.py checks what the builder does not. If Chromium is on PATH, the suite then opens some pages in it.
docs: $(VENV)/installed-docs
	$(BIN)/python -m website.stage build
	cd build && $(abspath $(BIN))/zensical build --clean --strict
	$(BIN)/python -m website.check build/site

# Record the newest versions that work together, including build requirements, from a separate environment. Use the
# oldest supported Python, which the newest packages drop first. OF=tools and OF=spark record those of these environments.
OF ?= main
FROM_main := --group test --group bench --group docs --group lint --group release
FROM_tools := --group test --group tools
FROM_spark := 'tieaware[spark]' $(BESIDE_SPARK)
ALONE_main := $(BESIDE_TEST) $(BESIDE_DOCS)
constraints: CONSTRAINTS =
constraints:
	rm -rf build/constraints
	$(PYTHON) -m venv build/constraints
	build/constraints/bin/python -m pip install --quiet --upgrade setuptools wheel $(BUILD_REQUIREMENTS)
	build/constraints/bin/python -m pip install --quiet build . $(FROM_$(OF))
	$(if $(ALONE_$(OF)),build/constraints/bin/python -m pip install --quiet --no-deps $(ALONE_$(OF)))
	build/constraints/bin/python -m pip freeze --all --exclude tieaware > build/constraints/frozen
	(echo '# Versions known to work together, for development alone. Made by: make $@ OF=$(OF)'; cat build/constraints/frozen) \
	  > constraints/$(OF).txt

%/bin/python:
	$(PYTHON) -m venv $*

# An editable install: Python files take effect at once, kernels are rebuilt when a file in ext/ changes.
# A new version is installed again, because the metadata repeats it. Modules of the build requirements are compiled when
# they are first imported: compiling all of them takes half of the time of their installation.
$(VENV)/installed: export PYTHONDONTWRITEBYTECODE :=
$(VENV)/installed: $(KERNELS) src/tieaware/_version.py $(CONSTRAINTS) | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --no-compile $(BUILD_REQUIREMENTS)
	PIP_BUILD_CONSTRAINT= $(BIN)/python -m pip install --quiet --no-build-isolation --editable .
	touch $@

# The requirements of one dependency group. Packages that come as source are built in isolation.
$(VENV)/installed-%: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --group $*
	touch $@

$(VENV)/installed-test: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --group test
	$(BIN)/python -m pip install --quiet --no-deps $(BESIDE_TEST)
	touch $@

$(VENV)/installed-docs: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --group docs
	$(BIN)/python -m pip install --quiet --no-deps $(BESIDE_DOCS)
	touch $@

.venv-checked/installed: $(KERNELS) $(CONSTRAINTS) | .venv-checked/bin/python
	.venv-checked/bin/python -m pip install --quiet $(BUILD_REQUIREMENTS)
	PIP_BUILD_CONSTRAINT= .venv-checked/bin/python -m pip install --quiet --no-build-isolation --editable . \
	  --config-settings=cmake.define.TIEAWARE_CHECKED=ON --config-settings=build-dir=build/checked
	.venv-checked/bin/python -m pip install --quiet --group test
	.venv-checked/bin/python -m pip install --quiet --no-deps $(BESIDE_TEST)
	touch $@

# Kernels with coverage instrumentation and the address sanitizer, built by clang, which brings libFuzzer.
.venv-fuzz/installed: $(KERNELS) $(CONSTRAINTS) | .venv-fuzz/bin/python
	.venv-fuzz/bin/python -m pip install --quiet $(BUILD_REQUIREMENTS)
	CC=$(CLANG) CFLAGS=-fsanitize=fuzzer-no-link PIP_BUILD_CONSTRAINT= .venv-fuzz/bin/python -m pip install --quiet --no-build-isolation --editable . \
	  --config-settings=cmake.define.TIEAWARE_CHECKED=ON --config-settings=build-dir=build/fuzz/kernels
	.venv-fuzz/bin/python -m pip install --quiet 'tieaware[arrow,fast,retrieval,analysis]' --group frames zstandard
	touch $@

build/fuzz/driver: fuzz/driver.c .venv-fuzz/installed
	$(CLANG) -std=c11 -O1 -g -Wall -fsanitize=fuzzer,address,undefined -rdynamic -o $@ $< \
	  $$(.venv-fuzz/bin/python -c 'from sysconfig import get_config_var as v, get_path; \
	     print("-I" + get_path("include"), "-L" + v("LIBDIR"), "-Wl,-rpath," + v("LIBDIR"), "-lpython" + v("LDVERSION"))')

.venv-watched/installed: $(KERNELS) $(CONSTRAINTS) | .venv-watched/bin/python
	.venv-watched/bin/python -m pip install --quiet $(BUILD_REQUIREMENTS) hypothesis
	PIP_BUILD_CONSTRAINT= .venv-watched/bin/python -m pip install --quiet --no-build-isolation --editable . \
	  --config-settings=cmake.define.TIEAWARE_WATCHED=ON --config-settings=build-dir=build/watched --config-settings=install.strip=false
	touch $@

# The tools need other versions of some packages, so they have their own constraints file, and their own build folder, so
# that the two environments do not overwrite each other's kernels.
.venv-tools/installed: CONSTRAINTS := $(if $(CONSTRAINTS),constraints/tools.txt)
.venv-tools/installed: $(KERNELS) constraints/tools.txt | .venv-tools/bin/python
	.venv-tools/bin/python -m pip install --quiet $(BUILD_REQUIREMENTS)
	PIP_BUILD_CONSTRAINT= .venv-tools/bin/python -m pip install --quiet --no-build-isolation --editable . --config-settings=build-dir=build/tools
	.venv-tools/bin/python -m pip install --quiet --group test --group tools
	touch $@

.venv-spark/pyspark .venv-spark/installed: CONSTRAINTS := $(if $(CONSTRAINTS),constraints/spark.txt)
.venv-spark/pyspark: constraints/spark.txt | .venv-spark/bin/python
	.venv-spark/bin/python -m pip install --quiet pyspark pyarrow $(BESIDE_SPARK)
	touch $@

.venv-spark/installed: $(KERNELS) .venv-spark/pyspark
ifdef WHEEL
	.venv-spark/bin/python -m pip install --quiet $(WHEEL)
else
	.venv-spark/bin/python -m pip install --quiet $(BUILD_REQUIREMENTS)
	PIP_BUILD_CONSTRAINT= .venv-spark/bin/python -m pip install --quiet --no-build-isolation --editable . --config-settings=build-dir=build/spark
endif
	.venv-spark/bin/python -m pip install --quiet 'tieaware[spark]'
	touch $@
