# make demo and make test do everything on a fresh clone: they need Python >= 3.11 and a C++ compiler.

PYTHON ?= python3
# The oldest NumPy we allow has no wheels for the newest Pythons.
PYTHON_OLDEST ?= $(shell python3.11 --version >/dev/null 2>&1 && echo python3.11 || echo $(PYTHON))
WORKERS ?= 2

BIN := .venv/bin
SOURCES := pyproject.toml CMakeLists.txt $(wildcard src/svmselect/machine/*.cpp src/svmselect/machine/*.hpp)
MARKED := slow or torch or browser or cluster or onnx
# One BLAS thread a worker: more would only fight over the cores.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1

.PHONY: install install-all demo test test-all test-marked test-oldest coverage fuzz sanitize lint format \
	docs bench clean

install: .venv/installed

.venv/installed: $(SOURCES)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python >= 3.11 is needed: make PYTHON=...")'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet scikit-build-core nanobind cmake ninja
	$(BIN)/python -m pip install --quiet --no-build-isolation --editable ".[dev]"
	@$(BIN)/python -c 'import svmselect.machine._native' 2>/dev/null || \
		echo "Note: the C++ extension did not build, NumPy stands in. SVMSELECT_REQUIRE_NATIVE=1 make install says why."
	@touch $@

# What the marked tests need besides; torch is left to the user (.ci/run names the version).
install-all: .venv/installed-all

.venv/installed-all: .venv/installed
	$(BIN)/python -m pip install --quiet --no-build-isolation --editable ".[dev,cluster,diagnostics,docs,onnx,papers]"
	@touch $@

.venv/installed-docs: .venv/installed
	$(BIN)/python -m pip install --quiet --no-build-isolation --editable ".[dev,docs]"
	@touch $@

demo: install
	$(BIN)/python -m svmselect demo -o output/demo

test: install
	$(ONE_THREAD) $(BIN)/pytest -n $(WORKERS) -m "not ($(MARKED))"

test-all: test-marked test-oldest coverage sanitize fuzz

test-marked: install-all
	$(ONE_THREAD) $(BIN)/pytest -n $(WORKERS) -m "$(MARKED)"

# The plain tests against the lower bounds in pyproject.toml.
test-oldest: .venv-oldest/installed
	$(ONE_THREAD) .venv-oldest/bin/pytest -n $(WORKERS) -m "not ($(MARKED))"

.venv-oldest/installed: $(SOURCES) tools/oldest.py
	test -x .venv-oldest/bin/python || $(PYTHON_OLDEST) -m venv .venv-oldest
	.venv-oldest/bin/python -m pip install --quiet --upgrade pip
	.venv-oldest/bin/python tools/oldest.py > .venv-oldest/constraints.txt
	.venv-oldest/bin/python -m pip install --quiet --constraint .venv-oldest/constraints.txt \
		--config-settings build-dir=build/oldest --editable ".[test]"
	@touch $@

# Branches of the solver and of the probabilities, by the tests of what they do; below 95 % is an error.
coverage: install
	$(ONE_THREAD) $(BIN)/pytest -q -n $(WORKERS) -m "not ($(MARKED))" --cov --cov-report= \
		tests/machine tests/probability tests/posterior/test_kappa.py \
		tests/estimators/test_machines.py tests/estimators/test_decisions.py \
		--ignore tests/machine/test_headers.py
	$(BIN)/coverage json -q
	$(BIN)/python tools/covered.py

# Each target for $(SECONDS): inputs that are damaged, odd or hostile (fuzz/run.py), by default the
# same ones, so that a change is judged by what it changes; SEED=1 and so on tries others.
SECONDS ?= 60
SEED ?= 0
FUZZED := $(sort $(patsubst fuzz/targets/%.py,%,$(wildcard fuzz/targets/[a-z]*.py)))

fuzz: install
	printf '%s\n' $(FUZZED) | $(ONE_THREAD) xargs -P $(WORKERS) -I TARGET \
		$(BIN)/python -m fuzz.run TARGET --seconds $(SECONDS) --seed $(SEED)

# The tests of the compiled code, and fuzzing it, under AddressSanitizer and
# UndefinedBehaviorSanitizer. Python itself is not watched, so the library comes first by LD_PRELOAD.
sanitize: .venv-sanitized/installed
	$(ONE_THREAD) $(WATCHED) .venv-sanitized/bin/python -m pytest -q -m "not ($(MARKED))" tests/machine \
		--ignore tests/machine/test_headers.py
	$(ONE_THREAD) $(WATCHED) .venv-sanitized/bin/python -m fuzz.run solver --seconds $(SECONDS) --seed $(SEED)

WATCHED = SVMSELECT_WATCHED=1 ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 \
	LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libstdc++.so)"

# The dependencies are those of .venv; the package is installed anew.
.venv-sanitized/installed: install $(SOURCES) $(shell find src/svmselect -name '*.py')
	test -x .venv-sanitized/bin/python || $(PYTHON) -m venv .venv-sanitized
	$(BIN)/python -c 'import site; print(*site.getsitepackages())' \
		> "$$(.venv-sanitized/bin/python -c 'import site; print(*site.getsitepackages())')/borrowed.pth"
	.venv-sanitized/bin/python -m pip install --quiet --no-deps --no-build-isolation --force-reinstall \
		--config-settings build-dir=build/sanitized --config-settings cmake.define.SVMSELECT_SANITIZE=ON .
	@touch $@

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

format: install
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The site, from the package, examples/ and docs/; open build/docs/index.html. autosummary leaves the
# pages of what is gone behind.
docs: .venv/installed-docs
	@rm -rf docs/reference/generated
	$(ONE_THREAD) $(BIN)/sphinx-build -W --keep-going -q -d build/doctrees -b html docs build/docs
	@echo "Open build/docs/index.html"

# A table of ratios against peers, about five minutes; RECORD=1 keeps it as this version's line of
# benchmarks/history.csv. The other benchmarks are run by themselves: their docstrings say how.
bench: install .venv-liquidsvm/tried
	@$(ONE_THREAD) $(BIN)/python benchmarks/peers.py $(if $(RECORD),--record)

# liquidSVM is old and under the AGPL: an environment of its own, and no harm where it does not build.
.venv-liquidsvm/tried:
	$(PYTHON) -m venv .venv-liquidsvm
	-.venv-liquidsvm/bin/python -m pip install --quiet "setuptools<81" wheel numpy
	-.venv-liquidsvm/bin/python -m pip install --quiet --no-build-isolation liquidSVM==1.0.1
	@touch $@

clean:
	rm -rf docs/criteria docs/kernels docs/searches docs/gallery docs/figures docs/extra docs/reference/generated
	rm -rf .venv .venv-liquidsvm .venv-oldest .venv-sanitized build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache
