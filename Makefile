# Every target sets up what it needs: a fresh checkout takes Python >= 3.11, make and one of these lines.
#
#   make demo                     make test                     make test ARGS="tests/kernel -k registry"
#   make lint  make types         make format  make indexes  make stubs       make docs       make bench

PYTHON ?= python3
JOBS   ?= 2
ARGS   ?=

VENV  := .venv
BIN   := $(VENV)/bin
STAMP := $(VENV)/.installed

PYPROJECTS    := $(wildcard $(addsuffix /pyproject.toml,kernel plugins/* plugins_gpu/* plugins_passes stubs))
DISTRIBUTIONS := $(patsubst %/pyproject.toml,./%,$(PYPROJECTS))

.PHONY: venv demo test lint format types indexes stubs docs bench clean

venv: $(STAMP)

$(STAMP): pyproject.toml $(PYPROJECTS)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "treadle needs Python >= 3.11; `$(PYTHON)` is %d.%d. Try: make PYTHON=python3.11" % sys.version_info[:2])'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(addprefix -e ,$(DISTRIBUTIONS)) -e '.[test,dev]'
	@touch $@

demo: venv
	@$(BIN)/treadle demo

test: venv
	@$(BIN)/python -m pytest -n $(JOBS) --dist loadfile $(ARGS)

lint: venv
	$(BIN)/ruff check
	$(BIN)/ruff format --check

format: venv
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

types: venv
	$(BIN)/mypy
	$(BIN)/pyright

indexes: venv
	$(BIN)/python -m treadle_cli.indexes

stubs: venv
	$(BIN)/python -m treadle_cli.stubs

docs: venv
	$(BIN)/python -m treadle_cli.op_reference

bench: venv
	@$(BIN)/python tests/benchmarks/run.py $(ARGS)

clean:
	rm -rf $(VENV) build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache
	rm -rf $(addsuffix /build,$(DISTRIBUTIONS)) $(addsuffix /src/*.egg-info,$(DISTRIBUTIONS)) *.egg-info
