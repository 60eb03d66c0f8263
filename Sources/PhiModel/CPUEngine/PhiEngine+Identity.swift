import BatchEngine

extension EngineEntry {
    static let cpu = EngineEntry(
        kind: .cpu, title: "the CPU",
        identity: { PhiEngine.identity($0) }, load: { try PhiEngine(folder: $0, options: $1) })
}

extension PhiEngine {
    /// Raised with every change that gives other bits anywhere, from embedding to choice of token: then results
    /// of earlier runs must not be mixed with new ones. `ArithmeticTests` holds what each version gives.
    static let arithmeticVersion = "7"

    /// Facts that results depend on besides model, request and seed, in a fixed order, for an engine that is loaded
    /// with these options: another identity, other results. Threads, memory and kernels are not in it.
    package static func identity(_ options: EngineOptions) -> [(name: String, value: String)] {
        [("arithmetic", arithmeticVersion), ("kv", options.kvPrecision.name)]
            + (options.expandsWeights ? [("weights", "f32")] : [])
            // Which tokens end an answer besides those that the model's files name: another rule, other answers.
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
