PYTHON ?= python3
VENV_PYTHON = .venv/bin/python
SETUP = @$(PYTHON) tools/setup.py
SETUP_DEV = $(SETUP) --dev
LOCK = $(VENV_PYTHON) -m uv pip compile pyproject.toml --quiet --universal --python-version 3.11.0 \
	--no-header --no-annotate --no-emit-index-url --no-emit-find-links $(LOCK_ARGS)

.PHONY: help lab update reset test check notebooks translate site serve class overview images model bench mutants lock gpu clean

help: ## show this list
	@awk -F ': ## ' '/^[a-z]+: ## / { printf "make %-10s %s\n", $$1, $$2 }' Makefile

lab: ## open the course in JupyterLab; with one lesson: make lab LESSON=03
	$(SETUP)
	$(VENV_PYTHON) -m tools.lab $(LAB_ARGS)

test: ## run all tests (TEST_ARGS are passed to pytest)
	$(SETUP_DEV)
	$(VENV_PYTHON) -m pytest $(TEST_ARGS)

check: ## lint, types, and quick tests, without a notebook, a browser or the network
	$(SETUP_DEV)
	$(VENV_PYTHON) -m tools.check

reset: ## put a lesson's exercises back to the start: make reset LESSON=03
	$(SETUP)
	@$(VENV_PYTHON) -m tools.reset

update: ## bring your copies of the lessons up to date, after git pull
	$(SETUP)
	@$(VENV_PYTHON) -m tools.update

notebooks: ## build the notebooks again
	$(SETUP_DEV)
	$(VENV_PYTHON) tools/notebooks.py

translate: ## bring the catalogs in locale/ up to date with the English text
	$(SETUP_DEV)
	$(VENV_PYTHON) -m tools.translation

site: ## build the course as pages, in build/site
	$(SETUP_DEV)
	$(VENV_PYTHON) -m tools.site

serve: site ## show these pages on this machine
	$(VENV_PYTHON) -m tools.site serve

class: ## start one server for a whole class, as root (class/README.md)
	$(SETUP) --class
	@$(VENV_PYTHON) -m tools.classroom $(CLASS_ARGS)

overview: ## show a teacher where the class is stuck (FILES="anna.jsonl ben.jsonl" for files that were sent)
	$(SETUP)
	@$(VENV_PYTHON) -m tools.classroom.overview

images: ## draw the pictures again
	$(SETUP_DEV)
	$(VENV_PYTHON) -m tools.images

model: ## train the translator again that comes with the package
	$(SETUP)
	$(VENV_PYTHON) -m tools.model

bench: ## run the benchmarks
	$(SETUP_DEV)
	$(VENV_PYTHON) -m benchmarks

mutants: ## change the code in one place at a time, and see the tests fail
	$(SETUP_DEV)
	$(VENV_PYTHON) -m tools.mutants $(MUTANTS_ARGS)

lock: ## compile the requirements from pyproject.toml (LOCK_ARGS=--upgrade for newer versions)
	$(SETUP_DEV)
	$(LOCK) --output-file requirements.txt
	$(LOCK) --output-file requirements-dev.txt --constraints requirements.txt --group dev
	$(LOCK) --output-file requirements-class.txt --constraints requirements-dev.txt --group class

gpu: ## exchange torch for its build for this machine's GPU
	$(SETUP)
	@$(PYTHON) tools/setup.py --gpu

clean: ## remove .venv and all caches
	rm -rf .venv build .pytest_cache .ruff_cache *.egg-info
	find . -type d \( -name __pycache__ -o -name .ipynb_checkpoints \) -prune -exec rm -rf {} +
