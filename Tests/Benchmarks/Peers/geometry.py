"""The shapes of the Phi models that are timed: one place, so that all engines get the same."""
import math

ORIGINAL_CONTEXT = 4096

PRESETS = {
    "phi-3-mini": dict(hidden=3072, layers=32, heads=32, kv_heads=32, intermediate=8192,
                       vocab=32064, tied=False, rotary=1.0, longrope=False, context=4096),
    "phi-3-mini-4-layers": dict(hidden=3072, layers=4, heads=32, kv_heads=32, intermediate=8192,
                                vocab=32064, tied=False, rotary=1.0, longrope=False, context=131072),
    "phi-4-mini": dict(hidden=3072, layers=32, heads=24, kv_heads=8, intermediate=8192,
                       vocab=200064, tied=True, rotary=0.75, longrope=True, context=131072),
    # Two of 32 layers: their experts, 1.4 GB, are as much as a cache can't hold.
    "phi-3.5-moe-2-layers": dict(hidden=4096, layers=2, heads=32, kv_heads=8, intermediate=6400, experts=16,
                                 vocab=32064, tied=False, rotary=1.0, longrope=False, context=4096),
    "tiny": dict(hidden=256, layers=2, heads=4, kv_heads=4, intermediate=512,
                 vocab=1024, tied=False, rotary=1.0, longrope=False, context=131072),
}


class Geometry:
    def __init__(self, preset):
        self.experts = 0
        for key, value in PRESETS[preset].items():
            setattr(self, key, value)
        self.head = self.hidden // self.heads
        self.rotary_dimensions = int(self.head * self.rotary)
        self.qkv_rows = (self.heads + 2 * self.kv_heads) * self.head
        # One matrix, or three where there are experts.
        keys = self.kv_heads * self.head
        self.attention_rows = {"q": self.hidden, "k": keys, "v": keys} if self.experts else {"qkv": self.qkv_rows}

    def rope_factors(self):
        """(short, long): one divisor of the frequency for each rotated pair. Values are made up."""
        n = self.rotary_dimensions // 2
        return ([round(1 + 0.9 * i / n, 6) for i in range(n)],
                [round(1 + 40 * (i / n) ** 2, 6) for i in range(n)])

    def rope_attention_factor(self):
        return math.sqrt(1 + math.log(self.context / ORIGINAL_CONTEXT) / math.log(ORIGINAL_CONTEXT))
