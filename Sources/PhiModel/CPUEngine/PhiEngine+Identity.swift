import BatchEngine

extension EngineEntry {
    static let cpu = EngineEntry(
        kind: .cpu, title: "the CPU",
        identity: { PhiEngine.identity($0) }, load: { try PhiEngine(folder: $0, options: $1) })
}

extension PhiEngine {
    /// Raised with every change of bits anywhere, from embedding to sampling: results of earlier versions must not be
    /// mixed with new ones. `ArithmeticTests` has the results of each version.
    static let arithmeticVersion = "7"

    /// Facts that results depend on besides model, request and seed, in a fixed order, for an engine that is loaded
    /// with these options: another identity, other results. Threads, memory and kernels are not in it.
    package static func identity(_ options: EngineOptions) -> [(name: String, value: String)] {
        [("arithmetic", arithmeticVersion), ("kv", options.kvPrecision.name)]
            + (options.expandsWeights ? [("weights", "f32")] : [])
            // A change of the tokens that end an answer beyond the model's files changes answers.
            + [("ends", TextCodec.turnEndNames.joined(separator: " "))]
    }
}

extension KVPrecision {
    /// Name in job files.
    var name: String {
        switch self {
        case .int8: "int8"
        case .int4: "int4"
        case .float16: "f16"
        case .float32: "f32"
        }
    }
}
