# Each target sets up what it needs, once, in .cache/venvs (see .ci/environment.py).
#
#   PYTHON=python3.12   the interpreter the environments are made with
#   BACKEND=argilla     the server of the demo
#   ARGS="-k diff"      passed on to pytest (make test) or the command (make demo)

.DEFAULT_GOAL := help
ARGS ?=

# The first interpreter that is new enough, tested, and able to make environments.
usable = $(shell $(1) -c 'import sys, ensurepip; (3, 11) <= sys.version_info[:2] <= (3, 13) and sys.stdout.write("$(1)")' 2>/dev/null)
ifndef PYTHON
PYTHON := $(firstword $(foreach name,python3 python3.13 python3.12 python3.11 python,$(call usable,$(name))))
endif
VENV = $(if $(PYTHON),$(PYTHON) .ci/environment.py,$(error no Python 3.11 to 3.13 with ensurepip found: install one (Debian: python3-venv) or say PYTHON=/path/to/python))

.PHONY: help
help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' $(firstword $(MAKEFILE_LIST)) | expand -t 20

.PHONY: demo
demo: ## show the whole way, traces to training data, on a real Label Studio (BACKEND=argilla: on a real Argilla)
ifeq ($(BACKEND),argilla)
	@venv=$$($(VENV) dev) && argilla=$$($(VENV) argilla) && \
	POTATO_BRIDGE_TEST_ARGILLA="$$argilla/bin/python" "$$venv/bin/python" -m tests.servers.argilla_demo $(ARGS)
else
	@venv=$$($(VENV) demo) && "$$venv/bin/potato-bridge" demo $(ARGS)
endif

.PHONY: test
test: ## run all tests, with a real Label Studio, Argilla, Potato and browser
	@venv=$$($(VENV) dev) && server=$$($(VENV) label-studio) && potato=$$($(VENV) potato) && \
	argilla=$$($(VENV) argilla) && \
	POTATO_BRIDGE_TEST_LABEL_STUDIO="$$server/bin/label-studio" \
	POTATO_BRIDGE_TEST_POTATO="$$potato/bin/potato" \
	POTATO_BRIDGE_TEST_ARGILLA="$$argilla/bin/python" \
	"$$venv/bin/python" -m pytest --durations=15 $(ARGS)

.PHONY: test-trainers
test-trainers: ## train two steps on exported data sets with TRL's trainers, in an environment of their own (1.5 GB)
	@venv=$$($(VENV) dev) && trainers=$$($(VENV) trainers) && \
	POTATO_BRIDGE_TEST_TRAINERS="$$trainers/bin/python" "$$venv/bin/python" -m pytest tests/trainers $(ARGS)

.PHONY: lint
lint: ## check style, types and layers
	@venv=$$($(VENV) dev) && failed= && PATH="$$venv/bin:$$PATH" && \
	for check in "ruff check" "ruff format --check" "mypy" "lint-imports"; do \
		echo "== $$check"; $$check || failed="$$failed, $$check"; \
	done; \
	test -z "$$failed" || { echo "lint failed: $${failed#, }" >&2; exit 1; }

.PHONY: format
format: ## rewrite the code in the project's style
	@venv=$$($(VENV) dev) && "$$venv/bin/ruff" check --fix-only --quiet && "$$venv/bin/ruff" format

.PHONY: schemes-page
schemes-page: ## write docs/schemes.md and docs/backends.md anew, from the tables in the code
	@venv=$$($(VENV) dev) && "$$venv/bin/python" -m potato_bridge.converters.schemes_page > docs/schemes.md
	@venv=$$($(VENV) dev) && "$$venv/bin/python" -m potato_bridge.converters.backends_page > docs/backends.md

.PHONY: constraints
constraints: ## resolve the pins in constraints.txt again
	@venv=$$($(VENV) dev) && "$$venv/bin/uv" pip compile --quiet --upgrade --universal --python-version 3.11 \
		--extra demo --group dev --no-header --no-annotate -o constraints.txt pyproject.toml

.PHONY: clean
clean: ## remove environments, caches and built files
	rm -rf .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
