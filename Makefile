# Every target sets up what it needs, in .venv, from the package registry alone.
PYTHON ?= python3
PIP := .venv/bin/python -m pip install -q --disable-pip-version-check
RUN := .venv/bin/python -m

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test torture bench format clean

help: ## say what there is
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' Makefile

demo: .venv/.installed ## value the embedded graph, show the values and write runs/demo/report.html
	@$(RUN) pcwinter value demo --out runs/demo --resume
	@$(RUN) pcwinter show runs/demo --top 5
	@$(RUN) pcwinter report runs/demo

# One thread per process: the number of BLAS threads changes bits, and pytest already uses the cores.
test: export OMP_NUM_THREADS = 1
test: export OPENBLAS_NUM_THREADS = 1
test: export NUMBA_NUM_THREADS = 1
test: .venv/.dev ## format, lint, types, then all tests and doctests
	$(RUN) ruff format --check
	$(RUN) ruff check
	$(RUN) mypy
	$(RUN) pytest -n 2 --dist worksteal

torture: .venv/.installed ## kill -9 runs at random 40 times (8 min): each must come to the same files as if left in peace
	@$(RUN) scripts.torture

bench: .venv/.bench ## measure everything (15 min), write benchmarks/results; ONLY=ridge,growth for some of it
	@$(RUN) benchmarks $(if $(ONLY),--only $(ONLY)) $(if $(DATASETS),--datasets $(DATASETS))

format: .venv/.dev ## rewrite the Python files in the house format
	$(RUN) ruff format
	$(RUN) ruff check --fix

clean: ## remove .venv, caches and runs/demo; other runs stay
	rm -rf .venv .venv-peer dist runs/demo .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# --- set-up ---

.venv/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo 'pcwinter needs Python 3.11 or newer, and $(PYTHON) is not: name another with "make PYTHON=python3.11 ..."' >&2; exit 1; }
	@$(PYTHON) -m venv .venv
	@touch $@

.venv/.installed: pyproject.toml | .venv/.created
	@echo 'Installing pcwinter into .venv, once ...'
	@$(PIP) -e .
	@touch $@

.venv/.dev: pyproject.toml | .venv/.created
	@echo 'Installing pcwinter and the test tools (PyTorch among them) into .venv, once ...'
	@$(PIP) -e '.[dev]'
	@touch .venv/.installed $@

.venv/.bench: pyproject.toml | .venv/.created
	@echo 'Installing pcwinter, PyTorch and Matplotlib into .venv, once ...'
	@$(PIP) -e '.[bench]'
	@touch .venv/.installed $@
