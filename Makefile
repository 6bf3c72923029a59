# Barrier Lab.  `make help` says what each target does.
PYTHON ?= python3
# Tests at a time: most of them wait.
JOBS ?= 3
# Where to look for torch besides the default index (the CPU builds, an internal mirror).
TORCH_INDEX ?=

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
INDEX := $(if $(TORCH_INDEX),--extra-index-url "$(TORCH_INDEX)")
BUILD := $(BIN)/jupyter-book build . -W -n --keep-going
COMPILE := $(BIN)/pip-compile --quiet --strip-extras --allow-unsafe --no-header --annotation-style=line \
           --no-emit-index-url --no-emit-find-links --no-emit-trusted-host
PAGE := _build/html/index.html

.DEFAULT_GOAL := help
.PHONY: help book test quick stress serve lint format bench hangs wheel figure requirements clean distclean

help:  ## say what each target does
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' Makefile
	@echo
	@echo "  PYTHON=python3.12      the Python that makes .venv (3.11 or newer)"
	@echo "  TORCH_INDEX=<address>  one more index for pip to take torch from"

book: $(VENV)/ready  ## build the book with every notebook executed
	@rm -f _build/failed_cells.json $(PAGE)
	@code=0; $(BUILD) --all || code=$$?; $(BIN)/python book/_ext/said_at_the_end.py _build $$code

test: $(VENV)/ready-dev  ## run all tests, a full build of the book among them
	$(BIN)/python -m pytest --numprocesses $(JOBS) --dist loadfile $(ARGS)

quick: $(VENV)/ready-dev  ## run the tests that need neither the book nor a browser nor much time
	$(BIN)/python -m pytest --numprocesses $(JOBS) --dist loadfile -m "not slow" $(ARGS)

# RUNS, ROUNDS and ONLY shorten it: make stress ONLY="cost ordering" ROUNDS=1 RUNS=10
stress: $(VENV)/ready-dev  ## run every notebook beside other work, every script many times; some hours
	@code=0; \
	  $(BIN)/python -m tests.stress $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(RUNS),--runs $(RUNS)) \
	    $(if $(ONLY),--only $(ONLY)) || code=1; \
	  $(if $(ONLY),,$(BIN)/python tests/random_programs.py --count 300 || code=1;) \
	  exit $$code

serve: $(PAGE)  ## show the built book on localhost, on a free port
	@$(BIN)/python -u -m http.server 0 --bind 127.0.0.1 --directory _build/html

$(PAGE):
	@$(MAKE) book

lint: $(VENV)/ready-dev  ## check the code with ruff
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(VENV)/ready-dev  ## let ruff rewrite the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/ready-dev  ## measure start-up, recording, drawing and the build
	@for file in benchmarks/[a-z]*.py; do echo "== $$file"; $(BIN)/python "$$file" || exit 1; done

wheel: $(VENV)/ready  ## build the tool as a wheel, without the book, into dist/
	@rm -rf build  # setuptools packs what it finds there
	$(PIP) wheel --no-deps --wheel-dir dist .

hangs: $(VENV)/ready-dev  ## score the verdict and PyTorch's own means on programs with known faults; half an hour
	$(BIN)/python -m benchmarks.hangs $(ARGS)

figure: $(VENV)/ready  ## redraw the README's timeline from a real run
	$(BIN)/python scripts/one_sided.py --deadline 8 --plot book/_static/timeline.png; test $$? -eq 3

requirements: $(VENV)/ready-dev  ## pin requirements.in and requirements-dev.in anew
	$(PIP) install --quiet pip-tools==7.6.2
	$(COMPILE) --output-file requirements.txt requirements.in
	$(COMPILE) --output-file requirements-dev.txt requirements-dev.in
	sed -i -E 's/^(torch==[0-9.]+)\+[a-z0-9.]+/\1/; /^(nvidia-|triton|cuda-)/d' requirements.txt requirements-dev.txt

clean:  ## remove what was built, keep .venv
	rm -rf _build build dist runs .pytest_cache .ruff_cache
	find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +

distclean: clean  ## remove .venv too
	rm -rf $(VENV) *.egg-info

# The two stamps: set-up is done again only when what it installs has changed.
$(VENV)/ready: requirements.txt pyproject.toml
	@$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11))" || \
	  { echo "Barrier Lab needs Python 3.11 or newer; name one, for example: make book PYTHON=python3.12" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(PIP) install $(INDEX) -r requirements.txt
	$(PIP) install --no-deps -e .
	@touch $@

$(VENV)/ready-dev: $(VENV)/ready requirements-dev.txt
	$(PIP) install $(INDEX) -r requirements-dev.txt
	@touch $@
