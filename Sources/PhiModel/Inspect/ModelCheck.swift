import OperatingSystem
import Synchronization

/// Finds all faults in a model folder.
package enum ModelCheck {
    /// - Parameters:
    ///   - readsWeights: whether to check all floats, too.
    ///   - progress: receives bytes read and bytes in all, on the calling thread.
    /// - Returns: the faults, at most one a file or tensor.
    package static func faults(
        in folder: String, readsWeights: Bool, threads: Int = Processors.count,
        progress: (_ done: Int, _ total: Int) -> Void = { _, _ in }
    ) -> [UserError] {
        var faults: [UserError] = []
        func collect(_ body: () throws -> Void) {
            do { try body() } catch {
                faults.append(error as? UserError ?? UserError(.malformed, at: folder, "\(error)"))
            }
        }
        let names = ((try? Files.names(in: folder)) ?? []).sorted()
        for name in names where name.hasPrefix("model") && name.hasSuffix(".safetensors") {
            collect { _ = try SafetensorsFile(path: Paths.join(folder, name)) }
        }
        collect { _ = try TextCodec(folder: folder) }
        // Loading the model would only repeat the faults of its files.
        guard faults.isEmpty else { return faults }
        collect {
            if let converter = try PublishedConverter(folder) {
                _ = try converter.plan()
                return
            }
            let model = try Architectures.read(folder: folder)
            let store = try TensorStore(model, in: folder)
            var reader = WeightReader(store)
            _ = try model.network(&reader)
            if readsWeights { faults += try notFinite(store, threads, progress) }
        }
        return faults
    }

    /// Returns tensors with values that are not finite, each with the first of them.
    private static func notFinite(
        _ store: TensorStore, _ threads: Int, _ progress: (_ done: Int, _ total: Int) -> Void
    ) throws -> [UserError] {
        let pool = ComputePool(threads: threads)
        let tensors = try store.names.map { try store.tensor($0) }.filter(\.type.isWeightFloat)
        let total = tensors.reduce(0) { $0 + $1.range.count }
        var done = 0
        var faults: [UserError] = []
        for tensor in tensors {
            progress(done, total)
            let rows = tensor.count / max(1, tensor.shape.last ?? 1)
            let step = max(1, (4 << 20) / max(1, tensor.range.count / max(1, rows)))
            do {
                try pool.runThrowing((rows + step - 1) / step) { piece in
                    let some = piece * step..<min(rows, (piece + 1) * step)
                    try tensor.checkFinite(rows: some, of: rows)
                }
            } catch let fault as UserError {
                faults.append(fault)
            }
            tensor.withBytes { Memory.dropPages($0) }
            done += tensor.range.count
        }
        progress(done, total)
        return faults
    }
}
