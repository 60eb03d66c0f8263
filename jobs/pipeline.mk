# Two steps in a row: make -f jobs/pipeline.mk
# Each step is done again only if its job or its input is newer; of a changed input only the changed lines are.
# The program that is installed, or else the one that is built here; a fresh clone builds it, and fetches the model.
BUILT = .build/release/phibatch
PHIBATCH ?= $(or $(shell command -v phibatch),$(BUILT))
MODEL = models/smollm2-demo/model.safetensors
NEEDED = $(MODEL) $(filter $(BUILT),$(PHIBATCH))

all: out/judged.jsonl

out/answers.jsonl: jobs/answers.yaml samples/prompts.jsonl | $(NEEDED)
	$(PHIBATCH) run --quiet --if-changed restart $< && touch $@ || { touch -ct 197001010000 $@; false; }

out/judged.jsonl: jobs/judge.yaml out/answers.jsonl | $(NEEDED)
	$(PHIBATCH) run --quiet --if-changed restart $< && touch $@ || { touch -ct 197001010000 $@; false; }

$(MODEL):
	$(MAKE) model
$(BUILT):
	$(MAKE) build

.PHONY: all
.NOTPARALLEL:
# What a step has done stays when it is stopped: the next make goes on from there.
.PRECIOUS: out/answers.jsonl out/judged.jsonl
