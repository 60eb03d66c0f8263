import BatchEngine
import Essentials
import Jobs
import OperatingSystem
import PhiModel

extension CachePrecision {
    /// How the engine calls it; `auto` is no other precision than the one it chooses.
    package var engineValue: KVPrecision { self == .f16 ? .float16 : .int8 }
}

extension EngineSettings {
    /// Whether MLX computes.
    package var usesMLX: Bool { kind == .mlx || (kind == .auto && MLXLibrary.hasGPU) }

    /// Why `auto` takes the CPU although there is an MLX; nil where it doesn't.
    package var fallback: String? {
        guard kind == .auto, let fault = MLXLibrary.fault else { return nil }
        return "engine: auto takes the CPU, as MLX can't be used: \(fault)"
    }

    /// All that results depend on as far as the engine chooses it, of a model that is loaded with these settings.
    /// - Throws: `ModelError` if MLX is wanted and not there.
    package func identity(cache: WeightCacheLocation) throws -> [(name: String, value: String)] {
        usesMLX ? try MLXEngine.identity() : PhiEngine.identity(options(cache: cache))
    }

    /// For a model that is loaded with these settings.
    package func options(cache: WeightCacheLocation) -> EngineOptions {
        var options = EngineOptions(kvPrecision: kvPrecision.engineValue, cache: cache)
        options.keepsPrefixes = kvCache == .auto
        if case .count(let threads) = threads { options.threads = threads }
        switch kvBudget {
        case .auto: break
        case .bytes(let bytes): options.kvBudget = bytes
        case .share(let share):
            options.kvBudget = Int(Double(ProcessInfo.processInfo.physicalMemory) * share)
        }
        return options
    }
}

extension LoadedModel {
    package init(_ engine: PhiEngine) { self.init(engine: engine, text: engine.text) }
}
