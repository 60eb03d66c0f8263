import BatchEngine
import FoundationShim
import Jobs
import OperatingSystem
import PhiModel

extension CachePrecision {
    /// The engine's precision; `auto` is the one that it chooses.
    package var engineValue: KVPrecision {
        switch self {
        case .auto, .int8: .int8
        case .int4: .int4
        case .f16: .float16
        }
    }
}

extension EngineSettings {
    /// Reasons why `auto` skips installed engines.
    package var fallbacks: [String] {
        guard kind == .auto else { return [] }
        return EngineEntry.all.compactMap { other in
            other.fault().map {
                "engine: auto takes \(kind.entry.title), as \(other.title) can't be used: \($0)"
            }
        }
    }

    /// The problem with the settings together; nil if there is none.
    package var problem: String? {
        kind.entry.problem(
            given: (threads == nil ? [] : ["threads"]) + (kvPrecision == .auto ? [] : ["kv"]))
    }

    /// Returns everything that results depend on in the engine, for a model loaded with these settings.
    /// - Throws: `UserError` if a library is missing.
    package func identity(cache: WeightCacheLocation) throws -> [(name: String, value: String)] {
        try kind.entry.identity(options(cache: cache))
    }

    /// Creates settings from a command's options.
    package init(_ kind: EngineKind, threads: Int?, kv: CachePrecision = .auto) {
        self.init()
        (self.kind, self.threads, kvPrecision) = (kind, threads, kv)
    }

    /// Returns checked options, with caches, for a model that is loaded once.
    /// - Throws: `UserError` of kind `usage` if the settings can't be combined.
    package func checkedOptions() throws -> EngineOptions {
        if let problem { throw UserError(.usage, problem) }
        return options(cache: .standard())
    }

    /// Returns options to load a model with these settings.
    package func options(cache: WeightCacheLocation) -> EngineOptions {
        var options = EngineOptions(kvPrecision: kvPrecision.engineValue, cache: cache)
        options.engine = kind
        options.threads = threads
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
    package init(_ engine: any ModelEngine) { self.init(engine: engine, text: engine.text) }
}
