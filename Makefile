# Short names for what is done often. The work is in CMakeLists.txt and scripts/. SPDX-License-Identifier: MIT
PREFIX ?= /usr/local
PROMPT ?= Once upon a time, in a small village by the sea,
N ?= 48
T ?= 60

.PHONY: all
all: ## build the program and the library (build/release)
	@scripts/build release

.PHONY: demo
demo: ## install what is missing, build, get the default model, run PROMPT with it
	@scripts/install-deps
	@scripts/build release quern_cli
	@scripts/fetch-default-model
	build/release/quern run --temp 0 -n $(N) "$(PROMPT)"

.PHONY: check
check: ## all tests of the release build and the layer check, with one summary
	@scripts/run-tests release

.PHONY: check-layers
check-layers: ## does every #include keep to docs/layers.txt?
	@scripts/check-layers --self-test
	@scripts/check-layers

.PHONY: asan asan-og tsan
asan: ## the short tests under the address and undefined-behaviour sanitizers
	@scripts/run-tests asan -L short
asan-og: ## the same without optimisation, which hides some faults
	@scripts/run-tests asan-og -L short
tsan: ## the short tests under the thread sanitizer
	@scripts/run-tests tsan -L short

.PHONY: check-arm
check-arm: ## kernels, quants and a tiny model built for 64-bit ARM and run by qemu (scripts/check-arm)
	@scripts/check-arm

.PHONY: fuzz
fuzz: ## each fuzzer for T seconds, or only those of F="gguf_reader_fuzz ..."
	@scripts/build fuzz fuzzers
	@scripts/fuzz $(T) $(F)

.PHONY: oracle-text oracle-torch
oracle-text: ## ids of all real vocabularies beside their own tokenizers; downloads about 250 MB once
	@scripts/py-env
	@scripts/build release
	@QUERN_ORACLE_FULL=1 QUERN_ORACLE_BIN=$(CURDIR)/build/release/oracle scripts/run-pytest tests/oracle/text
oracle-torch: ## comparisons with PyTorch models; installs several hundred MB below build/
	@scripts/py-env tests/oracle/requirements.txt tests/oracle/requirements-torch.txt
	@scripts/run-tests release -L oracle

.PHONY: bench bench-peer
bench: ## speed of this machine with the model M (without M: the default model)
	@scripts/build release quern_cli
	build/release/quern bench $(if $(M),-m $(M))

bench-peer: ## the model M side by side with PEER=.../llama-bench PEER_RUN=.../llama-completion (bench/README.md)
	@scripts/build release quern_cli
	bench/compare.py --quern build/release/quern --peer "$(PEER)" --peer-run "$(PEER_RUN)" --model "$(M)"

.PHONY: format tidy size-report
format: ## clang-format over the C files
	@find src include tests bench examples -name '*.[ch]' ! -name '*_tables.c' | xargs clang-format -i
tidy: ## clang-tidy over the C files of src/
	@scripts/build release
	@find src -name '*.c' ! -name '*_tables.c' | xargs -n 8 -P $$(nproc) clang-tidy --quiet -p build/release 2>&1 | \
	    grep -v 'warnings\? generated'
size-report: ## the longest files and functions, the size of each layer
	@scripts/size-report

.PHONY: install
install: ## program, library, header and pkg-config file below PREFIX (/usr/local)
	@scripts/build release
	@cmake --install build/release --prefix "$(PREFIX)"

.PHONY: clean
clean: ## remove build/
	rm -rf build

.PHONY: help
help: ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 15
