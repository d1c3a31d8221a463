PYTHON ?= python3
VENV_PYTHON = .venv/bin/python
SETUP = @$(PYTHON) tools/setup.py

.PHONY: help lab test reset notebooks images bench clean

help: ## show this list
	@awk -F ': ## ' '/^[a-z]+: ## / { printf "make %-10s %s\n", $$1, $$2 }' Makefile

lab: ## open the course in JupyterLab
	$(SETUP)
	$(VENV_PYTHON) -m tools.lab $(LAB_ARGS)

test: ## run all tests (TEST_ARGS are passed to pytest)
	$(SETUP)
	$(VENV_PYTHON) -m pytest $(TEST_ARGS)

reset: ## put a lesson's exercises back to the start: make reset LESSON=03
	$(SETUP)
	@$(VENV_PYTHON) tools/reset.py $(LESSON)

notebooks: ## build the notebooks again
	$(SETUP)
	$(VENV_PYTHON) tools/notebooks.py

images: ## draw the pictures again
	$(SETUP)
	$(VENV_PYTHON) -m tools.images

bench: ## run the benchmarks
	$(SETUP)
	$(VENV_PYTHON) -m benchmarks

clean: ## remove .venv and all caches
	rm -rf .venv build .pytest_cache .ruff_cache *.egg-info
	find . -type d \( -name __pycache__ -o -name .ipynb_checkpoints \) -prune -exec rm -rf {} +
