# Every target sets up what it needs, from a bare clone, with Python 3.11 or newer. `make help` lists them.

SHELL := /bin/sh
.DEFAULT_GOAL := help

# 3.11 first: the versions in constraints.txt are checked with it. A name that is found may still not run (pyenv shims).
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3.14 python3 python; do \
  "$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && { echo "$$p"; break; }; done)
WORKERS ?= 2

# Compiled modules are kept in .venv: without them every process of the tests would compile what it imports again.
unexport PYTHONDONTWRITEBYTECODE

PY := .venv/bin/python
environment = @$(PYTHON) tools/environment.py
pytest = -m pytest -q -n $(WORKERS) --dist worksteal

.PHONY: help python env bench-env lint unit test test-all test-slow test-browser test-types coverage test-lowest test-core test-compile fuzz dist demo bench bench-large bench-studio gallery docs docs-env clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1: /p' Makefile

python:
	@test -n "$(PYTHON)" || { echo "lowfold needs Python 3.11 or newer, and none was found;" \
	  "install one, or say where it is: make PYTHON=/path/to/python3" >&2; exit 1; }

env: python ## .venv with lowfold, its extras and the tools
	$(environment) .venv --extras dev --constraints constraints.txt

bench-env: python
	$(environment) .venv --extras dev,bench --constraints constraints.txt

docs-env: python
	$(environment) .venv --extras dev,docs --constraints constraints.txt

lint: env ## ruff, mypy, the order of imports; all of them, even when the first finds something
	@failed=0; \
	$(PY) -m ruff check --quiet || failed=1; \
	$(PY) -m ruff format --check --quiet || failed=1; \
	$(PY) -m mypy --no-error-summary || failed=1; \
	said=$$(.venv/bin/lint-imports 2>&1) || { echo "$$said"; failed=1; }; \
	exit $$failed

unit: env ## the tests alone, without the slow ones
	@$(PY) $(pytest) -m "not slow"

test: lint unit ## what has to pass before a change is taken

test-slow: env
	@$(PY) $(pytest) --timeout 600 --ignore tests/browser

test-browser: env ## the report and the studio in Chromium; the short part of it is in `make test` as well
	@$(PY) -m pytest -q -n 0 --timeout 600 tests/browser

coverage: python ## the share of lines that the quick tests run; compiled loops do not count
	$(environment) .venv --extras dev,cover --constraints constraints.txt
	@$(PY) $(pytest) -m "not slow" --cov lowfold --cov-report term:skip-covered --cov-config pyproject.toml

test-types: ## the types of the page's script, by TypeScript, where node is there
	@command -v npx >/dev/null || { echo "no node here: the types of the page's script are not checked"; exit 0; }; \
	npx --yes --package typescript@5 tsc --project src/lowfold/studio/static

test-lowest: python
	$(environment) .venv-lowest --extras all,test --constraints constraints-lowest.txt -- $(pytest) -m "not slow" --timeout 60

test-core: python
	$(environment) .venv-core --extras test --constraints constraints.txt -- $(pytest) -m "not slow" --timeout 60

test-compile: python ## the kernels of a GPU for several generations of them, without one
	$(environment) .venv-compile --extras test,compile --constraints constraints.txt -- $(pytest) --timeout 600 tests/cuda/test_compile.py

fuzz: python ## the readers of files against damaged input, for a minute
	$(environment) .venv-fuzz --extras all,fuzz --constraints constraints.txt -- tests/fuzz/fuzz_readers.py -max_total_time=60

test-all: lint test-types test-slow test-browser test-lowest test-core test-compile fuzz ## everything: slow tests, lowest versions, no extras, fuzzing

dist: env ## sdist and wheel in ./dist; the wheel alone is installed elsewhere and tried
	@$(PY) tools/dist.py

demo: env ## a dozen methods on real data, compared; reports for a browser in ./demo
	@$(PY) tools/demo.py --out demo

bench: bench-env ## time and memory against other packages; benchmarks/results
	@$(PY) benchmarks/run.py --out benchmarks/results

bench-studio: env ## a million points in Chromium, answers under load, stopping every method; benchmarks/results/studio
	@$(PY) -m benchmarks.studio --out benchmarks/results/studio

bench-large: bench-env ## rows that stay on disk, to a million of them, and two workers; benchmarks/large
	@$(PY) benchmarks/large.py --out benchmarks/large
	@$(PY) benchmarks/large.py --out benchmarks/large/growth --growth --memory 14GB
	@$(PY) benchmarks/large.py --out benchmarks/large/cluster --cluster --rows 300000 --cases pca neighbours landmark_ltsa
	@$(PY) benchmarks/lost_worker.py --out benchmarks/large

gallery: env ## run every examples/plot_*.py; gallery/index.html
	@$(PY) tools/gallery.py --out gallery

docs: docs-env ## the documentation, to be opened from the disk: build/docs/index.html
	@$(PY) -m sphinx -q -W -n --keep-going -d build/doctrees docs build/docs
	@echo build/docs/index.html

clean: ## remove what make made, environments included
	rm -rf .venv .venv-lowest .venv-core .venv-compile .venv-fuzz .cache .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis build dist demo gallery docs/generated
