import BatchEngine
import OperatingSystem

/// What keys and values are made of beside tokens.
struct PrefixSources {
    private static let adapterFiles = [
        "adapter_config.json", "adapter_model.safetensors", "adapters.safetensors",
    ]
    private var files = SourceFiles()

    /// To be made before anything is read of these folders.
    init(folder: String, adapter: String?) {
        files.add(["config.json"], in: folder)
        if let adapter { files.add(Self.adapterFiles, in: adapter, as: "adapter ") }
    }

    /// The store in the cache; nil if there is none, or it is not wanted.
    func store(
        _ options: EngineOptions, _ weights: TensorStore, blockBytes: Int, threads: Int
    ) -> PrefixStore? {
        guard options.keepsPrefixes, let cache = options.cache.folder else { return nil }
        let files = files + weights.sources
        let numbers = options.kvPrecision.name + (options.expandsWeights ? ", weights f32" : "")
        return PrefixStore(cache: cache) {
            "arithmetic \(PhiEngine.arithmeticVersion), kv \(numbers), layout \(KVCache.layoutVersion), "
                + "\(KVCache.blockLength) positions in \(blockBytes) bytes\n"
                + (try files.identity(FileHashes(cache: cache), threads: threads))
        }
    }
}

extension PhiEngine {
    package var keepsPrefixes: Bool { prefixes != nil }

    /// Brings what an earlier run has kept of a prompt's beginning, as far as there is unused room.
    package func restore(_ tokens: [Int32], branch: Int, cacheable: Int, in blocks: inout KVBlocks) {
        guard let prefixes,
            let unknown = blocks.unknownBeginning(of: tokens, branch: branch, cacheable: cacheable)
        else { return }
        let places = unknown.prefix(blocks.unusedCount)
        let count = prefixes.count(of: tokens, places: places, branch: branch)
        guard count > 0 else { return }
        let memory = blocks.nextFree(count).reversed().map { rows.cache.block($0) }
        let read = prefixes.read(tokens, places: places.prefix(count), branch: branch, into: memory, pool)
        blocks.insert(tokens, places: places.prefix(read), branch: branch)
    }

    package func keepPrefixes(until shouldStop: () -> Bool) -> PrefixReport {
        guard let prefixes else { return PrefixReport() }
        prefixes.keep(
            sequences.blocks.beginnings(), prompts: sequences.blocks.promptCount,
            memory: { rows.cache.block($0) }, until: shouldStop)
        return prefixes.takeReport()
    }
}
