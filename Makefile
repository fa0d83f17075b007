# Everything here begins with Python 3.11 or newer and this folder, and nothing else: each target
# first makes .venv and installs into it what it needs. GNU make 4.3 or newer.
#
#   make lab      opens the quickstart notebook in JupyterLab
#   make test     runs the tests                       make test ARGS="-x tests/rng"
#   make record   plays the scenarios of %why whose recordings are stale, and writes them
#   make mutants  switches off one part of %why at a time; a test must fail
#
#   make test-tools      tests with papermill, nbconvert, MLflow and ipyparallel clusters
#   make test-browser    tests the inspector in JupyterLab and Notebook, in Chromium
#   make test-colab      tests the extension with Colab's versions of IPython and ipykernel
#   make test-libraries  tests with the libraries whose settings and streams are known
#   make test-versions   tests with the oldest and newest libraries that pyproject.toml allows
#   make test-newest     runs all tests with the newest libraries, in a separate environment
#   make test-all        all of that, every scenario in a real kernel, mutants and documentation
#
#   make bench    runs the benchmarks and those of similar tools
#   make lint     style, types, layers, wording; changes nothing
#   make format   fixes what the style tools can fix
#
# Another Python: make test PYTHON=python3.12. pip's own variables hold as usual, for instance
# PIP_CONSTRAINT for a file of versions to stay with.
#
# On Linux the torch of PyPI brings the CUDA libraries, several gigabytes. For the CPU build, the
# first time:
#
#   PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu make lab

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
ARGS ?=
AS_ROOT := $(if $(filter 0,$(shell id -u)),--allow-root) # in a container; Jupyter asks for it

JS := tests/browser
# Node 20 or newer checks the inspector's module. Where there is none, that is left out.
NODE := $(shell command -v npm)
NO_NODE = node is not installed: the inspector's module is not checked. It takes node 20 or newer.
NPM = $(if $(NODE),$(JS)/node_modules/.installed)

OLD = This is Python %s; ipytorchseed needs 3.11 or newer. Name one: make PYTHON=python3.12

.PHONY: help lab test test-tools test-browser test-colab test-libraries test-versions test-newest test-all
.PHONY: record mutants bench docs picture lint format
.NOTPARALLEL: # two installs into one environment would fight

help:
	@sed -n '/^# /!d; s/^# \{0,3\}//; /^make /p' Makefile

lab: $(VENV)/.installed-lab
	$(BIN)/python -m nbformat.sign notebooks/*.ipynb notebooks/gallery/*.ipynb
	$(BIN)/python -m jupyterlab notebooks/quickstart.ipynb $(AS_ROOT) $(ARGS)

.SECONDEXPANSION:
test: $(VENV)/.installed-test $$(NPM)
	@$(BIN)/python -m compileall -q ipytorchseed # once, and not in each of many processes
	$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder --ignore=tests/browser --ignore=tests/colab \
	  --ignore=tests/libraries $(ARGS)

test-tools: $(VENV)/.installed-test
	$(BIN)/python -m pytest --tools -m tools tests/test_where.py tests/test_mlflow.py tests/cluster \
	  tests/notebook/test_engines.py $(ARGS)

test-browser: $(VENV)/.installed-test $$(NPM)
	$(BIN)/python -m pytest --require-all tests/browser $(ARGS)

test-colab: $(VENV)/colab/.installed
	$(BIN)/python -m pytest tests/colab $(ARGS)

test-libraries: $(VENV)/libraries/.installed
	$(BIN)/python -m pytest --require-all tests/libraries $(ARGS)

test-versions: $(VENV)/.installed-dev
	.ci/versions $(ARGS)

test-newest:
	rm -rf .venv/newest-test
	env -u PIP_CONSTRAINT $(MAKE) test VENV=.venv/newest-test ARGS='--torch-release $(ARGS)'

test-all:
	$(MAKE) test ARGS='--everything --require-all --tools --torch-release'
	$(MAKE) test-browser
	$(MAKE) test-colab
	$(MAKE) test-libraries
	$(MAKE) test-versions
	$(MAKE) test-versions ARGS=scenarios
	$(MAKE) mutants
	$(MAKE) docs

record: $(VENV)/.installed-test
	$(BIN)/python -m tests.scenarios --record $(ARGS)

mutants: $(VENV)/.installed-test
	$(BIN)/python -m tests.why.mutants $(ARGS)

bench: $(VENV)/.installed-bench
	$(BIN)/python -m benchmarks $(ARGS)

docs: $(VENV)/.installed-docs
	$(BIN)/python -m sphinx --fresh-env --fail-on-warning --keep-going --quiet $(ARGS) docs docs/_build

picture: $(VENV)/.installed-test
	$(BIN)/python -m docs.picture

lint: $(VENV)/.installed-dev $$(NPM)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/python -m tests.wording
	@$(if $(NODE),cd $(JS) && npm run --silent types,echo "$(NO_NODE)")

format: $(VENV)/.installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# One stamp for each extra of pyproject.toml, so that an install is done once and again when
# pyproject.toml changes.
$(VENV)/.installed-%: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --editable '.[$*]'
	@touch $@

# Colab's IPython, ipykernel and widgets, older than those beside the tests, which lend it the rest.
$(VENV)/colab/.installed: tests/colab/requirements.txt $(VENV)/.installed-test
	$(BIN)/python -m venv $(VENV)/colab
	$(VENV)/colab/bin/python -m pip install --no-deps --requirement $<
	$(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' \
	  >"$$($(VENV)/colab/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/lent.pth"
	@touch $@

# Libraries whose settings and streams are known, in a separate environment: they are large.
$(VENV)/libraries/.installed: pyproject.toml $(VENV)/.installed-test
	$(BIN)/python -m venv $(VENV)/libraries
	$(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' \
	  >"$$($(VENV)/libraries/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/lent.pth"
	$(VENV)/libraries/bin/python -m pip install --editable '.[test-libraries]'
	@touch $@

$(JS)/node_modules/.installed: $(JS)/package-lock.json
	cd $(JS) && npm ci --no-audit --no-fund --ignore-scripts
	@touch $@

$(BIN)/python:
	@$(PYTHON) -c 'import sys; v = sys.version_info; v < (3, 11) and sys.exit("$(OLD)" % sys.version.split()[0])'
	$(PYTHON) -m venv $(VENV)
