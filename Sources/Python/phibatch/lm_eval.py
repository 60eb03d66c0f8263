"""A model for lm-evaluation-harness: ``pip install 'phibatch[lm-eval]'``.

>>> import phibatch.lm_eval, lm_eval
>>> lm_eval.simple_evaluate(model="phibatch", model_args="model=phi-4-mini", tasks=["arc_easy"])

On its command line: ``python -m phibatch.lm_eval --model phibatch --model_args model=phi-4-mini --tasks arc_easy``.
Requests are batched, and scores don't depend on the batches.
"""

# pyright: basic, reportMissingImports=false, reportMissingTypeStubs=false

from __future__ import annotations

from typing import Any, Dict, List, Tuple, cast

from lm_eval.api.model import LM
from lm_eval.api.registry import register_model

from ._errors import UsageError
from ._llm import LLM
from ._parameters import SamplingParams
from ._results import Result


@register_model("phibatch")
class PhibatchLM(LM):
    """A model of lm-evaluation-harness.

    Args:
        model: a name of ``phibatch models``, ``org/name`` on Hugging Face, or a folder.
        max_gen_toks: the most tokens of an answer, unless a task sets them.
        settings: further parameters of `LLM`, such as ``workers`` and ``adapter``.
    """

    def __init__(
        self,
        model: str = "",
        pretrained: str = "",
        max_gen_toks: int = 256,
        batch_size: Any = None,
        max_batch_size: Any = None,
        device: Any = None,
        **settings: Any,
    ) -> None:
        super().__init__()
        if not (model or pretrained):
            raise UsageError("model_args needs a model, such as model=phi-4-mini.")
        self._name = model or pretrained
        self._max_gen_toks = int(max_gen_toks)
        if batch_size not in (None, "auto") and "workers" not in settings:
            settings["workers"] = int(batch_size)
        self._llm = LLM(self._name, **settings)

    @property
    def tokenizer_name(self) -> str:
        """The name of request caches."""
        return self._name.replace("/", "__")

    def loglikelihood(self, requests: List[Any], disable_tqdm: bool = False) -> List[Tuple[float, bool]]:
        """Returns each continuation's log-likelihood after its context, and whether greedy generation gives it."""
        pairs = [request.args for request in requests]
        scored = self._llm.score(
            [context for context, _ in pairs], [text for _, text in pairs], chat=False, tokens=True
        )
        # Greedy generation after the context, with as many tokens as the continuation has.
        greedy = cast(List[Result], self._llm.generate(
            [
                {"prompt": context, "max_tokens": max(1, len(one[0].token_logprobs))}
                for (context, _), one in zip(pairs, scored)
            ],
            chat=False,
            tokens=True,
            temperature=0,
            ignore_eos=True,
        ))  # fmt: skip
        return [
            (one[0].logprob, list(one[0].tokens or ()) == list(written.tokens or ()) and written.ok)
            for one, written in zip(scored, greedy)
        ]

    def loglikelihood_rolling(self, requests: List[Any], disable_tqdm: bool = False) -> List[float]:
        """Returns the log-likelihood of each whole text, which must fit into the context."""
        texts = [request.args[0] for request in requests]
        scored = self._llm.score(["" for _ in texts], texts, chat=False)
        return [one[0].logprob for one in scored]

    def generate_until(self, requests: List[Any], disable_tqdm: bool = False) -> List[str]:
        """Returns the model's text after each context."""
        prompts: List[Dict[str, Any]] = []
        for request in requests:
            context, said = request.args
            line = _line(dict(said), self._max_gen_toks)
            line["prompt"] = context
            prompts.append(line)
        params = SamplingParams(chat=False)
        made = cast(List[Result], self._llm.generate(prompts, params, progress=not disable_tqdm))
        return [result.text for result in made]


def _line(said: Dict[str, Any], most: int) -> Dict[str, Any]:
    """Converts a task's settings of generation."""
    until = said.pop("until", None) or []
    line: Dict[str, Any] = {
        "max_tokens": int(said.pop("max_gen_toks", said.pop("max_new_tokens", most))),
        "stop": [until] if isinstance(until, str) else list(until),
    }
    samples = said.pop("do_sample", None)
    temperature = said.pop("temperature", 0.0)
    line["temperature"] = float(temperature) if samples is not False else 0.0
    for name in ("top_p", "top_k", "seed", "repetition_penalty"):
        if name in said:
            line[name] = said.pop(name)
    if said:
        raise UsageError(f"The task asks for {', '.join(said)}, which phibatch doesn't know.")
    return line


if __name__ == "__main__":
    from lm_eval.__main__ import cli_evaluate

    cli_evaluate()
