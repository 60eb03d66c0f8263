import BatchEngine

extension EngineEntry {
    static let exact = EngineEntry(
        kind: .exact, title: "float32 arithmetic",
        leavesOut: [("kv", "it keeps KV caches in float32")],
        identity: { PhiEngine.identity(exact($0)) }, load: { try PhiEngine(folder: $0, options: exact($1)) })

    private static func exact(_ options: EngineOptions) -> EngineOptions {
        var options = options
        (options.expandsWeights, options.kvPrecision) = (true, .float32)
        // Else each model would be cached in float32.
        options.cache = .off
        return options
    }
}
