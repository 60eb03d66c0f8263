# Two steps in a row: make -f jobs/pipeline.mk
# Each step is done again only if its job or its input is newer; of a changed input only the changed lines are.
PHIBATCH ?= phibatch

all: out/judged.jsonl

out/answers.jsonl: jobs/answers.yaml samples/prompts.jsonl
	$(PHIBATCH) run --quiet --if-changed restart $< && touch $@

out/judged.jsonl: jobs/judge.yaml out/answers.jsonl
	$(PHIBATCH) run --quiet --if-changed restart $< && touch $@

.PHONY: all
# What a step has done stays when it is stopped: the next make goes on from there.
.PRECIOUS: out/answers.jsonl out/judged.jsonl
