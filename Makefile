# Needs Python 3.11 or newer with its venv module, and make. Nothing else: no root, no Docker.
PYTHON  ?= $(shell command -v python3.11 || command -v python3)
# Tests wait for servers about half of the time: two workers for each core.
WORKERS ?= $(shell echo $$(($$(getconf _NPROCESSORS_ONLN) * 2)))

VENV  := .venv
BIN   := $(VENV)/bin
STAMP := $(VENV)/.installed
# The loops of placement, compiled; anew after a change of theirs.
LOOPS := $(VENV)/.compiled

.DEFAULT_GOAL := help
.PHONY: help install demo test test-real faults slow lint schemas pins digests release bench simulate kubernetes clean

help: ## show this list
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 18

install: $(STAMP) $(LOOPS) ## make the environment in .venv (under two minutes; the other targets do it when needed)

demo: install ## submit jobs of nine kinds to an embedded fleet of three clusters (under 90 seconds)
	@$(BIN)/fairway demo

test: lint kubernetes ## everything that must pass: lint, all tests, then those on real Kubernetes
	@$(BIN)/pytest -n $(WORKERS)
	@$(BIN)/pytest -n $(WORKERS) tests/kubernetes

test-real: kubernetes ## the tests on real Kubernetes alone
	@$(BIN)/pytest -n $(WORKERS) tests/kubernetes

faults: install ## break real NATS, Valkey, members and services under load, one fault after the other; and replay every seed
	@$(BIN)/python -m fairway.lab.kubereal.build prometheus
	@$(BIN)/pytest -n logical -m '' -rP tests/faults tests/simulation/test_seeds.py

slow: faults kubernetes ## what is run before a release beside `make test`: the faults, and all other tests that take long
	@$(BIN)/pytest -n $(WORKERS) -m slow --ignore tests/faults --ignore tests/simulation/test_seeds.py tests

kubernetes: install ## build Kubernetes and the operators for the tests from source (25 minutes once on two cores, then nothing)
	@$(BIN)/python -m fairway.lab.kubereal.build

lint: install ## ruff, mypy and the layers
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache

schemas: install ## write proto/schema, asyncapi.yaml, the tables of pages, deploy/crds, the users of NATS and Valkey and the list of what is in the image anew, after a change of the code
	@$(BIN)/python -m fairway.lab.documents.schemas
	@$(BIN)/python -m fairway.lab.documents.architecture
	@$(BIN)/python -m fairway.lab.documents.metrics
	@$(BIN)/python -m fairway.cli.crds
	@$(BIN)/python -m fairway.lab.documents.credentials
	@$(BIN)/python -m fairway.lab.documents.alerts
	@$(BIN)/python -m fairway.lab.supply.sbom

pins: install ## write the hashes of what the image is installed from anew, after a change of constraints.txt (asks the package index)
	@$(BIN)/python -m fairway.lab.supply.wheels
	@$(BIN)/python -m fairway.lab.supply.sbom

digests: install ## name the images of compose and the Dockerfile by their digests (asks the registries of images)
	@$(BIN)/python -m fairway.lab.supply.images
	@$(BIN)/python -m fairway.lab.supply.sbom

release: install ## what a release is refused for: images without a digest, or an image that its hashes do not make
	@$(BIN)/python -m fairway.lab.supply.images --check
	@$(BIN)/pytest -m '' tests/tidy/deploy

bench: kubernetes ## measure everything, one table of goals at the end (long; QUICK=1 for small runs)
	@$(BIN)/fairway bench all $(if $(QUICK),--quick)

SEED ?= $(shell date +%s)
simulate: install ## run fleets on a virtual clock, half of them with a hub, half with idle resources, half with evictions, on all cores until stopped (SEED=N: from this seed)
	@echo "seeds from $(SEED)"
	@$(BIN)/fairway simulate --runs 0 --seed $(SEED) --profile all --hub-too --idle-too --evictions-too --hours 1 --jobs 60

clean: ## remove the environment and everything that was built or cached
	@rm -rf $(VENV) .fairway .cache build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	@find . \( -name __pycache__ -o -name __compiled__ \) -prune -exec rm -rf {} +

# The build tools come first and from the constraints too: otherwise pip fetches unpinned ones for itself.
$(STAMP): pyproject.toml libs/fairway/lab/pyproject.toml constraints.txt Makefile
	@test -n "$(PYTHON)" || { echo "No Python found. Install it with: apt install python3.11 python3.11-venv"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "$(PYTHON) is older than 3.11. Install 3.11 or newer, or name one: make install PYTHON=..."; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { v=$$($(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])'); \
		echo "Python $$v has no venv module. Install it with: apt install python$$v-venv"; exit 1; }
	@echo "Making $(VENV) with $(PYTHON) (about a minute) ..."
	@$(PYTHON) -m venv --clear $(VENV)
	@$(BIN)/pip --disable-pip-version-check install --quiet -c constraints.txt hatchling editables
	@$(BIN)/pip --disable-pip-version-check install --quiet -c constraints.txt --no-build-isolation -e '.[test]' -e libs/fairway/lab
	@touch $(STAMP)
	@echo "Done: the command is $(BIN)/fairway"

$(LOOPS): $(STAMP) $(wildcard libs/fairway/placement/loops/*.py)
	@echo "Compiling placement (half a minute) ..."
	@$(BIN)/python -m fairway.placement.loops.build
	@touch $(LOOPS)
