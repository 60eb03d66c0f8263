extension MemoryCheck {
    /// Memory that the engine `mlx` needs: weights as in the checkpoint, except perhaps their floats, and a cache in
    /// the precision of its arithmetic.
    init(mlx model: any Architecture, _ store: TensorStore, inFloat32: Bool) throws {
        let shape = model.shape
        let rows = 512 + 32
        let tokens = min(512, shape.contextLength)
        // A chunk of a long prompt also needs its attention scores.
        let scores = rows * (shape.layers.map(\.headCount).max() ?? 0) * min(shape.contextLength, 4096) * 4
        let weightBytes = try store.names.reduce(0) { sum, name in
            let tensor = try store.tensor(name)
            let grows = inFloat32 && (tensor.type == .f16 || tensor.type == .bf16)
            return sum + tensor.range.count * (grows ? 2 : 1)
        }
        self.init(
            weightBytes: weightBytes,
            workingBytes: 400_000_000 + 2 * rows * model.rowBytes + 64 * shape.vocabularySize * 4 + scores,
            workerBytes: 4 * tokens * shape.layers.reduce(0) { $0 + $1.keyWidth },
            folder: store.folder)
    }
}
