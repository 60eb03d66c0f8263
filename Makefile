# make demo   build, fetch the embedded model, run jobs/demo.yaml and show its results
# make test   the modules' tests, in release; FILTER=NAME some of all tests
# make test-all  the program's tests, Python's, torture and attacks, too: what CI runs
# make torture  kill real jobs 400 times and compare (KILLS=n of each kind, TORTURE=quick)
# make dev    the program in a minute after an edit: Swift without optimization, kernels with it, in .build-dev
# make attack  faults, limits, full disks, hostile models and names, in 10 minutes (CASE=name, ATTACKS=quick)
# make mlx    fetch MLX and put it beside the program, for "engine: mlx"
# make bench-peers  compare the speed with llama.cpp, ik_llama.cpp and OpenVINO (two hours, 18 GB)
# make wheel  what pip installs: the program and its Python package, in .build/wheel
# make install  program and completions into PREFIX (/usr/local); it then runs without Swift
# make help   the other targets
SHELL := /bin/sh
# One set of flags for program and tests, so that nothing is compiled twice. Debugging's tables would cost a tenth of
# the time.
FLAGS = -c release -Xswiftc -enable-testing -debug-info-format none
SWIFT ?= swift
PYTHON ?= python3
MODEL = models/smollm2-demo
PHIBATCH = .build/release/phibatch
# Tests keep their packed weights here, not among the user's.
TEST_CACHE = PHIBATCH_CACHE="$(CURDIR)/.build/weights"

.PHONY: dev wheel test-python test-program install uninstall stage stage-mlx check-install deb image check-deb check-image demo test test-all tests-built readme page answers guesses steps lines torture attack sanitize fuzz fuzz-corpus bench-peers perplexity mlx build tools settings model clean docs help format lint check-swift

demo: build model
	@echo "==> running jobs/demo.yaml"
	@$(PHIBATCH) run jobs/demo.yaml
	@echo "==> the first results of out/demo.jsonl"
	@$(PYTHON) -c 'import json; [print("--", r["id"] + ":", (r.get("text") or r["error"]["message"]).strip()) \
		for r in map(json.loads, list(open("out/demo.jsonl"))[:6])]'
	@echo "==> all of them are in out/demo.jsonl"
	@echo "==> to type phibatch from now on: make install PREFIX=$(HOME)/.local, or alias phibatch='$(CURDIR)/$(PHIBATCH)'"

dev: check-swift
	@PHIBATCH_DEV=yes $(SWIFT) build $(FLAGS) --scratch-path .build-dev --product phibatch

# What tests skip is noted, and said at the end.
SKIPPED = .build/skipped.tsv
NOTING = $(PYTHON) Tests/SkipReport/skipped.py run $(SKIPPED)
# In the background a shell ignores interrupts, which tests send.
RESET = $(PYTHON) Tests/SkipReport/skipped.py run /dev/null
PROGRAM_LOG = .build/program-tests.log

# Builds by itself: "swift test" would compile everything once more, with flags of its own.
tests-built: check-swift
	@mkdir -p .build && rm -f $(SKIPPED)
	@echo "==> building program and tests (the first time takes some minutes)"
	@$(if $(ALL),PYTHON="$(PYTHON)" Tests/Python/venv.sh .build/python-venv >/dev/null &) $(SWIFT) build $(FLAGS) --build-tests; \
		result=$$?; wait && exit $$result
	@$(MAKE) --no-print-directory BUILT=yes model
	@echo "==> running the tests (release)"

SWIFT_TEST = $(TEST_CACHE) PHIBATCH_DEMO_MODEL="$(CURDIR)/$(MODEL)" PHIBATCH_PROGRAM="$(CURDIR)/$(PHIBATCH)" \
	$(NOTING) $(SWIFT) test --skip-build $(FLAGS)

# Without those that run the program, and those under an emulator.
test: tests-built
	@$(SWIFT_TEST) $(if $(FILTER),--filter "$(FILTER)",--skip PhibatchTests --skip KernelParityTests)
	@$(PYTHON) Tests/SkipReport/skipped.py table $(SKIPPED)

test-all:
	@$(MAKE) --no-print-directory ALL=yes tests-built
	@$(RESET) $(MAKE) --no-print-directory BUILT=yes test-program >$(PROGRAM_LOG) 2>&1 & program=$$!; \
		$(SWIFT_TEST); result=$$?; wait $$program || result=1; cat $(PROGRAM_LOG); exit $$result
	@$(PYTHON) Tests/SkipReport/skipped.py table $(SKIPPED)

# The parts of "make test-all" that only need the program. Side by side, and beside the other tests, as all wait a good deal.
test-program:
	@$(NOTING) $(MAKE) --no-print-directory test-python & \
	$(MAKE) --no-print-directory torture KILLS=20 TORTURE=quick && $(NOTING) $(MAKE) --no-print-directory attack ATTACKS=quick; \
	result=$$?; wait $$! && exit $$result

# Ends real jobs over and over at random moments; what comes out must be as if undisturbed. Those with steps come after the
# others, with as many kills; TORTURE=quick has short ones, and fewer.
KILLS ?= 200
torture: build model
	@echo "==> killing jobs"
	@$(TEST_CACHE) $(PYTHON) Tests/Torture/torture.py --kills $(KILLS) $(if $(filter quick,$(TORTURE)),--quick) \
		--program $(PHIBATCH) --model $(MODEL)

# What bad luck and bad will can do to the real program; CASE is the beginning of cases' names (kills, limits/pids).
attack: build model
	@echo "==> attacking the program"
	@$(PYTHON) -B Tests/Attack/attack.py $(if $(filter quick,$(ATTACKS)),--quick) --program $(PHIBATCH) --model $(MODEL) \
		$(CASE)

# The tests under the thread and the address sanitizer, built apart. The demo model is left out: too slow.
sanitize: check-swift
	@for sanitizer in thread address; do \
		echo "==> the tests under the $$sanitizer sanitizer"; \
		$(TEST_CACHE) PHIBATCH_DEMO_MODEL=none PHIBATCH_SANITIZER=$$sanitizer \
			LSAN_OPTIONS=suppressions="$(CURDIR)/Tests/leaks.supp" $(SWIFT) test $(FLAGS) --sanitize=$$sanitizer \
			--scratch-path .build/sanitize-$$sanitizer $(if $(FILTER),--filter "$(FILTER)") || exit 1; \
	done

# Hostile input by libFuzzer, for each reader of foreign bytes; Tests/Fuzz/fuzz.sh says where the finds go.
# TARGET: line, job, log, record, safetensors, config, model, gguf, tokenizer, template; all by default.
SECONDS = 60
fuzz: check-swift
	@SWIFT="$(SWIFT)" Tests/Fuzz/fuzz.sh $(SECONDS) $(TARGET)

fuzz-corpus: check-swift
	@SWIFT="$(SWIFT)" Tests/Fuzz/fuzz.sh keep $(TARGET)

# BENCH passes options on, e.g. BENCH="--engines phibatch,llama --works tg32"; see Tests/Benchmarks/Peers/README.md.
bench-peers: build
	@$(TEST_CACHE) $(PYTHON) Tests/Benchmarks/Peers/bench_peers.py $(BENCH)

# Perplexity beside exact arithmetic's and llama.cpp's, on two texts; TEXT=file for another text, BENCH for options.
perplexity: build tools model
	@$(TEST_CACHE) $(PYTHON) Tests/Benchmarks/Peers/perplexity.py $(BENCH) $(TEXT)

# Apple's MLX for this machine, in the version that Sources/CMLX/phi_mlx.h names, and what connects it. MLX names
# another of its packages, such as MLX=mlx-cuda-12.
mlx: build
	@PYTHON="$(PYTHON)" sh Sources/CMLX/fetch.sh .build/release/phibatch-mlx $(MLX)

# 2,000 answers under 200 schemas, judged by Python's jsonschema; ANSWERS passes options on, e.g. ANSWERS="--seed 2".
SHARED = $(or $(PHIBATCH_SHARED),$(CURDIR)/../shared)
SUITE = $(SHARED)/fixtures/jsonschema/maskbench-half.jsonl.gz
answers: build model
	@[ ! -f "$(SUITE)" ] || [ -d .build/python/jsonschema ] || \
		$(PYTHON) -m pip install -q --target .build/python 'jsonschema[format-nongpl]==4.26.0' >/dev/null || \
		echo "==> pip could not install jsonschema; is there a network?"
	@echo "==> judging answers under schemas"
	@PYTHONPATH=.build/python $(PYTHON) -B Tests/Schemas/answers.py $(PHIBATCH) --model $(MODEL) --suite "$(SUITE)" \
		$(ANSWERS)

# What guessing ahead gives on texts of this system; GUESSES passes options on, e.g. GUESSES="--workers 1".
guesses: build model
	@$(PYTHON) -B Tests/Benchmarks/Guesses/texts.py $(PHIBATCH) --model $(MODEL) $(GUESSES)

# What steps cost beside the same requests as one flat job; STEPS passes options on, e.g. STEPS="--rows 1000".
steps: build model
	@$(PYTHON) -B Tests/Benchmarks/Steps/throughput.py $(PHIBATCH) --model $(MODEL) $(STEPS)

# What a line costs outside the model, and whether steps wait for slow disks; LINES passes options on, e.g.
# LINES="--lines 50000 --tokens 64".
lines: build
	@$(PYTHON) -B Tests/Benchmarks/PerLineCost/cost.py $(PHIBATCH) --maker "$(SHARED)/tools/synthetic_model.py" $(LINES)

# What README says, tried.
readme:
	@$(MAKE) --no-print-directory test FILTER='ReadmeTests|DocumentedProgramTests'

# What "phibatch report" makes of 400 results, looked at in headless Chromium, if there is one.
page: build model
	@$(PYTHON) -B Tests/Report/page.py $(PHIBATCH) $(MODEL)

# The pages of the library products, in .build/docs; a link that leads nowhere is an error.
docs: build
	@SWIFT="$(SWIFT)" Tests/Docs/check.sh

build: check-swift
ifndef BUILT
	@echo "==> building (the first time takes some minutes)"
	@$(SWIFT) build $(FLAGS) --product phibatch
endif

# .build/release/phibatch-dev: kernels, perplexity, schemas.
tools: check-swift
ifndef BUILT
	@$(SWIFT) build $(FLAGS) --product phibatch-dev
endif

# Python's list of settings, from the program's table.
settings: tools
	@.build/release/phibatch-dev settings > .build/settings.py && mv .build/settings.py Sources/Python/phibatch/_settings.py

# DESTDIR goes before PREFIX, for packages. As root over somebody else's tree it only copies what "make stage" made.
PREFIX ?= /usr/local
INSTALL ?= install
STAGE = .build/install
BASH_COMPLETION = share/bash-completion/completions/phibatch
ZSH_COMPLETION = share/zsh/site-functions/_phibatch
FISH_COMPLETION = share/fish/vendor_completions.d/phibatch.fish
INSTALLED = bin/phibatch $(BASH_COMPLETION) $(ZSH_COMPLETION) $(FISH_COMPLETION)
# What "make mlx" fetched, if it did.
MLX_FOLDER = lib/phibatch-mlx
STAGED = $(addprefix $(STAGE)/,$(INSTALLED))

install:
	@if [ ! -d .build ] || [ -O .build ]; then $(MAKE) -s stage; fi
	@for file in $(STAGED); do [ -f $$file ] || { echo "error: no $$file; run \"make stage\" first" >&2; exit 1; }; done
	$(INSTALL) -d $(addprefix "$(DESTDIR)$(PREFIX)"/,$(dir $(INSTALLED)))
	$(INSTALL) -m 755 $(STAGE)/bin/phibatch "$(DESTDIR)$(PREFIX)/bin/phibatch"
	$(INSTALL) -m 644 $(STAGE)/$(BASH_COMPLETION) "$(DESTDIR)$(PREFIX)/$(BASH_COMPLETION)"
	$(INSTALL) -m 644 $(STAGE)/$(ZSH_COMPLETION) "$(DESTDIR)$(PREFIX)/$(ZSH_COMPLETION)"
	$(INSTALL) -m 644 $(STAGE)/$(FISH_COMPLETION) "$(DESTDIR)$(PREFIX)/$(FISH_COMPLETION)"
	rm -rf "$(DESTDIR)$(PREFIX)/$(MLX_FOLDER)"
	if [ -d $(STAGE)/$(MLX_FOLDER) ]; then $(INSTALL) -d "$(DESTDIR)$(PREFIX)/lib" && \
		cp -R $(STAGE)/$(MLX_FOLDER) "$(DESTDIR)$(PREFIX)/lib"; fi

uninstall:
	rm -f $(addprefix "$(DESTDIR)$(PREFIX)"/,$(INSTALLED))
	rm -rf "$(DESTDIR)$(PREFIX)/$(MLX_FOLDER)"

# What install copies.
stage: build
	@$(MAKE) -s BUILT=yes $(STAGED) stage-mlx

# Of MLX what runs. Its headers are for compiling against it, but for those that its CUDA back end compiles kernels with.
MLX_BUILT = .build/release/phibatch-mlx
stage-mlx:
	@rm -rf $(STAGE)/$(MLX_FOLDER)
	@if [ -d $(MLX_BUILT) ]; then mkdir -p $(STAGE)/lib && cp -R $(MLX_BUILT) $(STAGE)/$(MLX_FOLDER) && \
		cd $(STAGE)/$(MLX_FOLDER) && rm -rf mlx/share && if [ -d mlx/include ]; then \
		find mlx/include -mindepth 1 -maxdepth 1 ! -name cccl -exec rm -rf {} + && \
		find mlx/include -maxdepth 0 -empty -delete; fi; fi

# The same objects that the tests run, linked once more, with the libraries of Swift, C++ and zlib inside: some seconds,
# where another build takes minutes. The file that imports Foundation's essentials brings in the libraries that these
# need. Without symbols: Swift's backtraces need a program of Swift's anyway. On macOS the libraries are part of the
# system.
OBJECTS = .build/release/phibatch.product/Objects.LinkFileList
# The C++ library and zlib as archives, where the system has them.
LINKED = $(STAGE)/linked
$(STAGE)/bin/phibatch: $(PHIBATCH)
	@mkdir -p $(@D)
ifeq ($(shell uname -s),Darwin)
	@cp $(PHIBATCH) $@
else
	@echo "==> linking the program with Swift's libraries"
	@[ -f $(OBJECTS) ] || { echo "error: no $(OBJECTS), which Swift 6.2's build leaves" >&2; exit 1; }
	@rm -rf $(LINKED) && mkdir -p $(LINKED)
	@for file in libstdc++.a libz.a; do ln -s "$$(clang -print-file-name=$$file)" $(LINKED)/; done
	@echo 'import FoundationEssentials' > $(LINKED)/Essentials.swift
	@$(SWIFT)c -parse-as-library -module-name phibatch -static-stdlib -use-ld=lld -Xlinker --gc-sections -Xlinker -s \
		-Xlinker --defsym -Xlinker main=phibatch_main $(LINKED)/Essentials.swift @$(OBJECTS) \
		-L $(LINKED) -lstdc++ -lm -lz -o $@
endif

$(STAGE)/$(BASH_COMPLETION) $(STAGE)/$(ZSH_COMPLETION) $(STAGE)/$(FISH_COMPLETION): $(STAGE)/bin/phibatch
	@mkdir -p $(@D)
	@$< --generate-completion-script $(word 2,$(subst -, ,$(subst /, ,$(@:$(STAGE)/%=%)))) > $@

# The Python package with the program in it; by Python's own library.
WHEEL = .build/wheel
wheel: stage
	@$(PYTHON) -B Sources/Python/wheel.py $(STAGE) $(WHEEL)

# The package's tests, in a venv made from the wheel. PYTEST passes options on, e.g. PYTEST="-k map".
test-python: wheel model
	@echo "==> testing the Python package"
	@$(TEST_CACHE) PYTHON="$(PYTHON)" Tests/Python/run.sh $(WHEEL)/*.whl $(MODEL) .build/python-venv $(PYTEST)

# What the installed program needs of a machine, and then it runs in a root with nothing but Debian's smallest system;
# as root, with debootstrap.
check-install: stage model
	@Tests/Install/portable.sh $(STAGE)/bin/phibatch
	@Tests/Install/bare_root.sh $(STAGE) $(MODEL)

# A Debian package and an OCI image of the same program.
VERSION = $(shell sed -n 's/.*static let current = "\(.*\)"/\1/p' Sources/OperatingSystem/ProgramVersion.swift)
DEB = .build/packages/phibatch_$(VERSION)_$(shell dpkg --print-architecture 2>/dev/null).deb
IMAGE = .build/packages/phibatch_$(VERSION).oci.tar
deb: stage
	@mkdir -p $(dir $(DEB)) && sh Sources/Packaging/deb.sh $(STAGE) $(DEB) $(VERSION)

image: stage
	@mkdir -p $(dir $(IMAGE)) && sh Sources/Packaging/image.sh $(STAGE) $(IMAGE) $(VERSION)

# As root: lintian, with debootstrap the package in a bare root, with buildah the image.
check-deb: deb model
	lintian --fail-on warning $(DEB)
	@Tests/Install/bare_root.sh $(STAGE) $(MODEL) $(DEB)

check-image: image model
	@sh Tests/Install/image.sh $(IMAGE) $(MODEL)

model: $(MODEL)/model.safetensors

$(MODEL)/model.safetensors:
	@$(MAKE) --no-print-directory build
	@mkdir -p $(dir $(MODEL))
	@PHIBATCH_CACHE="$(CURDIR)/$(dir $(MODEL))" $(PHIBATCH) pull $(notdir $(MODEL))

check-swift:
	@command -v $(SWIFT) >/dev/null || { echo "error: no swift; install Swift 6.2 or newer" >&2; exit 1; }

format:
	@$(SWIFT) format -i -r Package.swift Sources Tests

lint:
	@$(SWIFT) format lint --strict -r Package.swift Sources Tests
	@! grep -rn '^import Foundation$$' Sources || \
		{ echo "error: sources have what they need of Foundation by FoundationShim; the rest brings ICU" >&2; exit 1; }
	@$(PYTHON) -B Tests/FolderCycles/cycles.py
	@$(PYTHON) -B Tests/FolderCycles/marks.py
	@$(PYTHON) -B Tests/FolderCycles/budget.py

clean:
	rm -rf .build out

help:
	@sed -n 's/^# make/make/p' Makefile
	@echo "make build  the program only: $(PHIBATCH)"
	@echo "make uninstall  remove what make install put into PREFIX"
	@echo "make stage  what make install copies, into $(STAGE), so that only the copying needs root"
	@echo "make check-install  run it in a bare Debian root (as root, with debootstrap)"
	@echo "make deb    a Debian package; make check-deb tries it (as root, with lintian and debootstrap)"
	@echo "make image  an OCI image, by buildah; make check-image tries it (as root)"
	@echo "make tools  what measures kernels, perplexity and schemas, for those who work on phibatch: .build/release/phibatch-dev"
	@echo "make model  the embedded model only: $(MODEL)"
	@echo "make test FILTER=NAME  some of all tests"
	@echo "make test-python  the Python package's tests, in a venv made from the wheel"
	@echo "make readme  what README says, tried"
	@echo "make steps  what steps cost beside the same requests as one flat job"
	@echo "make lines  what a line costs outside the model, with slow syncs"
	@echo "make page   look at a report in headless Chromium, if there is one"
	@echo "make answers  2,000 answers of the embedded model under 200 schemas, judged by Python's jsonschema (minutes)"
	@echo "make guesses  what guessing tokens ahead gives on licences and manual pages, and that results stay the same"
	@echo "make sanitize  the tests under the thread and address sanitizers"
	@echo "make fuzz   hostile input for every parser, a minute each (SECONDS=n TARGET=name)"
	@echo "make perplexity  quality beside exact arithmetic and llama.cpp (half an hour)"
	@echo "make docs   the DocC pages of the library, with their links checked"
	@echo "make settings  Python's list of settings, from the program's table"
	@echo "make lint   check the formatting, the budget, and that no two folders depend on each other; make format formats"
