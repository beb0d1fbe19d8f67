# Every target installs what it needs into .venv, from the package registry only.
PYTHON ?= python3
PIP := .venv/bin/python -m pip install -q --disable-pip-version-check
RUN := .venv/bin/python -m

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test torture bench format clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' Makefile

demo: .venv/.installed ## value the embedded graph, show the values and write runs/demo/report.html
	@$(RUN) pcwinter value demo --out runs/demo --resume
	@$(RUN) pcwinter show runs/demo --top 5
	@$(RUN) pcwinter report runs/demo

# One thread per process: the number of BLAS threads changes bits, and pytest already uses all cores.
test: export OMP_NUM_THREADS = 1
test: export OPENBLAS_NUM_THREADS = 1
test: export NUMBA_NUM_THREADS = 1
test: .venv/.dev ## check format, lint and types, then run all tests and doctests
	$(RUN) ruff format --check
	$(RUN) ruff check
	$(RUN) mypy
	$(RUN) pytest -n 2 --dist worksteal

torture: .venv/.installed ## kill runs at random 40 times (8 min) and check that resuming them gives the same files
	@$(RUN) scripts.torture

bench: .venv/.bench ## run all benchmarks (15 min) and write benchmarks/results; select with ONLY=ridge,growth
	@$(RUN) benchmarks $(if $(ONLY),--only $(ONLY)) $(if $(DATASETS),--datasets $(DATASETS))

format: .venv/.dev ## format the Python files and fix lint errors
	$(RUN) ruff format
	$(RUN) ruff check --fix

clean: ## remove .venv, caches and runs/demo, but no other runs
	rm -rf .venv .venv-peer dist runs/demo .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# --- set-up ---

.venv/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo 'pcwinter needs Python 3.11 or newer, but $(PYTHON) is older: choose another with "make PYTHON=python3.11 ..."' >&2; exit 1; }
	@$(PYTHON) -m venv .venv
	@touch $@

.venv/.installed: pyproject.toml | .venv/.created
	@echo 'Installing pcwinter into .venv (only once) ...'
	@$(PIP) -e .
	@touch $@

.venv/.dev: pyproject.toml | .venv/.created
	@echo 'Installing pcwinter and the test tools, including PyTorch, into .venv (only once) ...'
	@$(PIP) -e '.[dev]'
	@touch .venv/.installed $@

.venv/.bench: pyproject.toml | .venv/.created
	@echo 'Installing pcwinter, PyTorch and Matplotlib into .venv (only once) ...'
	@$(PIP) -e '.[bench]'
	@touch .venv/.installed $@
