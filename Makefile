# The few verbs of this project, the same for people and for CI.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint requirements.lock

.DEFAULT_GOAL := help
.PHONY: help setup stubs lock

help:
	@awk -F ': .*## ' '/^[a-z-]+: .*## / { printf "make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(VENV)/ready-to-develop ## set up everything for playing, testing and checking

# Two stamps, so that playing does not wait for the tools of development.
$(VENV)/ready-to-play: pyproject.toml requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo 'odin-table needs Python 3.11 or newer as "$(PYTHON)".' >&2; \
	  echo 'Install one, or name it: make $(MAKECMDGOALS) PYTHON=python3.12' >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo 'This Python ($(PYTHON)) came without venv and pip.' >&2; \
	  echo 'On Debian and Ubuntu: apt install python3-venv. Then try again.' >&2; exit 1; }
	@echo 'Setting up $(VENV) for playing ...'
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
	@$(PIP_INSTALL) --editable .
	@touch $@

$(VENV)/ready-to-develop: $(VENV)/ready-to-play
	@echo 'Setting up $(VENV) for development ...'
	@$(PIP_INSTALL) --editable '.[dev]'
	@touch $@

stubs: $(VENV)/ready-to-develop ## regenerate the Python stubs of the contract
	@$(BIN)/python tools/generate_stubs.py

lock: ## take the newest versions that pyproject.toml allows into requirements.lock
	@echo 'Looking up the newest versions ...'
	@fresh=$$(mktemp -d) && trap 'rm -rf "$$fresh"' EXIT && \
	  $(PYTHON) -m venv "$$fresh" && \
	  "$$fresh"/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]' && \
	  { echo '# The versions that a fresh machine gets. Written by `make lock`.'; \
	    "$$fresh"/bin/python -m pip freeze --all --exclude pip --exclude-editable; } > "$$fresh"/lock && \
	  cp "$$fresh"/lock requirements.lock
