# make demo   set everything up, compare placements on a real kernel, print a table, write pictures into demo/
# make test   every test, Rust and Python
# make soak   random histories of the manager against its reference model, 10 million events; 10,000 random scenarios
#             whose books have to balance; changed files for every reader, a minute each; property tests at ten times
#             their size; CONTRIBUTING.md has more
# make corpus changed files that reach new messages are kept for the tests (fuzz/README.md): a minute for each reader
# make audit  known vulnerabilities of what Octavo depends on (needs network)
# make mutants  every line of the manager, broken one by one: which does no test catch? All are in one build. Hours; what
#             was done of a commit is not done again. SAMPLE lines of the machine, too, drawn at random by SEED
# make lint   formatting, clippy, ruff, mypy, stubs against the binary
# make bench  speed and memory
# make wheel  the package to install elsewhere, in dist/: built once to be watched at typical work, and again for that;
#             and a source distribution. Each is installed into an empty environment, where it must run the demo
# make wheel-aarch64  the same for AArch64 Linux, cross-built, and a run of it under qemu that leaves the same bytes as
#             here; needs Debian's gcc-aarch64-linux-gnu and qemu-user
# make release  what there is of a version to hand out, in dist/: wheel, source distribution, and their SHA-256 sums. It ends
#             where the version has no section in CHANGELOG.md, or files differ from what is committed. Nothing is published
# make check-macos  the package's Rust code passes the compiler for macOS on Arm; nothing is linked, and nothing has run there
# make docs   the documentation site in site/, reference of the crates, pictures of the README
# make kernels compile the probes' kernels for octavo-probe again: crates/octavo-probe/kernels
# make runtime the library for C and C++ programs, and the interposer, into PREFIX, /usr/local if left out
# make traces record the traces of traces/ and validation/ again, 250 in two minutes (needs Go), and check that they are
#             the same to the byte (validation/traces.sha256). MISSING=1 records only those that are not there
# make validation record what is missing of them, and compare with MGPUSim's cached results again: docs/validation.md,
#             and octavo.csv beside each table of validation/

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
VEGA := python/octavo/report/page/vega.js
TYPES := tools/wheel/type_files.py
UV := $(shell command -v uv 2> /dev/null)
INSTALL := $(if $(UV),uv pip install --quiet --python $(BIN)/python,$(BIN)/python -m pip install)
SOURCES := $(shell find crates presets -name '*.rs' -o -name '*.toml') Cargo.toml Cargo.lock pyproject.toml

export PIP_QUIET := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test soak corpus audit mutants lint lint-rust lint-python bench wheel wheel-aarch64 release check-macos docs kernels runtime traces validation clean
.DELETE_ON_ERROR:

demo: $(VENV)/built
	$(BIN)/octavo compare --workload stencil2d --scale 0.0625 \
	    --placement on-touch,access-counter,duplication,first-touch,grit,ideal --output demo --force
	@echo "Pictures: demo/speedup.png demo/breakdown.png"

test: $(VENV)/built $(VENV)/checks
	cargo test --workspace --quiet
	$(BIN)/python -m pytest --numprocesses auto --dist loadfile

soak: $(VENV)/built $(VENV)/checks
	cargo test --release --package octavo-manager --test it -- --ignored --nocapture very_many_histories
	cargo test --release --package octavo-sim --test it -- --ignored all_numbers_of_all_nodes
	cargo test --package octavo-sim --test it -- --ignored --nocapture very_many_random_scenarios
	OCTAVO_FUZZ_SECONDS=60 $(BIN)/python -m pytest --numprocesses auto python/tests/test_fuzz_readers.py
	PROPTEST_CASES=2560 cargo test --workspace --quiet

corpus: $(VENV)/built $(VENV)/checks
	OCTAVO_FUZZ_GROW=1 OCTAVO_FUZZ_SECONDS=60 $(BIN)/python -m pytest --numprocesses auto python/tests/test_fuzz_readers.py

audit: $(VENV)/built
	command -v cargo-audit > /dev/null || cargo install --locked cargo-audit
	cargo audit
	$(INSTALL) pip-audit
	$(BIN)/pip freeze --exclude-editable > $(VENV)/audited.txt
	$(BIN)/pip-audit --strict --no-deps --disable-pip --requirement $(VENV)/audited.txt

mutants: SAMPLE ?= 40
mutants: SEED ?= 19
mutants: MUTANTS := target/mutants/venv/bin/python tools/mutants/run.py
mutants:
	command -v cargo-mutants > /dev/null || cargo install --locked cargo-mutants
	$(PYTHON) -m venv target/mutants/venv
	target/mutants/venv/bin/python -m pip install --quiet tree-sitter==0.26.1 tree-sitter-rust==0.24.2
	$(MUTANTS) octavo-manager --tests octavo-manager --tests octavo-driver --skip conformance:: --skip four_gpus_need \
	    --slowest 2 --output target/mutants/manager
	$(MUTANTS) octavo-sim --file 'crates/octavo-sim/src/machine/**' --sample $(SAMPLE) --seed $(SEED) \
	    --skip every_key --skip every_combination --skip serial_jobs_on_gpus_of_their_own_are_served_alike \
	    --output target/mutants/machine

# Two, so that `make --jobs 2 lint` has work for both while packages are installed.
lint: lint-rust lint-python

lint-rust:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet -- --deny warnings

lint-python: $(VENV)/built $(VENV)/checks
	$(BIN)/ruff format --check --quiet python tools/docs tools/mgpusim-reference tools/mutants tools/networks tools/ramulator tools/sass tools/transform tools/wheel
	$(BIN)/ruff check --quiet python tools/docs tools/mgpusim-reference tools/mutants tools/networks tools/ramulator tools/sass tools/transform tools/wheel
	$(BIN)/mypy
	MYPYPATH=python $(BIN)/python -m mypy.stubtest octavo._core

bench: $(VENV)/built
	cargo bench --workspace
	$(BIN)/python python/benchmarks/speed.py
	$(BIN)/python python/benchmarks/policies.py

wheel: $(VENV)/built
	$(BIN)/python tools/wheel/licences.py
	@if command -v rustup > /dev/null && rustup component add llvm-tools; then \
	    $(BIN)/maturin build --release --pgo --out dist; \
	else \
	    echo "make wheel: no llvm-tools: built without watching typical work, which costs a few percent of speed" >&2; \
	    $(BIN)/maturin build --release --out dist; \
	fi
	$(BIN)/python tools/wheel/try.py "$$(ls -t dist/octavo-*.whl | head -1)"
	$(BIN)/maturin sdist --out dist
	CARGO_TARGET_DIR=$(CURDIR)/target/sdist $(BIN)/python tools/wheel/try.py "$$(ls -t dist/octavo-*.tar.gz | head -1)"

wheel-aarch64: $(VENV)/built
	rustup target add aarch64-unknown-linux-gnu
	$(BIN)/python tools/wheel/licences.py
	CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc \
	    CC_aarch64_unknown_linux_gnu=aarch64-linux-gnu-gcc \
	    $(BIN)/maturin build --release --target aarch64-unknown-linux-gnu --out dist
	tools/wheel/aarch64.sh "$$(ls -t dist/octavo-*aarch64.whl | head -1)" $(BIN)/python target/aarch64-try

release:
	$(PYTHON) tools/wheel/release.py
	rm -rf dist
	$(MAKE) wheel
	$(PYTHON) tools/wheel/release.py dist

# C libraries stay empty: here is no compiler that has macOS's headers.
check-macos: export CC_aarch64_apple_darwin := $(CURDIR)/tools/wheel/empty-objects.sh
check-macos: export AR_aarch64_apple_darwin := $(CC_aarch64_apple_darwin)
check-macos:
	rustup target add aarch64-apple-darwin
	cargo check --quiet --target aarch64-apple-darwin --package octavo-python

docs: $(VENV)/built $(VENV)/checks
	RUSTDOCFLAGS='--deny warnings' cargo doc --workspace --no-deps --quiet
	$(BIN)/python tools/docs/pictures.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "Documentation: site/index.html (with search: python3 -m http.server -d site)"

# The oldest compiler whose text the oldest driver knows that the probes run on (CUDA 12.2).
kernels:
	$(PYTHON) -m venv target/nvrtc
	target/nvrtc/bin/python -m pip install --quiet nvidia-cuda-nvrtc-cu12==12.2.140
	LD_LIBRARY_PATH="$$(echo "$(CURDIR)"/target/nvrtc/lib/python*/site-packages/nvidia/cuda_nvrtc/lib)" \
	    cargo run --quiet --package octavo-gpu --example ptx -- crates/octavo-probe/kernels

runtime: PREFIX ?= /usr/local
runtime:
	cargo build --release --package octavo-runtime --package octavo-interpose
	sh crates/octavo-runtime/install.sh target/release "$(PREFIX)"

traces: $(VENV)/built
	$(BIN)/python tools/mgpusim-reference/traces.py $(if $(MISSING),--missing)

validation: $(VENV)/built $(VENV)/checks
	$(BIN)/python tools/mgpusim-reference/traces.py --missing
	for set in validation validation/set-aside validation/set-aside-2 validation/set-aside-3; do \
	    $(BIN)/octavo validate mgpusim --reference $$set/mgpusim-v4.2.0.csv --traces $$set/traces --force \
	        --output runs/$${set##*/} --markdown docs/validation.md --csv $$set/octavo.csv || exit 1; \
	done
	$(BIN)/python tools/docs/palette.py runs/validation/validation.png -o docs/images
	OCTAVO_TRACES=required $(BIN)/python -m pytest python/tests/test_validate.py

clean:
	rm -rf $(VENV) demo target

# The environment, the tools that build, the package itself, and what only checks need.

$(VENV)/tools: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "Octavo needs Python 3.10 or newer: make PYTHON=...")'
ifeq ($(UV),)
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) --upgrade 'pip>=25.1'
else
	uv venv --quiet --allow-existing --python "$$(command -v $(PYTHON))" $(VENV)
endif
	$(INSTALL) --group build
	@touch $@

# The charts library of reports. With it, each report takes 1.5 s less.
$(VEGA): $(VENV)/tools tools/wheel/vega.py
	$(BIN)/python tools/wheel/vega.py

# With the types that are made of what the core tells: octavo.Config, totals of results.
$(VENV)/built: $(VENV)/tools $(SOURCES) $(VEGA) $(TYPES)
	. $(BIN)/activate && maturin develop --release --quiet --extras pictures $(if $(UV),--uv)
	$(BIN)/python $(TYPES)
	@touch $@

$(VENV)/checks: $(VENV)/tools
	$(INSTALL) --group check
	@touch $@
