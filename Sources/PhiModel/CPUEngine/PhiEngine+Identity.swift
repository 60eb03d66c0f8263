import BatchEngine

extension EngineEntry {
    static let cpu = EngineEntry(
        kind: .cpu, title: "the CPU",
        identity: { PhiEngine.identity($0) }, load: { try PhiEngine(folder: $0, options: $1) })

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

extension PhiEngine {
    /// Raised with every change of bits anywhere, from embedding to sampling: results of earlier versions must not be
    /// mixed with new ones. `ArithmeticTests` has the results of each version.
    static let arithmeticVersion = "7"

    /// Facts that results depend on besides model, request and seed, in a fixed order, for an engine that is loaded
    /// with these options: another identity, other results. Threads, memory and kernels are not in it.
    package static func identity(_ options: EngineOptions) -> [(name: String, value: String)] {
        [("arithmetic", arithmeticVersion), ("kv", options.kvPrecision.rawValue)]
            + (options.expandsWeights ? [("weights", "f32")] : [])
            // A change of the tokens that end an answer beyond the model's files changes answers.
            + [("ends", TextCodec.turnEndNames.joined(separator: " "))]
    }
}
