import BatchEngine

extension EngineEntry {
    static let mlx = EngineEntry(
        kind: .mlx, title: "MLX",
        leavesOut: [
            ("threads", "MLX has its own threads"),
            ("kv", "MLX keeps KV caches in the precision that it computes in"),
        ],
        isReproducible: false,
        library: { () throws(UserError) in
            let library = try MLXLibrary.load()
            return Library(version: MLXLibrary.wantedVersion, device: library.device)
        },
        fault: { MLXLibrary.fault }, identity: { _ in MLXEngine.identity(try MLXLibrary.load()) },
        load: { try MLXEngine(folder: $0, options: $1) })
}
