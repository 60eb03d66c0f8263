import PhiModel

extension HelpTopic {
    static let engines = HelpTopic(
        "engines", "what computes: the processor's own kernels, or MLX on a GPU",
        """
        \(EngineEntry.all.map { "- engine: \($0.kind.rawValue) :: \($0.help)" }.joined(separator: "\n"))
        - engine: auto :: mlx where it is there and finds a GPU, else cpu. An MLX that is there and can't be used is a \
        warning that says why.

        MLX is fetched where phibatch is built, and `make install` takes it along; `phibatch doctor` says whether it is \
        there, in which version, and on what device it computes:

          make mlx                    Apple's GPU on a Mac; elsewhere the processor
          make mlx MLX=mlx-cuda-12    NVIDIA's GPU

        What MLX does not promise is the same bytes: its sums depend on how many rows come together, so that a result is \
        the same to within rounding, and where two tokens are about equally likely another one may be chosen when other \
        lines run beside it. `verify` then finds a difference. All else holds: nothing is lost or doubled, limits, rules \
        on answers and sampling are the same code. A job that one engine began is not continued on another one, on another \
        device or with another version of MLX, unless `--if-changed` says so; `provenance: true` writes all three beside \
        each result and into the manifest.

        MLX computes in the checkpoint's precision on a GPU, and in float32 on a processor, where it is much slower than \
        cpu: that is for trying it out. It has KV caches in the same precision, within `kv_budget`, and threads of its own: \
        `kv` and `threads` are refused. It keeps neither weights nor beginnings of prompts from one run to the next.

        Where few lines run together, a step takes the time in which the weights are read, and some rows more cost little. \
        So tokens are guessed ahead and checked in one step (`speculate`): as they came before in the line's own prompt \
        and answer, or as the job's answers so far went on after the same few tokens. The more the lines of a job have \
        in common, the more guesses hold; where they don't, or where they would cost more than they bring, there are none. \
        No answer depends on them. The summary says how many there were, and how many held.
        """)
}
