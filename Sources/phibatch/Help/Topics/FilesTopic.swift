extension HelpTopic {
    static let files = HelpTopic(
        "files", "the files beside an output, and the caches",
        """
        - OUTPUT :: The results, in the input's order. It is put in place in one step, when all lines are done.
        - OUTPUT.journal :: Results as they come, while a run is not complete; the next run goes on from it.
        - OUTPUT.journal.inflight :: Completions under way, as they were at the last checkpoint.
        - OUTPUT.lock :: Held by the run that writes the output; what is in it says which.
        - OUTPUT.settings :: Model and settings of a finished output, so that a later run can say what has changed.
        - OUTPUT.manifest.json :: With `provenance`: what a finished output came from.
        - OUTPUT.record :: What an output holds that has no room for it itself, such as one in OpenAI's format. Of \
        `results` other than full, and of tables of a job with steps, it has the results in full.
        - OUTPUT.old-1, OUTPUT.old-2, ... :: Earlier outputs (and journals) that a run replaced; `keep_old` says how many \
        stay.
        - OUTPUT.upload :: How far a large output has gone to a store. One that goes to `s3://` or `gs://` is made in \
        PHIBATCH_OUTPUTS, by default `~/.cache/phibatch/outputs`, with these files beside it, and sent when it is complete: it \
        is there whole or not at all. If that fails, the same command goes on with it.
        - OUTPUT.shard-I-of-N :: What shard I of N writes, with files of its own beside it.
        - OUTPUT.phibatch-... :: Drafts of these. None is there after a run that ended by itself.

        The names of all files that the jobs of a run read and write are compared before it begins, through links too: two \
        that lead to one file end it with 65. An input's pattern leaves out what its own job writes.

        - ~/.cache/phibatch/weights :: Packed weights, 32 GB at most; see PHIBATCH_CACHE.
        - ~/.cache/phibatch/models :: GGUF files and models that other programs have quantized, in MLX's format, 64 GB at \
        most.
        - ~/.cache/phibatch/prefixes :: KV caches of beginnings that many prompts share, such as a system message, 8 GB at \
        most: the next run reads them. They hold the beginnings' tokens, and so their text; `kv_cache: off` keeps none.
        - ~/.cache/phibatch/hashes :: Hashes of the models' files. Of these four folders only what the user owns and nobody \
        else can write is used (for root: what root owns); a message says of what is not.
        - ~/.cache/phibatch/inputs :: What was fetched of inputs elsewhere (`phibatch help input`); it may be removed when no \
        run needs it.
        - ~/.cache/huggingface/hub :: Models and datasets that were fetched; see HF_HUB_CACHE.
        """)
}
