import CPhiKernels
import Foundation

/// Compares what a model will need with what there is, from its configuration and tensor headers alone:
/// better a message now than a process that the system kills in an hour.
struct MemoryCheck {
    /// The packed weights.
    let weightBytes: Int
    /// Activations, logits, the tokenizer and the program itself.
    let workingBytes: Int
    /// The KV cache of one request of ordinary length: with less, a run would get nowhere.
    let workerBytes: Int
    let folder: String

    private static let workerTokens = 512
    /// Rows of the largest usual step: a chunk of a prompt and one row for each worker.
    private static let rows = 512 + 32
    private static let programBytes = 100_000_000

    init(_ configuration: ModelConfiguration, _ store: TensorStore, precision: KVPrecision) throws {
        folder = store.folder
        weightBytes = try Self.packedBytes(configuration, store)
        let widest = max(configuration.qkvRows, 2 * configuration.intermediateSize)
        // Floats: hidden and normed rows, a product's output, what attention and the gate make of it; bytes:
        // the quantized input of a product. Logits exist twice, for sampling.
        let row = 4 * (2 * configuration.hiddenSize + widest + configuration.intermediateSize) + widest
        workingBytes =
            Self.programBytes + Self.rows * row + 2 * 32 * configuration.vocabularySize * 4
        let tokens = min(Self.workerTokens, configuration.contextLength)
        let blocks = (tokens + KVCache.blockLength - 1) / KVCache.blockLength
        let dims = UInt32((configuration.headDimension + 15) / 16 * 16)
        workerBytes =
            4 * blocks * configuration.layerCount * configuration.keyValueHeadCount
            * phi_kv_head_bytes(precision.kernelKind, dims)
    }

    /// 4 bits for what has 4 or fewer, else 8; scales and plain tensors as they are.
    private static func packedBytes(_ configuration: ModelConfiguration, _ store: TensorStore) throws -> Int {
        var bytes = 0
        for name in store.names {
            let count = try store.tensor(name).range.count
            let path = name.hasSuffix(".weight") ? String(name.dropLast(7)) : ""
            guard store.contains(path + ".scales"),
                let bits = configuration.quantization?.parameters(for: path)?.bits
            else {
                bytes += count
                continue
            }
            bytes += count / bits * (bits <= 4 ? 4 : 8)
        }
        return bytes
    }

    /// The KV cache's budget.
    /// - Parameter asked: what the user set; nil takes a quarter of the machine's memory, or less if less
    ///   is free.
    /// - Throws: `ModelError` of kind `resources`, with the numbers.
    func budget(
        asked: Int?, available: AvailableMemory = .now(),
        physical: Int = Int(clamping: ProcessInfo.processInfo.physicalMemory)
    ) throws -> Int {
        let left = available.bytes - weightBytes - workingBytes
        let needs =
            "the model needs \(byteText(weightBytes)) for its weights and \(byteText(workingBytes)) to work"
        guard left >= min(workerBytes, asked ?? workerBytes) else {
            throw ModelError(
                .resources, path: folder,
                "there is not enough memory: \(needs), and one request \(byteText(workerBytes)) of KV cache, "
                    + "\(byteText(weightBytes + workingBytes + workerBytes)) in all, but \(available.reason). "
                    + "End other programs, raise the limit, or take a smaller model.")
        }
        // Not to the last byte, as others need memory too.
        guard let asked else { return min(physical / 4, max(workerBytes, left / 4 * 3)) }
        guard asked <= left else {
            throw ModelError(
                .resources, path: folder,
                "there is not enough memory for a KV cache of \(byteText(asked)): \(needs), and \(available.reason). "
                    + "Set kv_budget to \(byteText(left)) or less, or to auto.")
        }
        return asked
    }
}
