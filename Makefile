# `make` lists the targets.
.DEFAULT_GOAL := help
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
HASHES ?= --require-hashes
PEERS ?= var/bench-venv
SECONDS ?= 300
TIER ?= all

.PHONY: help install run test test-all validation lint fmt lock messages bench answers screens demo-report soak chaos fuzz api-fuzz clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 18

install: $(VENV)/.run .env ## virtual environment, pinned packages, .env

$(VENV)/.run: requirements.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check $(HASHES) -r requirements.txt
	@touch $@

$(VENV)/.dev: requirements-dev.txt $(VENV)/.run
	$(BIN)/pip install --quiet --disable-pip-version-check $(HASHES) -r requirements-dev.txt
	@touch $@

.env: | $(VENV)/.run
	$(BIN)/python -m iit_manager.dotenv

run: install ## the whole house with the demo study and the stand-ins
	@exec $(BIN)/python -m demo.supervisor

test: install $(VENV)/.dev ## one case of everything, on the embedded default
	@$(BIN)/python -m tests.run quick $(ARGS)

test-all: install $(VENV)/.dev ## the whole suite, embedded and on PostgreSQL and Redis; TIER=thin as CI does
	@tests/services.sh $(BIN)/python -m tests.run $(TIER) $(ARGS)

validation: install $(VENV)/.dev ## promises, their tests and how they last ended, to var/validation; run make test first
	@$(BIN)/python -m tests.validation

lint: install $(VENV)/.dev ## ruff, mypy, import-linter, system checks, migrations
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/python manage.py check
	$(BIN)/python manage.py makemigrations --check --dry-run

fmt: $(VENV)/.dev ## format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock: ## pin requirements.in and requirements-dev.in with hashes (needs uv)
	uv pip compile -q --generate-hashes --python-version 3.11 --no-emit-index-url --no-header requirements.in -o requirements.txt
	uv pip compile -q --generate-hashes --python-version 3.11 --no-emit-index-url --no-header requirements-dev.in -o requirements-dev.txt
	uv pip compile -q --generate-hashes --python-version 3.11 --no-emit-index-url --no-header requirements-bench.in -o requirements-bench.txt

messages: $(VENV)/.dev ## collect and compile interface texts (needs gettext)
	$(BIN)/python manage.py makemessages -l zh_Hans --no-location --no-wrap -i .venv -i var -i tests -i demo/simulators
	$(BIN)/python manage.py compilemessages -l zh_Hans -i .venv -i var

bench: install ## measure beside the peers; BENCH=name picks one
	@$(MAKE) -s $(PEERS)/.ready || echo "the peers could not be installed: they are not measured"
	@python=$(PEERS)/bin/python; test -f $(PEERS)/.ready || python=$(BIN)/python; $$python -m tests.bench $(BENCH)

answers: install $(VENV)/.dev ## what answers are worth, without a model and with one; CASES="silent recorded" or files
	@$(BIN)/python -m tests.answers $(CASES)

screens: install $(VENV)/.dev ## pictures of every page of the console, desktop and phone, to var/screens
	@$(BIN)/python -m tests.screens $(ARGS)

demo-report: install ## what the standard checks and the workflows find of the errors planted in the demo
	@$(BIN)/python -m tests.bench.demo_report

soak: install ## the WeCom channel under load, kills and a WeCom that stumbles; SOAK_S=120
	@$(BIN)/python -m tests.bench.soak

chaos: install ## processes, databases, disk, clock and outside systems fail at random while people work; CHAOS_S=120 CHAOS_SEED=n
	@$(BIN)/python -m tests.chaos

fuzz: install ## fuzz rules, workflows and callbacks; SECONDS=300 for each of four harnesses
	@$(MAKE) -s $(PEERS)/.ready
	@$(PEERS)/bin/python -m tests.fuzz $(SECONDS)

api-fuzz: install $(VENV)/.dev ## any request to the API of a demo of its own; SECONDS=300 for each of three roles
	@$(BIN)/python -m tests.fuzz.api $(SECONDS)

$(PEERS)/.ready: requirements.txt requirements-bench.txt
	@test -x $(PEERS)/bin/python || $(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/pip install --quiet --disable-pip-version-check $(HASHES) -r requirements.txt -r requirements-bench.txt
	@touch $@

clean: ## forget the demo: database, logins, logs
	rm -rf var
