# Two steps in a row: make -f jobs/pipeline.mk
# Each step is done again only if its job or its input is newer; of a changed input only the changed lines are.
# A job in which too many lines failed leaves its output, to be looked at. So a step is done when its .done is there.
# The program that is installed, or else the one that is built here; a fresh clone builds it, and fetches the model.
BUILT = .build/release/phibatch
PHIBATCH ?= $(or $(shell command -v phibatch),$(BUILT))
MODEL = models/smollm2-demo/model.safetensors
NEEDED = $(MODEL) $(filter $(BUILT),$(PHIBATCH))

all: out/judged.done

out/answers.done: jobs/answers.yaml samples/prompts.jsonl | $(NEEDED)
	$(PHIBATCH) run --quiet --if-changed restart $< && touch $@

out/judged.done: jobs/judge.yaml out/answers.done | $(NEEDED)
	$(PHIBATCH) run --quiet --if-changed restart $< && touch $@

$(MODEL):
	$(MAKE) model
$(BUILT):
	$(MAKE) build

.PHONY: all
.NOTPARALLEL:
