# Needs only Python 3.11 or newer and GNU make 4.3 or newer. Each target first creates .venv and
# installs its dependencies there.
#
#   make lab      opens the quickstart notebook in JupyterLab
#   make test     runs the tests                       make test ARGS="-x tests/rng"
#   make record   reruns the scenarios of %why whose recordings are stale, and saves new recordings
#   make mutants  disables one part of %why at a time; a test must fail each time
#
#   make test-tools      tests with papermill, nbconvert, MLflow and ipyparallel clusters
#   make test-browser    tests the inspector in JupyterLab and Notebook, in Chromium
#   make test-colab      tests the extension with Colab's versions of IPython and ipykernel
#   make test-libraries  tests with the libraries whose settings and streams we know
#   make test-versions   tests with the oldest and newest dependencies that pyproject.toml allows
#   make test-newest     runs all tests with the newest dependencies, in a separate environment
#   make test-all        all of these except test-newest, every scenario in a real kernel, mutants, docs
#
#   make bench    runs the benchmarks of this package and of similar tools
#   make lint     checks style, types, layers and wording; changes nothing
#   make format   fixes what ruff can fix
#
# To use another Python: make test PYTHON=python3.12. pip reads its usual environment variables, for
# example PIP_CONSTRAINT with a file of pinned versions.
#
# On Linux, torch from PyPI comes with several gigabytes of CUDA libraries. To get the CPU build
# instead, set this variable the first time:
#
#   PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu make lab

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
ARGS ?=
AS_ROOT := $(if $(filter 0,$(shell id -u)),--allow-root) # Jupyter requires it for root, as in a container

JS := tests/browser
# Node 20 or newer checks the types in the inspector's JavaScript. Without node, this is skipped.
NODE := $(shell command -v npm)
NO_NODE = node is not installed: the types in the inspector are not checked. This needs node 20 or newer.
NPM = $(if $(NODE),$(JS)/node_modules/.installed)

OLD = This is Python %s; ipytorchseed needs 3.11 or newer. Choose another: make PYTHON=python3.12

.PHONY: help lab test test-tools test-browser test-colab test-libraries test-versions test-newest test-all
.PHONY: record mutants bench docs picture lint format
.NOTPARALLEL: # parallel installs into one environment would conflict

help:
	@sed -n '/^# /!d; s/^# \{0,3\}//; /^make /p' Makefile

lab: $(VENV)/.installed-lab
	$(BIN)/python -m nbformat.sign notebooks/*.ipynb notebooks/gallery/*.ipynb
	$(BIN)/python -m jupyterlab notebooks/quickstart.ipynb $(AS_ROOT) $(ARGS)

.SECONDEXPANSION:
test: $(VENV)/.installed-test $$(NPM)
	@$(BIN)/python -m compileall -q ipytorchseed # so that each test process does not compile it
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

# One stamp file for each extra in pyproject.toml: install again only when pyproject.toml changes.
$(VENV)/.installed-%: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --editable '.[$*]'
	@touch $@

# Colab's old versions of IPython, ipykernel and ipywidgets. Other packages come from .venv.
$(VENV)/colab/.installed: tests/colab/requirements.txt $(VENV)/.installed-test
	$(BIN)/python -m venv $(VENV)/colab
	$(VENV)/colab/bin/python -m pip install --no-deps --requirement $<
	$(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' \
	  >"$$($(VENV)/colab/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/lent.pth"
	@touch $@

# The libraries whose settings and streams we know, in a separate environment because they are large.
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
