@testable import PhiModel

extension EngineOptions {
    /// A budget of so many blocks of this model's KV cache, and of what `sequences` have beside them.
    static func blocks(
        _ blocks: Int, folder: String, sequences: Int, threads: Int, kernels: Kernels? = nil
    ) throws -> EngineOptions {
        let shape = try Architectures.read(folder: folder).shape
        var options = EngineOptions(
            threads: threads,
            kvBudget: blocks * KVCache.blockBytes(shape, .int8)
                + (sequences + 1) * KVCache.bytes(shape, .int8, tokens: 0), kernels: kernels?.name)
        options.sequences = sequences
        return options
    }
}

extension EngineOptions {
    init(
        threads: Int? = nil, kvBudget: Int? = nil, kvPrecision: KVPrecision = .int8, kernels: String?
    ) {
        self.init(threads: threads, kvBudget: kvBudget, kvPrecision: kvPrecision)
        self.kernels = kernels
    }
}
