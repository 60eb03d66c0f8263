"""Makes codegen.json: a small tokenizer built like Phi-2's (CodeGen's), and what Hugging Face's tokenizers make of texts.

    python3 make_codegen.py > codegen.json

GPT-2's pre-tokenizer and bytes, and added tokens for runs of white space that are not special. Needs pip install
tokenizers.
"""
import json

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors, trainers

CORPUS = [
    "def print_prime(n):\n    for i in range(2, n):\n        if n % i == 0:\n            return False\n    return True\n",
    "Instruct: Write a detailed analogy between mathematics and a lighthouse.\nOutput: Mathematics is like a lighthouse.",
    "Alice: I don't know why, I'm struggling to maintain focus while studying. Any suggestions?\nBob: Well, have you",
    "naïve café – 数学 и свет, 1234567 + 89 = 1234656; it's they're we've he'll she'd",
] * 3
TEXTS = CORPUS[:4] + [
    "", " ", "  ", "   ", " " * 31, " " * 32, " " * 33, " " * 64, "\t", "\t\t", "\t" * 9, "\t" * 10, " \t  \t\t",
    "a  b", "a   b", "  a", "a  ", "a\n  b\n    c\n\n\td", "x =  1\r\n\t\ty\t=\t2", "<|endoftext|>", "a <|endoftext|>  b",
    "<|endoftext|><|endoftext|>", "<|endoftext|", "it's 'S 'll'd 'm", "\u00a0 \u3000x", "é e\u0301 🙂 👩‍🚀", "\u0000\u007f",
]

tokenizer = Tokenizer(models.BPE(continuing_subword_prefix="", end_of_word_suffix=""))
tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
tokenizer.post_processor = processors.ByteLevel(trim_offsets=True)
tokenizer.decoder = decoders.ByteLevel(add_prefix_space=True)
tokenizer.train_from_iterator(
    CORPUS, trainers.BpeTrainer(vocab_size=420, show_progress=False, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
tokenizer.add_special_tokens([AddedToken("<|endoftext|>", normalized=False, special=True)])
tokenizer.add_tokens(
    [AddedToken(" " * n, normalized=True) for n in range(31, 1, -1)]
    + [AddedToken("\t" * n, normalized=True) for n in range(9, 1, -1)])
definition = json.loads(tokenizer.to_str())
# As the files of that time have them.
definition["model"]["merges"] = [" ".join(merge) for merge in definition["model"]["merges"]]
for key in ("byte_fallback", "ignore_merges"):
    definition["model"].pop(key, None)
lines = []
for text in TEXTS:
    ids = tokenizer.encode(text, add_special_tokens=True).ids
    lines.append({
        "category": "codegen", "text": text, "ids_no_special": tokenizer.encode(text, add_special_tokens=False).ids,
        "ids_with_special": ids, "decoded": tokenizer.decode(ids, skip_special_tokens=False),
        "decoded_skip_special": tokenizer.decode(ids, skip_special_tokens=True)})
print(json.dumps({"tokenizer": definition, "lines": lines}, ensure_ascii=True, separators=(",", ":")))
