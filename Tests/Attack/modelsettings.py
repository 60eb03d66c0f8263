"""Model folders whose configuration, tokenizer or template is hostile."""
from harness import case
from models import all_of

NUMBERS = (0, -1, 1 << 31, 1 << 62, 1 << 63, 10 ** 40, 0.5, "x", None, [], {})


@case("models/config", quick=True)
def config(bench):
    wrong = [(key, value) for key in ("hidden_size", "num_hidden_layers", "num_attention_heads", "vocab_size",
                                      "num_key_value_heads", "intermediate_size")
             for value in NUMBERS if (key, value) != ("num_key_value_heads", None)]
    wrong += [("hidden_size", 577), ("hidden_size", 1152), ("num_hidden_layers", 3), ("num_attention_heads", 7),
              ("num_attention_heads", 576), ("num_key_value_heads", 2), ("num_key_value_heads", 18),
              ("vocab_size", 49151), ("vocab_size", 49153), ("intermediate_size", 1535), ("rms_norm_eps", "x"),
              ("rms_norm_eps", -1),
              ("rms_norm_eps", float("nan")), ("rope_theta", float("inf")), ("rope_theta", 0), ("rope_theta", -10),
              ("max_position_embeddings", 0), ("max_position_embeddings", -5), ("max_position_embeddings", "many"),
              ("hidden_act", "gelu"), ("hidden_act", 5), ("model_type", None), ("model_type", "\x1b[2J"),
              ("model_type", ...), ("partial_rotary_factor", 2), ("partial_rotary_factor", 0),
              ("partial_rotary_factor", -1), ("partial_rotary_factor", 0.01), ("tie_word_embeddings", False),
              ("rope_scaling", {"type": "yarn"}), ("rope_scaling", {"type": "longrope"}), ("rope_scaling", 5),
              ("rope_scaling", {"type": "longrope", "short_factor": [1] * 31, "long_factor": [1] * 31}),
              ("rope_scaling", {"type": "longrope", "short_factor": [0] * 32, "long_factor": [float("nan")] * 32}),
              ("quantization", {"bits": 0, "group_size": 32}), ("quantization", {"bits": 64, "group_size": 32}),
              ("quantization", {"bits": 4, "group_size": 0}), ("quantization", {"bits": 4, "group_size": 31}),
              ("quantization", {"bits": 4, "group_size": 1 << 62}), ("quantization", 5), ("quantization", {}),
              ("eos_token_id", -1), ("eos_token_id", 10 ** 30), ("eos_token_id", "x")]
    # Refused or not: no crash, and no other results.
    perhaps = [("max_position_embeddings", 1 << 62), ("max_position_embeddings", 1), ("sliding_window", -1),
               ("sliding_window", 0), ("sliding_window", 1 << 62), ("eos_token_id", []), ("eos_token_id", 49152),
               ("bos_token_id", -1),
               ("attention_bias", True), ("attention_bias", "x"), ("original_max_position_embeddings", 0),
               ("quantization", ...), ("quantization_config", 5), ("eos_token_id", [2] * 100_000)]

    def change(key, value):
        def apply(model):
            # What generation_config.json says of the end of sequence would replace it.
            if key == "eos_token_id":
                model.put("generation_config.json", None)
            changes = {key: value}
            if key == "quantization":
                changes["quantization_config"] = value
            model.config(**changes)
        return apply
    trials = [(f"{key}: {str(value)[:50]}", change(key, value)) for key, value in wrong]
    # 3: the model is used, but no line fits.
    trials += [(f"{key}: {str(value)[:50]}", change(key, value), {"codes": (0, 3, 69)}) for key, value in perhaps]
    texts = ["", "{", "[]", "null", "[" * 200_000, '{"a":' * 200_000, b"\xff\xfe\x00", '{"model_type":"phi3"',
             '{"hidden_size":576,"hidden_size":576}', " " * 20_000_000]
    trials += [(f"config.json {text[:20]!r}", lambda model, text=text: model.put("config.json", text))
               for text in texts]
    all_of(bench, trials, quick=6)


@case("models/tokenizer")
def tokenizer(bench):
    def edit(change):
        return lambda model: model.json("tokenizer.json", change)

    def put(text):
        return lambda model: model.put("tokenizer.json", text)

    def set_at(*path):
        *keys, last, value = path

        def change(content):
            for key in keys:
                content = content[key]
            content[last] = value
        return edit(change)
    trials = [(f"tokenizer.json {text[:20]!r}", put(text)) for text in
              ("{}", "[]", "null", "{", "[" * 100_000, b"\xff\xff", '{"model":{}}', '{"model":{"type":"BPE"}}')]
    trials += [(f"tokenizer {path}"[:80], set_at(*path)) for path in (
        ("model", "type", "Unigram"), ("model", "vocab", {}), ("model", "vocab", {"a": -1}), ("model", "vocab", []),
        ("model", "vocab", {"a": 1 << 62}), ("model", "vocab", {"a": 0, "b": 0}),
        ("model", "merges", "x"), ("model", "merges", [1]), ("model", "merges", [["a"]]), ("model", "vocab", {"a": 0.5}),
        ("pre_tokenizer", {"type": "Split", "pattern": {"Regex": "(" * 5000}, "behavior": "Isolated"}),
        ("pre_tokenizer", {"type": "Split", "pattern": {"Regex": "(a{1000}){1000}"}, "behavior": "Isolated"}),
        ("normalizer", {"type": "Nothing"}), ("decoder", {"type": "Nothing"}), ("post_processor", {"type": "Nothing"}))]
    # Ids beyond the model's vocabulary, and other things that need not be wrong.
    trials += [(f"tokenizer {path}"[:80], set_at(*path), {"codes": (0, 3, 69)}) for path in (
        ("added_tokens", [{"id": 60_000, "content": "far", "special": True}]),
        ("added_tokens", [{"id": 1 << 62, "content": "far", "special": True}]),
        ("added_tokens", [{"id": -5, "content": "far"}]), ("added_tokens", [{"id": 5, "content": ""}]),
        ("added_tokens", {}))]
    all_of(bench, trials)


@case("models/template")
def template(bench):
    """A template that runs without end, or is none, is an error of the model or of the lines."""
    def put(text):
        return lambda model: model.json("tokenizer_config.json", lambda content: content.update(chat_template=text))
    texts = ["{% for i in range(1000000000) %}x{% endfor %}", "{{ 'x' * 10000000000 }}", "{{", "{% if %}",
             "{% include 'x' %}", "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "{{ messages.x.y }}",
             "{{ raise_exception('\x1b[2J no') }}",
             "{% set ns = namespace(s='x') %}{% for i in range(60) %}{% set ns.s = ns.s + ns.s %}{% endfor %}{{ ns.s }}",
             "{" * 500_000, "{{ " + "(" * 100_000 + "1" + ")" * 100_000 + " }}", 5, [], {},
             "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}"]
    trials = [(f"template {str(text)[:40]!r}", put(text), {"codes": (3, 69)}) for text in texts]
    all_of(bench, trials)
