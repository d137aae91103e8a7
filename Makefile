# make demo, make test: everything from a fresh checkout. The rest is for those who work on it: see CONTRIBUTING.md.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BUILD_REQUIREMENTS := 'scikit-build-core>=1.1' 'cython>=3.3' 'cython-cmake>=0.3' 'numpy>=2.0' 'cmake>=3.25' 'ninja>=1.11'
KERNELS := CMakeLists.txt pyproject.toml $(wildcard ext/*/*)
# What the tests of Spark need besides it.
BESIDE_SPARK := pytest hypothesis
# Versions known to work, also of what packages are built with. CONTRIBUTING.md tells how to take the newest instead.
CONSTRAINTS ?= constraints.txt
export PIP_CONSTRAINT = $(CONSTRAINTS)
export PIP_BUILD_CONSTRAINT = $(CONSTRAINTS)
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo docs test test-slow test-tools test-spark checked fuzz browser faults concurrency scale bench bench-small bench-spark bench-spark-small lint audit test-wheel constraints constraints-tools constraints-spark clean

demo: $(VENV)/installed
	$(BIN)/tieaware demo

# Tests start Python some hundred times, each of which would compile the package anew where bytecode may not be kept. And of
# pytest's plugins they need two; where all load that there are, pytest rewrites these packages as it does the tests.
test test-slow: export PYTHONDONTWRITEBYTECODE :=
test test-slow: export PYTEST_DISABLE_PLUGIN_AUTOLOAD := 1
PYTEST := $(BIN)/python -m pytest -p xdist.plugin -p _hypothesis_pytestplugin -n 2 --dist loadfile --no-loadscope-reorder
# At most two minutes. Only single tests and parameters are marked slow, never a module: tests/project/test_gate.py.
test: $(VENV)/installed-test
	$(PYTEST) -m 'not slow'

# The slow cases: public collections, large samples, large reports.
test-slow: $(VENV)/installed-test
	$(PYTEST) -m slow

# The integrations of the tools that bring torch, in an environment of their own: several gigabytes, of which most is torch.
# tests/integrations skips what is not installed, but here nothing is.
test-tools: .venv-tools/installed
	.venv-tools/bin/python -m pytest tests/tools tests/integrations

# Spark, in an environment of its own, for it wants another pandas, and half a gigabyte. It needs Java 17 or later. WHEEL=dist/*.whl
# takes what is built, where kernels need not be built once more.
test-spark: .venv-spark/installed
	.venv-spark/bin/python -c 'from tieaware.integrations.spark import check_java; check_java()'
	.venv-spark/bin/python -m pytest tests/spark

# The whole suite against kernels that check indices and every access to memory. Python itself is not built for that,
# so the sanitizer must be loaded first, with the C++ library whose exceptions it wraps, and knows nothing of what Python
# leaks at exit, nor of how peers free memory.
checked: .venv-checked/installed
	LD_PRELOAD="$$($(CC) -print-file-name=libasan.so) $$($(CC) -print-file-name=libstdc++.so.6)" ASAN_OPTIONS=detect_leaks=0:alloc_dealloc_mismatch=0 PYTHONMALLOC=malloc \
	  .venv-checked/bin/python -m pytest $(TESTS)

# Each target for so many seconds, at most: libFuzzer on the parser and on the interface, then the engines and the doors
# against each other. What is found is printed, and kept in build/fuzz. See fuzz/README.md.
SECONDS ?= 60
CLANG ?= clang
fuzz: build/fuzz/driver $(VENV)/installed-test
	fuzz/run parser $(SECONDS)
	fuzz/run interface $(SECONDS)
	$(BIN)/python fuzz/differential.py --seconds $(SECONDS)

# What has hostile names, shown to a browser: without one, the suite skips that.
browser: $(VENV)/installed-test
	command -v chromium chromium-browser google-chrome || apt-get install --yes --no-install-recommends chromium
	$(BIN)/python -m pytest tests/commands/test_hostile_names.py

# What docs/reliability.md reports, each for itself: too long, or too large, for the suite. Memory and files that fail
# where a test says so, by a library that is loaded before that of C; with PYTHONMALLOC, Python asks it for every object.
faults: $(VENV)/installed-test build/faults.so
	LD_PRELOAD=$(CURDIR)/build/faults.so PYTHONMALLOC=malloc $(BIN)/python -m pytest tests/faults

build/faults.so: tests/faults/faults.c
	mkdir -p build
	$(CC) -O1 -g -Wall -shared -fPIC -o $@ $< -ldl

# And kernels that the thread sanitizer watches, which must find the race that is made on purpose, and no other. It does
# not know Python's own locks but by what they are made of, and wants addresses where it expects them.
RACES = setarch -R env LD_PRELOAD="$$($(CC) -print-file-name=libtsan.so)" PYTHONPATH=tests \
  .venv-watched/bin/python tests/concurrency/races.py
concurrency: $(VENV)/installed-test .venv-watched/installed
	$(BIN)/python -m pytest tests/concurrency
	$(RACES)
	! $(RACES) on purpose 2> build/race
	grep --quiet 'WARNING: ThreadSanitizer: data race' build/race

# At most 20 GiB of memory for each of its programs, and half an hour for all of them.
scale: $(VENV)/installed-test
	$(BIN)/python -m pytest tests/scale

# Fails if a target is missed that benchmarks/expected_to_miss.toml does not list. The record is written nevertheless, so
# this comes last.
bench: $(VENV)/installed-bench
	$(BIN)/python -m benchmarks.scaling
	$(BIN)/python -m pytest benchmarks --record

# Every benchmark with tiny workloads and without targets: each asserts its result, and all must still run.
bench-small: $(VENV)/installed-bench
	$(BIN)/python -m pytest benchmarks --small
	$(BIN)/python -m benchmarks.scaling --small

# Separate, because it takes three quarters of an hour. Its output is in docs/integrations/spark.md.
bench-spark: SMALL :=
bench-spark-small: SMALL := --small
bench-spark bench-spark-small: CONSTRAINTS := $(if $(CONSTRAINTS),constraints-spark.txt)
bench-spark bench-spark-small: .venv-spark/installed
	.venv-spark/bin/python -m pip install --quiet scikit-learn pytrec-eval-terrier
	.venv-spark/bin/python -m benchmarks.spark $(SMALL)

lint: $(VENV)/installed-lint
	$(BIN)/ruff check .
	PATH="$(BIN):$$PATH" cython-lint ext
	$(BIN)/mypy
	$(BIN)/mypy --platform win32 --cache-dir .mypy_cache/win32

# The distributions, in dist/, the wheel built from the sdist, and what the tools of packaging say of them. auditwheel says
# which Linux the wheel runs on: that of this machine, or newer; those that are published are built by cibuildwheel.
# BUILD='--sdist --wheel --no-isolation' takes the kernels of the environment, where these need not be built once more.
BUILD ?=
audit: $(VENV)/installed-release
	rm -rf dist
	$(BIN)/python -m build $(BUILD) --outdir dist .
	$(BIN)/twine check --strict dist/*
	$(BIN)/check-wheel-contents dist/*.whl
	$(BIN)/auditwheel show dist/*.whl

# The wheel in dist/ that fits this Python, alone in an environment, with the newest NumPy or another (NUMPY=2.0.0), and the
# tests that cibuildwheel runs.
TESTS_OF_WHEELS = $(shell $(PYTHON) -c 'from tomllib import load; print(load(open("pyproject.toml", "rb"))["tool"]["cibuildwheel"]["test-command"])')
test-wheel: CONSTRAINTS =
test-wheel:
	rm -rf build/wheel
	$(PYTHON) -m venv build/wheel/venv
	build/wheel/venv/bin/python -m pip install --quiet 'numpy$(if $(NUMPY),==$(NUMPY))' pytest hypothesis mpmath
	build/wheel/venv/bin/python -m pip install --quiet --no-index --find-links dist tieaware
	cp -R tests pyproject.toml build/wheel
	cd build/wheel && PATH="$$PWD/venv/bin:$$PATH" && $(TESTS_OF_WHEELS)

# The site, in site/: its pages are put together in build/docs, as some are files of other folders. The builder's warnings
# are errors; what it does not look at, it is checked for afterwards.
docs: $(VENV)/installed-docs
	$(BIN)/python docs/builder/stage.py build/docs
	$(BIN)/zensical build --clean --strict
	$(BIN)/python docs/builder/check.py site

# Record the newest versions that work together: everything that is installed here, and what source packages are built
# with, into an environment of its own. With the oldest Python supported, as the newest packages drop that one first.
constraints: CONSTRAINTS =
constraints:
	rm -rf build/constraints
	$(PYTHON) -m venv build/constraints
	build/constraints/bin/python -m pip install --quiet --upgrade setuptools wheel
	build/constraints/bin/python -m pip install --quiet $(BUILD_REQUIREMENTS) build '.[arrow,fast,retrieval,analysis,examples,ir-measures,lightgbm,xgboost,scikit-learn,test,bench,lint,docs,release]'
	build/constraints/bin/python -m pip install --quiet --no-deps beir
	build/constraints/bin/python -m pip freeze --all --exclude pip --exclude tieaware > build/constraints/frozen
	(echo '# Versions known to work together, for development alone. Made by: make constraints'; cat build/constraints/frozen) > constraints.txt

constraints-tools: CONSTRAINTS =
constraints-tools:
	rm -rf build/constraints
	$(PYTHON) -m venv build/constraints
	build/constraints/bin/python -m pip install --quiet --upgrade setuptools wheel
	build/constraints/bin/python -m pip install --quiet $(BUILD_REQUIREMENTS) '.[test,tools]'
	build/constraints/bin/python -m pip freeze --all --exclude pip --exclude tieaware > build/constraints/frozen
	(echo '# Versions known to work together, of the tools that bring torch, for development alone. Made by: make constraints-tools'; cat build/constraints/frozen) > constraints-tools.txt

constraints-spark: CONSTRAINTS =
constraints-spark:
	rm -rf build/constraints
	$(PYTHON) -m venv build/constraints
	build/constraints/bin/python -m pip install --quiet --upgrade setuptools wheel
	build/constraints/bin/python -m pip install --quiet $(BUILD_REQUIREMENTS) '.[spark]' $(BESIDE_SPARK) scikit-learn pytrec-eval-terrier
	build/constraints/bin/python -m pip freeze --all --exclude pip --exclude tieaware > build/constraints/frozen
	(echo '# Versions known to work together, of Spark, for development alone. Made by: make constraints-spark'; cat build/constraints/frozen) > constraints-spark.txt

clean:
	rm -rf $(VENV) .venv-checked .venv-fuzz .venv-watched .venv-tools .venv-spark build dist site .cache

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

# Editable: Python files take effect at once; kernels are built again when a file in ext/ changes.
$(VENV)/installed: $(KERNELS) $(CONSTRAINTS) | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet $(BUILD_REQUIREMENTS)
	$(BIN)/python -m pip install --quiet --no-build-isolation --editable .
	touch $@

# What an extra of the installed package requires. Third parties' packages, so those that come as source are built in
# isolation, with what they themselves require.
$(VENV)/installed-%: $(VENV)/installed
	$(BIN)/python -m pip install --quiet 'tieaware[$*]'
	touch $@

# And beir without what it requires for its models, torch among it: its evaluation needs none of that.
$(VENV)/installed-test: $(VENV)/installed
	$(BIN)/python -m pip install --quiet 'tieaware[test]'
	$(BIN)/python -m pip install --quiet --no-deps beir
	touch $@

.venv-checked/installed: $(KERNELS) $(CONSTRAINTS)
	$(PYTHON) -m venv .venv-checked
	.venv-checked/bin/python -m pip install --quiet $(BUILD_REQUIREMENTS)
	.venv-checked/bin/python -m pip install --quiet --no-build-isolation --editable . \
	  --config-settings=cmake.define.TIEAWARE_CHECKED=ON --config-settings=build-dir=build/checked
	.venv-checked/bin/python -m pip install --quiet 'tieaware[test]'
	.venv-checked/bin/python -m pip install --quiet --no-deps beir
	touch $@

# Kernels that say what they cover, and check every access to memory, built by the compiler that libFuzzer comes with.
.venv-fuzz/installed: $(KERNELS) $(CONSTRAINTS)
	$(PYTHON) -m venv .venv-fuzz
	.venv-fuzz/bin/python -m pip install --quiet $(BUILD_REQUIREMENTS)
	CC=$(CLANG) CFLAGS=-fsanitize=fuzzer-no-link .venv-fuzz/bin/python -m pip install --quiet --no-build-isolation --editable . \
	  --config-settings=cmake.define.TIEAWARE_CHECKED=ON --config-settings=build-dir=build/fuzz/kernels
	.venv-fuzz/bin/python -m pip install --quiet 'tieaware[arrow,fast,retrieval,analysis]' zstandard
	touch $@

build/fuzz/driver: fuzz/driver.c .venv-fuzz/installed
	$(CLANG) -std=c11 -O1 -g -Wall -fsanitize=fuzzer,address,undefined -rdynamic -o $@ $< \
	  $$(.venv-fuzz/bin/python -c 'from sysconfig import get_config_var as v, get_path; \
	     print("-I" + get_path("include"), "-L" + v("LIBDIR"), "-Wl,-rpath," + v("LIBDIR"), "-lpython" + v("LDVERSION"))')

.venv-watched/installed: $(KERNELS) $(CONSTRAINTS)
	$(PYTHON) -m venv .venv-watched
	.venv-watched/bin/python -m pip install --quiet $(BUILD_REQUIREMENTS) hypothesis
	.venv-watched/bin/python -m pip install --quiet --no-build-isolation --editable . \
	  --config-settings=cmake.define.TIEAWARE_WATCHED=ON --config-settings=build-dir=build/watched --config-settings=install.strip=false
	touch $@

# The tools ask for other versions of some packages than the rest of the development does, so that these have their own
# file. Kernels are built into a folder of their own, lest this environment and the other build over each other.
.venv-tools/installed: CONSTRAINTS := $(if $(CONSTRAINTS),constraints-tools.txt)
.venv-tools/installed: $(KERNELS) constraints-tools.txt
	$(PYTHON) -m venv .venv-tools
	.venv-tools/bin/python -m pip install --quiet $(BUILD_REQUIREMENTS)
	.venv-tools/bin/python -m pip install --quiet --no-build-isolation --editable . --config-settings=build-dir=build/tools
	.venv-tools/bin/python -m pip install --quiet 'tieaware[test,tools]'
	touch $@

.venv-spark/pyspark .venv-spark/installed: CONSTRAINTS := $(if $(CONSTRAINTS),constraints-spark.txt)
.venv-spark/pyspark: constraints-spark.txt
	$(PYTHON) -m venv .venv-spark
	.venv-spark/bin/python -m pip install --quiet pyspark pyarrow pandas $(BESIDE_SPARK)
	touch $@

.venv-spark/installed: $(KERNELS) .venv-spark/pyspark
ifdef WHEEL
	.venv-spark/bin/python -m pip install --quiet $(WHEEL)
else
	.venv-spark/bin/python -m pip install --quiet $(BUILD_REQUIREMENTS)
	.venv-spark/bin/python -m pip install --quiet --no-build-isolation --editable . --config-settings=build-dir=build/spark
endif
	.venv-spark/bin/python -m pip install --quiet 'tieaware[spark]'
	touch $@
