# `make site` and `make test` are the two commands; the others are parts of them.
PYTHON ?= python3
VENV   ?= .venv
PY     := $(VENV)/bin/python
SLOW   := slow or jekyll or browser or torch or index
# More workers than cores: many tests wait for a browser, for Jekyll or for a child.
WORKERS ?= 3
SHARED := -n $(WORKERS) --dist loadgroup

# Compiled once, and not again in each of the processes that the tests start.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help site setup test quick prove durations lint format tools cpp screenshots notebooks taxonomy bench clean

help:
	@echo "make site    generate docs/ and browsable HTML in _site/"
	@echo "make test    set up everything the tests need, and run them all"
	@echo "make quick   lint and the quick tests, in under a minute"
	@echo "make prove   what takes longer: every program under every backend, as the committed evidence has it"
	@echo "make taxonomy   all kinds of graph breaks as one PDF"
	@echo "make bench   the figures in benchmarks/README.md"

site: $(VENV)/.light
	$(PY) generate_site.py --html _site

setup: $(VENV)/.light

$(VENV)/.light: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.10 or newer is needed: make PYTHON=python3.11 ...") if sys.version_info < (3, 10) else None'
	$(PYTHON) -m venv $(VENV)
	$(PY) -m pip install --quiet --editable .
	@touch $@

$(VENV)/.test: pyproject.toml constraints.txt $(VENV)/.light
	$(PY) -m pip install --quiet --editable '.[torch,toolkit,ray,llm,agents,ui,test]' --constraint constraints.txt
	@touch $@

tools:
	@bash tests/install_tools.sh jekyll chromium-headless-shell,chromium node:nodejs mount.exfat-fuse:exfat-fuse mkfs.exfat:exfatprogs cmake c++:g++ ninja:ninja-build

lint: $(VENV)/.test
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy

format: $(VENV)/.test
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

# mypy has one core, the tests have the other.
quick: $(VENV)/.test
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	@$(PY) -m mypy & types=$$!; $(PY) -m pytest -q -n 2 -m 'not ($(SLOW))'; tests=$$?; wait $$types && exit $$tests

# The corpus has both cores; then everything else, the longest first (tests/scheduling.py).
test: quick tools
	$(PY) -m pytest -q -m corpus tests/repro_runner/runner/test_corpus.py
	$(PY) -m pytest -q $(SHARED) --durations=40 -m '($(SLOW)) and not corpus'

# PROVE="-k inductor" and the like: a part of it.
prove: $(VENV)/.test
	$(PY) -m pytest -q --timeout 3600 --durations=40 -m prove $(PROVE)

# On a machine that does nothing else.
durations: $(VENV)/.test tools
	$(PY) -m pytest -q $(SHARED) --record-durations -m 'not corpus'

# The C++ of examples/cpp, built and tested. CMake finds libtorch in the wheel.
CPP := .cache/cpp
cpp: $(VENV)/.test tools
	cmake -S examples/cpp/compiler -B $(CPP)/compiler
	cmake --build $(CPP)/compiler
	ctest --test-dir $(CPP)/compiler --output-on-failure
	$(PY) -m repro_runner learn ahead_of_time

# The pictures of docs/tools and of the README: terminals and pages, as they are now.
screenshots: $(VENV)/.test tools
	$(PY) -m tests.browser.screenshots

# The notebooks with their outputs, of the text files beside them.
notebooks: $(VENV)/.test
	$(PY) -m repro_runner.lessons.notebooks

# All kinds of breaks in one document.
taxonomy: site tools
	$$(command -v chromium-headless-shell || command -v chromium) --headless --no-sandbox --disable-gpu --disable-quic \
	  --user-data-dir=$$(mktemp -d) --no-pdf-header-footer --print-to-pdf=_site/taxonomy.pdf _site/taxonomy.html
	@echo "open _site/taxonomy.pdf"

bench: $(VENV)/.test tools
	$(PY) -m pip install --quiet --editable '.[bench]' --constraint constraints.txt
	$(PY) benchmarks/measure.py
	$(PY) benchmarks/changes.py

clean:
	rm -rf _site .cache $(VENV)
