import PhiModel

extension HelpTopic {
    static let models = HelpTopic(
        "models", "names and folders of models, the cache, adapters, quantizing",
        """
        `model` is a name that `phibatch models` lists, any `org/name[@revision]` of Hugging Face, a folder, or a GGUF \
        file. A folder holds a model in MLX's format: config.json, safetensors, quantized (2 to 8 bits) or not, and the \
        tokenizer. Its type is one of \(Architectures.supported).

        A folder may also be in AWQ (GEMM), GPTQ (2, 4 and 8 bits), compressed-tensors (4 and 8 bits, MXFP4), \
        bitsandbytes (NF4, FP4, 8 bits), MLX's mxfp4, or Microsoft's ONNX (Phi-3 and Phi-4, 4 and 8 bits). Before \
        the first run, such a folder, or a GGUF file, is converted into `~/.cache/phibatch/models`. Weights keep \
        their exact values, but for the GGUF types Q2_K, Q6_K, IQ2_XS and IQ2_S, NF4, FP4, columns in another order and \
        blocks of fewer than 32: these become 8 bits, and how far off they are is said when it is done.

        A model that is named and not here is fetched when a run needs it, or by `phibatch pull NAME`, into Hugging \
        Face's own cache; `--offline` fetches nothing. `phibatch pull NAME --verify` reads what is here, too, and fetches \
        again what is damaged; `phibatch models rm NAME` removes it.

        Of a model that reads images or sounds, too, only the language model is run, and such parts of a message are \
        refused.

          phibatch pull phi-4-mini
          phibatch inspect phi-4-mini
          phibatch run job.yaml --model phi-4-mini

        `adapter` applies a LoRA or DoRA adapter, with modules that were saved whole: a folder as PEFT or MLX writes it. \
        `phibatch quantize --adapter` merges one into a model in floats.

        `phibatch quantize` makes 4 bits of a model in floats, as some of the names are, better with `--calibrate` and \
        some pages of text, and `phibatch convert` makes a folder in MLX's format of any other:

          phibatch quantize microsoft/Phi-4-mini-instruct models/phi-4-mini --calibrate text.txt
          phibatch quantize my-phi models/mine --adapter my-adapter
          phibatch convert SmolLM2-135M-Instruct.Q4_1.gguf models/smollm2

        Phi-4-mini-flash-reasoning is there in 16 bits only, so quantize it first (`phi-4-mini-flash-reasoning` is its \
        name). Beside 2.6 KB of KV cache a token, each of its requests takes 38 MB, and none shares another's beginning. \
        `engine: mlx` can't run it.

        Weights are kept in `~/.cache/phibatch` as the processor reads them, so that the next start is quick. So are KV \
        caches of beginnings that many prompts share, if they have 128 tokens at least: a job that runs again with the same \
        system message reads it instead of computing it, and its results are the same bytes. See PHIBATCH_CACHE in \
        `phibatch help environment`; `kv_cache: off` keeps no beginnings.
        """)
}
