# The main targets: `make run` measures and reports, `make test` tests everything.
# Both install what is missing. You need not run anything before them.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
# With its byte code Python starts in a third of the time, and we start it often.
unexport PYTHONDONTWRITEBYTECODE

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
SITE ?= testbed
# SITE is the name of a site in site-configs/, or a folder with a settings.py anywhere.
SETTINGS = $(firstword $(wildcard $(SITE)/settings.py) site-configs/$(SITE)/settings.py)
TAG ?= sweep
# Checks that are left out, as an expression for reframe -x.
EXCLUDE ?=
# Only these placements of the site, such as PLACEMENT=one_node,two_nodes_two_hosts. Default: all.
PLACEMENT ?=
# More options of reframe.
OPTIONS_OF_REFRAME ?=
# The store: a folder or an fsspec URL.
STORE ?= results
# How long `make nightly` may measure again what it suspects, and more options of `switchpoint gate`.
BUDGET ?= 30m
GATE_OPTIONS ?=
# How many times a session starts each check. Launches differ more than anything within one.
LAUNCHES ?= 1
MINUTES ?= 10
MPIS := openmpi mpich
# Prints why nothing can be measured on a testbed that is down or has lost a daemon.
READY_TESTBED = [ $(SITE) != testbed ] || told=$$($(BIN)/testbed status) || { \
    case $$told in *"is up, but"*) printf '%s\n' "$${told%%$$'\n'*}";; *) echo "start the testbed first: make up";; esac >&2; \
    exit 2; }
# Two sessions would overwrite each other's logs here, and each would import what the other measured.
# The lock lasts until the shell that took it has ended, and what it started.
SESSION_WAIT_S ?= 0
ONE_SESSION = mkdir -p build; exec 9>>build/session.lock; \
    ! command -v flock >/dev/null || flock -w $(SESSION_WAIT_S) 9 || { \
    echo "another session measures in this folder: wait for its end, or use another clone" >&2; exit 2; }
# What measures ends with what started it, also if a signal reaches only make, as from `kill` or a CI system.
TIED := $(if $(shell command -v setpriv),setpriv --pdeathsig TERM)
# A make inside a make does not check again what is installed.
READY := INSTALLED=yes

C_FILES = $(shell git ls-files --cached --others --exclude-standard 'src/*.[ch]' 'tests/*.[ch]' 'checks/*.[ch]' 'bench/*.[ch]')
# What people read: documents, comments and messages, except what other programs print.
PROSE_FILES = $(shell git ls-files --cached --others --exclude-standard Makefile '*.md' '*.py' '*.[ch]' '*.html' \
    '*.y*ml' '*.toml' '*.sh' '*.txt' ':!tests/prose/*' ':!tests/analysis/outputs/*' ':!docs/studies/*')
SHELL_FILES = .ci/run $(shell git ls-files --cached --others --exclude-standard '*.sh')

.PHONY: help
help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /make \1\t/p' Makefile | expand -t 16

## Measuring

.PHONY: run
run: install  ## measure and explain: start the cluster, run the sweep, print the findings, write the report
	@echo "== cluster"
	@$(ONE_SESSION); export TESTBED_NAME=make-run; \
	trap '$(BIN)/testbed down --name $$TESTBED_NAME >/dev/null' EXIT; \
	$(BIN)/testbed up --name $$TESTBED_NAME | sed -n 1p; \
	$(TIED) $(MAKE) $(READY) checks
	@status=0; $(MAKE) $(READY) findings || status=$$?; $(MAKE) $(READY) failures; exit $$status

.PHONY: measure
measure: $(if $(filter testbed,$(SITE)),install,python)  ## run the checks of SITE (default testbed) with TAG (default sweep) on PLACEMENT (default all), LAUNCHES times (default 1), store the records
	@$(READY_TESTBED)
	@$(TIED) $(MAKE) $(READY) launches

# Every check once, then every check again, so that what disturbs a minute hits one launch of many
# curves and not all launches of one. A search to the byte needs no second launch.
.PHONY: launches
launches:
	@[ '$(LAUNCHES)' -ge 1 ] 2>/dev/null || { echo "LAUNCHES=$(LAUNCHES): write a whole number from 1" >&2; exit 2; }
	@$(ONE_SESSION); export SWITCHPOINT_SESSION=$${SWITCHPOINT_SESSION:-$$(date -u +%Y%m%dT%H%M%SZ)}; \
	status=0; left_out='$(EXCLUDE)'; for launch in $$(seq $(LAUNCHES)); do \
	    $(TIED) $(MAKE) $(READY) checks failures EXCLUDE="$$left_out" || status=$$?; \
	    left_out='$(if $(filter sweep,$(TAG)),^PingPong(Zoom|Proof)$(if $(EXCLUDE),|$(EXCLUDE)),$(EXCLUDE))'; \
	done; exit $$status

# The session has a name, so that a night without any result is not taken for the one before.
.PHONY: nightly
nightly: $(if $(filter testbed,$(SITE)),install,python)  ## measure what is measured every night, and fail if something is worse than in the sessions before
	@$(READY_TESTBED)
	@$(ONE_SESSION); export SWITCHPOINT_SESSION=$${SWITCHPOINT_SESSION:-$$(date -u +%Y%m%dT%H%M%SZ)}; \
	$(TIED) $(MAKE) $(READY) checks TAG=nightly EXCLUDE='^Gate'; \
	echo "== comparison with the sessions before"; \
	report=$$(find output/reports -name 'run-report-*.json' -newer build/measure.start | sort | tail -n1); \
	status=0; $(TIED) $(BIN)/switchpoint gate --store $(STORE) --session $$SWITCHPOINT_SESSION \
	    $${report:+--reframe-report $$report} --confirm --budget $(BUDGET) --settings $(SETTINGS) \
	    $(GATE_OPTIONS) || status=$$?; \
	$(MAKE) $(READY) failures || status=$$?; exit $$status

# The two testbeds of `make sites`: the name of each site, and its shape.
SITES ?= alpha:two-hosts beta:slow-uplinks
SITES_FOLDER ?= build/sites
# One size an octave keeps it short.
SITES_OPTIONS ?= -S PingPongSweep.modes=send,stream \
    -S PingPongSweep.sizes_bytes=1,2,4,8,16,32,64,128,256,512,1024,2048,4096,8192,16384,32768,65536,131072,262144

.PHONY: sites
sites: install  ## make two testbed sites of different shapes, measure both, write the report that compares them
	@rm -rf $(SITES_FOLDER)
	@export SWITCHPOINT_SESSION=$$(date -u +%Y%m%dT%H%M%SZ); status=0; \
	for site in $(SITES); do \
	    $(TIED) $(MAKE) $(READY) measured-site NAME=$${site%%:*} SHAPE=$${site#*:} || status=$$?; done; \
	echo "== what each site reaches"; \
	$(BIN)/switchpoint reach --store $(SITES_FOLDER)/store --switches; \
	$(BIN)/switchpoint report --store $(SITES_FOLDER)/store -o $(SITES_FOLDER)/report; exit $$status

.PHONY: measured-site
measured-site:
	@export TESTBED_NAME=sites-$(NAME) TESTBED_SITE=$(NAME); \
	trap '$(BIN)/testbed down --name $$TESTBED_NAME >/dev/null' EXIT; \
	echo "== site $(NAME): a testbed of the shape $(SHAPE)"; \
	$(BIN)/testbed up --name $$TESTBED_NAME --shape $(SHAPE) | sed -n 1p; \
	$(TIED) $(MAKE) $(READY) launches LAUNCHES=2 STORE=$(SITES_FOLDER)/store OPTIONS_OF_REFRAME="$(SITES_OPTIONS)"

# Runs the checks and stores the results of those that passed, even if others failed. The failures
# are written to build/failures for the target `failures`.
.PHONY: checks
checks:
	@[ -e $(SETTINGS) ] || { echo "no site '$(SITE)': there is no $(SETTINGS);" \
	    "to make one: $(BIN)/switchpoint init site $(SITE)" >&2; exit 2; }
	@echo "== checks tagged $(TAG) on $(SITE); ReFrame's complete output is in build/reframe.log"
	@mkdir -p build output/reports; touch build/measure.start; rm -f build/failures
	@$(TIED) $(BIN)/reframe -C $(SETTINGS) -c checks -R -r -t $(TAG) $(if $(EXCLUDE),-x '$(EXCLUDE)') $(if $(PLACEMENT),-S placements=$(PLACEMENT)) \
	    $(OPTIONS_OF_REFRAME) --nocolor 2>&1 | \
	    { trap '' INT; tee build/reframe.log | \
	      sed -nu -E -e 's/^\[ +(OK|FAIL) \] \( *([0-9]+\/[0-9]+)\) (.*)$$/\1 \2 \3/p' \
	                -e 's/^.*WARNING: (this machine is busy)/\1/p'; } || \
	    { awk '/ERROR: |^reframe: error: / { print } \
	           /^FAILURE INFO for / { sub(/ \(run: .*/, ""); test = substr($$0, 18) } \
	           /^ +\* Environment: / { environment = $$3 } \
	           /^ +\* Reason: / { sub(/.*Reason: /, ""); print "FAIL " test ", " environment ": " $$0 }' \
	          build/reframe.log; \
	      echo "checks failed; ReFrame's complete output is in build/reframe.log"; } >build/failures
	@# ReFrame skips a check file that it cannot load, and still succeeds.
	@grep -A4 'WARNING: skipping test' build/reframe.log >>build/failures || true
	@! grep -q 'Ran 0/0 test' build/reframe.log || \
	    echo "nothing was measured: no check of $(SITE) is tagged $(TAG)$(if $(PLACEMENT), and measures $(PLACEMENT))$(if \
	        $(OPTIONS_OF_REFRAME), with $(subst ",,$(subst ',,$(OPTIONS_OF_REFRAME))))" >>build/failures
	@find output \( -name '*.record' -o -name netpipe.out -o -name 'osu_*.out' -o -name 'imb_*.out' \) \
	    -newer build/measure.start -print0 | \
	    xargs -0 --no-run-if-empty $(BIN)/switchpoint import --store $(STORE) || \
	    echo "switchpoint import failed, see above" >>build/failures

.PHONY: failures
failures:
	@[ ! -s build/failures ] || { cat build/failures >&2; exit 1; }

# Which studies, and where. SMOKE=yes measures as little as possible.
STUDIES ?= 000 001 002 003 004
STUDIES_FOLDER ?= build/studies
SMOKE ?=

.PHONY: studies
studies: install  ## measure what the five STUDIES need, in 11 minutes, and write a page for each
	@$(ONE_SESSION); mkdir -p build; \
	$(BIN)/python bench/studies.py $(STUDIES) --store $(STUDIES_FOLDER)/store $(if $(SMOKE),--smoke)
	@$(BIN)/switchpoint studies $(STUDIES_FOLDER)/store --output $(STUDIES_FOLDER)/pages

.PHONY: findings
findings: python  ## print the findings of the store, and write its curves to report/index.html
	@$(BIN)/switchpoint detect --store $(STORE) --report report
	@there=$$($(BIN)/python -c 'import sys, switchpoint; store = switchpoint.Store(sys.argv[1]); \
	    print(len(store.curves(placement="one_node_network", mode="send")))' $(STORE)); \
	[ $$there = 0 ] || { \
	    echo "== the switch near 64 KiB on the network path of one node; all others:" \
	        "$(BIN)/switchpoint explain$(if $(filter results,$(STORE)),, --store $(STORE))"; \
	    $(BIN)/switchpoint explain --store $(STORE) --near 64k --placement one_node_network --mode send; }

.PHONY: up down status
up: install  ## start the testbed, to run reframe by hand
	@$(BIN)/testbed up
down:  ## stop the testbed and remove it completely
	@$(BIN)/testbed down
status:  ## print the state of the testbed
	@$(BIN)/testbed status

## Testing

# Markers of tests/needs.py: tests that measure, compile, or start a cluster.
WHOLE_MACHINE := cluster or build
# Tests run make themselves, without the options of this one.
PYTEST = env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u INSTALLED $(BIN)/python -m pytest

# Ranks that wait keep a core busy, so tests that start ranks follow one another. What needs one core
# runs beside them, with less priority. What tests a time tries again, and counts on no core of its own.
.PHONY: test ranks-test
test: kernels-built  ## test everything: kernels, testbed, checks, analysis, report
	@rm -f build/cluster-tests.log build/one-core-tests.log
	@echo "== side by side: the tests that need one core, and those that start ranks (the kernels', then" \
	    "the cluster's); what they print is mixed here, and alone in build/*-tests.log"
	@status=0; $(MAKE) $(READY) --jobs=2 --keep-going ranks-test one-core-test || status=$$?; \
	echo "== in short"; tail --quiet --lines=1 build/one-core-tests.log build/cluster-tests.log; exit $$status

ranks-test:
	@status=0; for part in kernels-test cluster-test; do $(MAKE) $(READY) $$part || status=$$?; done; exit $$status

# Three at a time, on two cores too, since they often wait for Slurm.
.PHONY: cluster-test
cluster-test: install-test  ## test what needs a cluster or compiles: testbed, checks, benchmarks
	@mkdir -p build
	@$(PYTEST) --numprocesses=3 --basetemp=build/pytest-cluster \
	    -m '($(WHOLE_MACHINE)) and not quiet' --durations=15 | tee build/cluster-tests.log

.PHONY: one-core-test
one-core-test: install-test  ## test what needs one core: analysis, report, documentation
	@mkdir -p build
	@nice $(PYTEST) --quiet --numprocesses=auto \
	    --basetemp=build/pytest-one-core -m 'not ($(WHOLE_MACHINE))' | tee build/one-core-tests.log

.PHONY: test-quiet
test-quiet: install-test  ## test measured times, on a machine on which nothing else runs
	@$(BIN)/python -m pytest -m quiet

# What most changes touch: how files are read, what is found in curves, its causes, models, and how
# the code is written.
CHECKED := record importing more_formats other_tools published_tables single_values layout \
    detection cliffs states doubts ladder tables_without_repeats two_fabrics \
    explanation catalogue stack verdicts findings plan simulation \
    models patterns simulated false_discovery \
    code_layout docstrings silent_numbers
QUICK := not ($(WHOLE_MACHINE) or browser or spack or slow)

.PHONY: check coverage
check: python  ## in a minute: a part of `make test` by subject, without cluster, browser and build
	@$(BIN)/ruff check --quiet .
	@$(BIN)/python -m pytest --quiet --numprocesses=auto -m '$(QUICK)' \
	    $(CHECKED:%=tests/analysis/test_%.py) tests/prose

coverage: python  ## print the share of lines of each module that tests run without cluster, browser and build
	@$(BIN)/python -m pytest --quiet --numprocesses=auto -m '$(QUICK)' --ignore=tests/bench \
	    --cov --cov-report=term --cov-config=pyproject.toml

.PHONY: fuzz
fuzz: install-test  ## try hostile input on importers, kernels and store; MINUTES, default 10
	@[ -d build/ctest/sanitize/bin ] || $(MAKE) $(READY) built-sanitize
	@PYTHONPATH=tests $(BIN)/python -m fuzz --minutes $(MINUTES)

.PHONY: test-systems
test-systems: install  ## test other systems, all or those in SYSTEMS; needs root, takes half an hour
	@setup/packages.sh setup/debian-packages-systems.txt
	@$(BIN)/python tests/systems/try_systems.py $(SYSTEMS)

# The trees of the kernels' tests in build/ctest: one for each MPI, one with sanitizers, one simulated.
TREES = $(MPIS) sanitize $(shell command -v smpicc >/dev/null && echo simgrid)
WRAPPER_openmpi := mpicc.openmpi
WRAPPER_mpich := mpicc.mpich
WRAPPER_sanitize := mpicc.openmpi
WRAPPER_simgrid := smpicc
# Sanitizers check more than they compute: what optimises less compiles in half of the time.
OPTIONS_sanitize := -DSWITCHPOINT_SANITIZE=ON -DCMAKE_C_FLAGS_RELEASE=-O1
# For Open MPI each test runs once: what judges times without sanitizers, and all else with them.
TIMES_openmpi := only
TIMES_sanitize := none

.PHONY: kernels-test
kernels-test: kernels-built  ## test the kernels with each MPI, with sanitizers, and simulated
	@for tree in $(TREES); do $(MAKE) $(READY) ctest-$$tree; done
	@$(if $(filter simgrid,$(TREES)),,echo "== kernels' tests: build/ctest/simgrid: skipped, no smpicc here" \
	    "(Debian: libsimgrid-dev)")

.PHONY: kernels-built
kernels-built: install-test
	@$(MAKE) $(READY) $(TREES:%=built-%)

built-%:
	@mkdir -p build/ctest/$*
	@{ cmake -S src -B build/ctest/$* -DMPI_C_COMPILER=$(WRAPPER_$*) $(OPTIONS_$*) && \
	   cmake --build build/ctest/$* -- -j$$(nproc); } >build/ctest/$*/build.log 2>&1 || \
	   { tail -n 40 build/ctest/$*/build.log; echo "make: the complete log is build/ctest/$*/build.log" >&2; exit 1; }

# A test that tests a time may be tried again; how many were is printed.
ctest-%:
	@echo "== kernels' tests: build/ctest/$*"
	@SWITCHPOINT_TIMES=$(TIMES_$*) ctest --test-dir build/ctest/$* --output-on-failure >build/ctest/$*/log 2>&1 || \
	   { tail -n 40 build/ctest/$*/log; echo "make: the complete log is build/ctest/$*/log" >&2; exit 1; }
	@grep -E 'tests passed' build/ctest/$*/log
	@tried='is tried again: '; ran=build/ctest/$*/Testing/Temporary/LastTest.log; \
	echo "tests of times that were tried again: $$(grep -c "$$tried" $$ran || true)"; \
	grep "$$tried" $$ran || true

.PHONY: lint lint-c lint-text
lint: install-test  ## run all formatters, linters and type checks
	@mkdir -p build
	@$(MAKE) $(READY) --jobs=2 --output-sync=target lint-c lint-text
	@echo "lint: clean"

lint-c:
	@clang-format --dry-run -Werror $(C_FILES)
	@cmake -S src -B build/ctest/openmpi -DMPI_C_COMPILER=mpicc.openmpi >/dev/null
	@printf '%s\n' $(filter-out bench/% checks/% tests/analysis/%,$(filter %.c,$(C_FILES))) | \
	    xargs --max-procs=$$(nproc) --max-args=10 clang-tidy --quiet -p build/ctest/openmpi 2>/dev/null

lint-text:
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo >build/lint-imports.log || { cat build/lint-imports.log; exit 1; }
	@shellcheck $(SHELL_FILES)
	@$(BIN)/codespell $(PROSE_FILES)
	@$(BIN)/python tests/prose/check_prose.py $(PROSE_FILES)

.PHONY: docs
docs: install  ## build the documentation into build/site; fail at a broken link
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet
	@echo "build/site/index.html"

.PHONY: format
format: install-test  ## apply the formatters
	@$(BIN)/ruff check --fix --quiet . || true
	@$(BIN)/ruff format .
	@clang-format -i $(C_FILES)

## Setting up

.PHONY: install
install: packages python  ## install missing Debian packages and the Python environment

.PHONY: install-test
install-test: packages-test python

.PHONY: packages packages-test
packages:
	@$(if $(INSTALLED),,setup/packages.sh setup/debian-packages.txt)
packages-test:
	@$(if $(INSTALLED),,setup/packages.sh setup/debian-packages.txt setup/debian-packages-test.txt)

.PHONY: python
python:
	@$(if $(INSTALLED),,setup/venv.sh $(VENV) $(PYTHON))

.PHONY: lock
lock: python  ## update requirements/dev.lock from pyproject.toml
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.10 --generate-hashes --upgrade \
	    --extra checks --group dev pyproject.toml -o requirements/dev.lock

.PHONY: clean
clean:  ## remove everything that was built and measured, except results/
	@rm -rf build report output stage perflogs reframe.* .mypy_cache .ruff_cache .pytest_cache
