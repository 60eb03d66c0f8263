import BatchEngine

extension EngineEntry {
    static let exact = EngineEntry(
        kind: .exact, title: "float32 arithmetic",
        help:
            "The same model in float32 on the processor: weights are expanded, and nothing is rounded to 8 bits on the "
            + "way, nor in KV caches. Results are the same bytes everywhere, too, but other ones than cpu's. It takes "
            + "eight times the memory, and many times as long: it is there to see what 8-bit arithmetic costs, by "
            + "`perplexity --engine exact`, or by a job's results beside those of cpu.",
        leavesOut: [("kv", "it keeps KV caches in float32")],
        identity: { PhiEngine.identity(exact($0)) }, load: { try PhiEngine(folder: $0, options: exact($1)) })

    private static func exact(_ options: EngineOptions) -> EngineOptions {
        var options = options
        (options.expandsWeights, options.kvPrecision) = (true, .float32)
        // Or each model would be there in float32.
        options.cache = .off
        return options
    }
}
