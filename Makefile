# The few verbs of this project, the same for people and for CI.
#
# PYTHON names the Python to set up with, ARGS goes to the program that a verb runs:
#   make play ARGS="--bots 2 --level hard"      make test ARGS="tests/engine -x"

PYTHON ?= python3
ARGS ?=
# Tests run side by side in this many processes: more than cores, since most of them wait for others.
WORKERS ?= 4
VENV := .venv
BIN := $(VENV)/bin
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint requirements.lock

RELEASED_CONTRACT := proto/released.binpb
CATALOGUES := $(wildcard client/odin_cli/speech/locale/*/LC_MESSAGES/*.po)

.DEFAULT_GOAL := help
.PHONY: help play setup web wheel test test-slow test-tmux test-web interop chaos damage bots soak bench check check-format check-lint \
  check-types check-contract check-stubs check-imports check-catalogues format stubs release-contract \
  catalogues captures lock clean

help: ## say what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

play: $(VENV)/ready-to-play ## play against three bots in this terminal
	@$(BIN)/odin-table play $(ARGS)

web: $(VENV)/ready-to-develop ## build the page of examples/web, and play in a browser at http://127.0.0.1:7780/
	@command -v npm >/dev/null || { \
	  echo 'The page is built with npm (Node 20 or newer). Install it, then try again.' >&2; exit 1; }
	@cd examples/web && npm ci --silent --no-audit --no-fund && \
	  npm run --silent generate && npm run --silent build
	@$(BIN)/odin-table serve --http 7780 --page examples/web/dist $(ARGS)

setup: $(VENV)/ready-to-develop ## set up everything for playing, testing and checking
	@echo 'Everything is set up. Next: make play, make test.'

wheel: $(VENV)/ready-to-play ## build a wheel into dist/, to install with pipx or uv
	@$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .
	@ls dist/*.whl

test: $(VENV)/ready-to-develop ## run the tests that need only Python, side by side
	@$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile $(ARGS)

test-slow: $(VENV)/ready-to-develop ## run the tests that take long, or that measure delays
	@$(BIN)/python -m pytest -m slow $(ARGS)

test-tmux: $(VENV)/ready-to-develop ## run the tests in real tmux
	@command -v tmux >/dev/null || { \
	  echo 'These tests need tmux. On Debian and Ubuntu: apt install tmux. Then try again.' >&2; exit 1; }
	@$(BIN)/python -m pytest -m tmux $(ARGS)

test-web: $(VENV)/ready-to-develop ## run the tests of the page in real Chromium, and those of curl
	@$(BIN)/python -m pytest -m web -rs tests/web $(ARGS)

interop: $(VENV)/ready-to-develop ## let the clients of examples/ and our own play together
	@$(BIN)/python -m pytest -m interop -rs tests/interop $(ARGS)

chaos: $(VENV)/ready-to-develop ## kill a server every second while bots play, and see that nothing is lost
	@$(BIN)/python -m tests.chaos $(ARGS)

damage: $(VENV)/ready-to-develop ## flip bits of a file of tables, and see that none goes unnoticed
	@$(BIN)/python -m tests.damage $(ARGS)

bots: $(VENV)/ready-to-develop ## try twenty times what a bot does to its runner, and more that fails only sometimes
	@ODIN_TIMES=20 $(BIN)/python -m pytest -m often -n $(WORKERS) $(ARGS)

soak: $(VENV)/ready-to-develop ## open and abandon 10,000 tables, and see that memory comes back
	@$(BIN)/python -m tests.soak $(ARGS)

bench: $(VENV)/ready-to-develop ## measure, each figure beside its floor
	@$(BIN)/python -m bench $(ARGS)

check: check-format check-lint check-types check-contract check-stubs check-imports check-catalogues ## format, lint, types, contract, arrows, languages

check-format: $(VENV)/ready-to-develop
	@echo 'Checking the format ...'
	@$(BIN)/ruff format --quiet --check . || { echo 'Run `make format`.' >&2; exit 1; }

check-lint: $(VENV)/ready-to-develop
	@echo 'Checking the code ...'
	@$(BIN)/ruff check --quiet .

check-types: $(VENV)/ready-to-develop
	@echo 'Checking the types with mypy ...'
	@$(BIN)/mypy
	@echo 'Checking the types with basedpyright ...'
	@$(BIN)/basedpyright

check-contract: $(VENV)/ready-to-develop
	@echo 'Checking the contract ...'
	@$(BIN)/buf lint
	@$(BIN)/buf format --diff --exit-code || { echo 'Run `make format`.' >&2; exit 1; }
	@$(BIN)/buf breaking --against $(RELEASED_CONTRACT) || { \
	  echo >&2; echo 'Programs that were written for the last release would fail. Leave what was released as it was,' >&2; \
	  echo 'and add beside it: a new field, message, call or value, with a number of its own. A break that is' >&2; \
	  echo 'really wanted is a new package beside this one: odin_table.v2 (docs/decisions.md).' >&2; \
	  exit 1; }

check-stubs: $(VENV)/ready-to-develop
	@echo 'Checking what is generated from the contract ...'
	@$(BIN)/python tools/generate_stubs.py --check
	@$(BIN)/python tools/contract_reference.py --check

check-imports: $(VENV)/ready-to-develop
	@echo 'Checking the imports ...'
	@$(BIN)/python tools/check_imports.py

check-catalogues: $(VENV)/ready-to-develop
	@echo 'Checking the catalogues ...'
	@$(BIN)/python tools/catalogues.py --check || { \
	  echo 'Run `make catalogues`, then translate what it names.' >&2; exit 1; }

format: $(VENV)/ready-to-develop ## format code and contract, fix what can be fixed
	@$(BIN)/ruff check --quiet --fix-only .
	@$(BIN)/ruff format --quiet .
	@$(BIN)/buf format --write

stubs: $(VENV)/ready-to-develop ## regenerate the Python stubs of the contract, and docs/contract.md
	@$(BIN)/python tools/generate_stubs.py
	@$(BIN)/python tools/contract_reference.py

# Without comments: so it is small, and changes only when the contract does.
release-contract: check-contract ## keep the contract as it is now for good, as part of a release
	@$(BIN)/buf build --exclude-source-info --output $(RELEASED_CONTRACT)

catalogues: $(VENV)/ready-to-develop ## bring the texts of all languages up to date, name what lacks
	@$(BIN)/python tools/catalogues.py

captures: $(VENV)/ready-to-develop ## draw the pictures of the README and of docs/captures anew
	@PYTHONPATH=. $(BIN)/python tools/captures.py

lock: ## take the newest versions that pyproject.toml allows into requirements.lock
	@echo 'Looking up the newest versions ...'
	@fresh=$$(mktemp -d) && trap 'rm -rf "$$fresh"' EXIT && \
	  $(PYTHON) -m venv "$$fresh" && \
	  "$$fresh"/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]' && \
	  { echo '# The versions that a fresh machine gets. Written by `make lock`.'; \
	    "$$fresh"/bin/python -m pip freeze --all --exclude pip --exclude-editable; } > "$$fresh"/lock && \
	  cp "$$fresh"/lock requirements.lock

clean: ## remove what was set up and made, but nothing that is committed
	@rm -rf $(VENV) dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	@find . -name __pycache__ -prune -exec rm -rf {} +

# Two stamps, so that playing does not wait for the tools of development. Installing compiles the
# catalogues.
$(VENV)/ready-to-play: pyproject.toml requirements.lock $(CATALOGUES)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo 'odin-table needs Python 3.11 or newer, and "$(PYTHON)" is none.' >&2; \
	  echo 'Install one, or name it: make $(MAKECMDGOALS) PYTHON=python3.12' >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo 'This Python ($(PYTHON)) came without venv and pip.' >&2; \
	  echo 'On Debian and Ubuntu: apt install python3-venv. Then try again.' >&2; exit 1; }
	@echo 'Setting up $(VENV) for playing. The first time this takes half a minute.'
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || { \
	  echo '  making the environment ...'; $(PYTHON) -m venv --clear $(VENV); }
	@echo '  fetching and installing packages ...'
	@$(PIP_INSTALL) --editable .
	@touch $@

$(VENV)/ready-to-develop: $(VENV)/ready-to-play
	@echo 'Setting up $(VENV) for development: fetching and installing packages ...'
	@$(PIP_INSTALL) --editable '.[dev]'
	@touch $@
