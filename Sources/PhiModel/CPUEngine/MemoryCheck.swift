import CPhiKernels
import Errors
import FoundationShim
import OperatingSystem

/// Compares the memory that a model needs with the available memory, from its configuration and tensor headers alone:
/// better a message now than a process killed in an hour.
package struct MemoryCheck: Sendable {
    /// The packed weights.
    package let weightBytes: Int
    /// Activations, logits, the tokenizer and the program itself.
    package let workingBytes: Int
    /// The compute threads' stacks, mostly untouched address space.
    var stackBytes = 0
    /// Whether the weights are mapped from a file of the cache, and so are not data of this process.
    var mapsWeights = false
    /// KV cache of one request of ordinary length, the least that is useful.
    let workerBytes: Int
    let folder: String

    private static let workerTokens = 512
    /// Rows of the largest usual pass: a chunk of a prompt and one row for each worker.
    private static let rows = 512 + 32
    private static let programBytes = 100_000_000
}

extension MemoryCheck {
    init(
        _ model: any Architecture, _ store: TensorStore, precision: KVPrecision,
        cache: WeightCacheLocation = .off, threads: Int = 1, expands: Bool = false
    ) throws {
        folder = store.folder
        if case .folder = cache { mapsWeights = true } else { mapsWeights = false }
        stackBytes = threads * ComputePool.stackSize
        let shape = model.shape
        weightBytes = try Self.packedBytes(shape.quantization, store, expands)
        // Logits exist twice, for sampling.
        workingBytes =
            Self.programBytes + Self.rows * model.rowBytes
            + 2 * RowOps.logitRows * shape.vocabularySize * 4
        let tokens = min(Self.workerTokens, shape.contextLength)
        // One slot is spare, if there are slots.
        workerBytes =
            KVCache.bytes(shape, precision, tokens: tokens)
            + KVCache.bytes(shape, precision, tokens: 0)
    }

    /// Returns packed sizes: 4 bits for up to 4, else 8, or floats; scales and plain tensors are unchanged.
    private static func packedBytes(
        _ quantization: QuantizationConfiguration?, _ store: TensorStore, _ expands: Bool
    ) throws -> Int {
        var bytes = 0
        for name in store.names {
            let count = try store.tensor(name).range.count
            let path = name.hasSuffix(".weight") ? String(name.dropLast(7)) : ""
            guard store.contains(path + ".scales"),
                let bits = quantization?.parameters(for: path)?.bits
            else {
                bytes += count
                continue
            }
            bytes += count / bits * (expands ? 32 : bits <= 4 ? 4 : 8)
        }
        return bytes
    }

    /// Memory of one kind that a model takes before its KV cache: weights, and the rest.
    private func need(_ kind: AvailableMemory.Source) -> (weights: Int, work: Int) {
        switch kind {
        case .pages: (weightBytes, workingBytes)
        case .addressSpace: (weightBytes, workingBytes + stackBytes)
        case .data: (mapsWeights ? 0 : weightBytes, workingBytes + stackBytes)
        }
    }

    /// Returns the KV cache's budget.
    /// - Parameters:
    ///   - asked: the user's setting; nil takes a quarter of the machine's memory, or less if less is free.
    ///   - available: the limits, at least one.
    /// - Throws: `UserError` of kind `resources`, with the numbers.
    func budget(
        asked: Int?, available: [AvailableMemory] = AvailableMemory.limits(),
        physical: Int = Int(clamping: ProcessInfo.processInfo.physicalMemory)
    ) throws(UserError) -> Int {
        let all = available.map { limit in
            let (weights, work) = need(limit.kind)
            return (left: limit.bytes - weights - work, weights: weights, work: work, reason: limit.reason)
        }
        guard let (left, weights, work, reason) = all.min(by: { $0.left < $1.left }) else {
            preconditionFailure("no limit of memory at all")
        }
        let forWeights: Message = weights > 0 ? "\(byteText(weights)) for its weights and " : ""
        let needs: Message = "the model needs \(forWeights)\(byteText(work)) to work"
        guard left >= min(workerBytes, asked ?? workerBytes) else {
            throw UserError(
                .resources, at: folder,
                "there is not enough memory: \(needs), and one request \(byteText(workerBytes)) of KV cache, "
                    + "\(byteText(weights + work + workerBytes)) in all, but \(reason). "
                    + "End other programs, raise the limit, or take a smaller model.")
        }
        // Not to the last byte, as other programs need memory too.
        guard let asked else { return min(physical / 4, max(workerBytes, left / 4 * 3)) }
        guard asked <= left else {
            throw UserError(
                .resources, at: folder,
                "there is not enough memory for a KV cache of \(byteText(asked)): \(needs), and \(reason). "
                    + "Set kv_budget (--kv-budget) to \(byteText(left)) or less, or to auto.")
        }
        return asked
    }
}
