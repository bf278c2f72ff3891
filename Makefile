# Errata: `make up` starts it, `make test` checks it. `make` lists the rest.

SHELL := /bin/sh
VENV := .venv
BIN := $(VENV)/bin
UV := uv==0.13.9

# The first interpreter that is 3.11 or newer, runs (a pyenv shim may not) and
# can make a virtual environment. Say `make PYTHON=…` for another one.
PYTHON ?= $(shell for name in python3.11 python3.12 python3 python3.13 python \
	/usr/bin/python3; do \
	"$$name" -c 'import ensurepip, ssl, sys, venv; sys.exit(sys.version_info < (3, 11))' \
	>/dev/null 2>&1 && { echo "$$name"; break; }; done)

PIP_INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check \
	--require-hashes --only-binary :all:

# Without its interpreter, which an upgrade of the system may remove, a virtual
# environment is of no use.
$(shell test ! -e $(VENV)/pyvenv.cfg || $(BIN)/python -c '' 2>/dev/null || rm -rf $(VENV))

.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
.PHONY: help install up stop test lint format lock clean
.PHONY: bench-ingest bench-fingerprints bench-coverage chaos

help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 20

install: $(VENV)/.dev ## Build .venv with all that the lock files name

up: $(VENV)/.runtime ## Start Errata and print its address; Ctrl-C stops it
	@exec $(BIN)/python manage.py up $(UP_ARGS)

stop: ## Stop the embedded servers, should they still run
	@if [ -x $(BIN)/python ]; then \
		$(BIN)/python -c 'from apps.config import embedded; embedded.stop()'; fi

test: install ## Lint, then run every test; gets a Chromium where there is none
	@$(BIN)/python -m tests.browser_setup
	@$(MAKE) --no-print-directory lint
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile $(PYTEST_ARGS)

lint: install ## Style, types, templates and migrations
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m mypy
	$(BIN)/python -m djlint --lint --quiet templates
	$(BIN)/python manage.py check
	$(BIN)/python manage.py check_templates
	$(BIN)/python -W ignore manage.py makemigrations --check --dry-run

format: install ## Lay the code out and mend what ruff can mend
	$(BIN)/python -m ruff check --fix .
	$(BIN)/python -m ruff format .

lock: $(VENV)/bin/python ## Write the lock files anew after a change in pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check '$(UV)'
	$(BIN)/uv pip compile $(LOCK_FLAGS) --output-file requirements.lock pyproject.toml
	$(BIN)/uv pip compile $(LOCK_FLAGS) --extra dev --constraint requirements.lock \
		--output-file requirements-dev.lock pyproject.toml

# One file for every platform and Python; no index address, so that a mirror
# serves as well.
LOCK_FLAGS = --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --no-header $(LOCK_ARGS)

bench-ingest: install ## Ingest 20,000 runs beside two limits; prints speed, CPU, memory
	@$(BIN)/python -W ignore -m tests.bench.ingest $(BENCH_ARGS)

bench-fingerprints: install ## Fingerprints a second, cold and warm, on one core
	@$(BIN)/python -m tests.bench.fingerprints

bench-coverage: install ## Simulate verdicts and estimates: coverage, false alarms, power
	@$(BIN)/python -m tests.bench.coverage

chaos: install ## Kill workers, Redis and PostgreSQL during an upload, then compare
	@$(BIN)/python -W ignore -m tests.bench.chaos $(CHAOS_ARGS)

clean: stop ## Remove .venv and all state in var/
	@place=$$(readlink var/postgres); case "$$place" in */errata-*) rm -rf "$$place";; esac
	rm -rf var $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(VENV)/bin/python:
	@if [ -z "$(PYTHON)" ]; then \
		echo "No Python of 3.11 or newer with venv and ensurepip was found." \
			"Install one (on Debian: python3 and python3-venv)," \
			"or name it: make PYTHON=/path/to/python3" >&2; exit 1; fi
	@echo "Making $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV)

# A stamp is newer than the lock it was installed from.
$(VENV)/.runtime: requirements.lock | $(VENV)/bin/python
	@echo "Installing from requirements.lock"
	@$(PIP_INSTALL) -r requirements.lock
	@touch $@

$(VENV)/.dev: requirements-dev.lock requirements.lock | $(VENV)/bin/python
	@echo "Installing from requirements-dev.lock"
	@$(PIP_INSTALL) -r requirements-dev.lock
	@touch $(VENV)/.runtime $@
