import BatchEngine
import FoundationShim
import Jobs
import OperatingSystem
import PhiModel

extension CachePrecision {
    /// How the engine calls it; `auto` is no other precision than the one it chooses.
    package var engineValue: KVPrecision {
        switch self {
        case .auto, .int8: .int8
        case .int4: .int4
        case .f16: .float16
        }
    }
}

extension EngineSettings {
    /// Why `auto` passes over engines that are there.
    package var fallbacks: [String] {
        guard kind == .auto else { return [] }
        return EngineEntry.all.compactMap { other in
            other.fault().map {
                "engine: auto takes \(kind.entry.title), as \(other.title) can't be used: \($0)"
            }
        }
    }

    /// What is wrong with the settings together; nil if nothing is.
    package var problem: String? {
        kind.entry.problem(
            given: (threads == .auto ? [] : ["threads"]) + (kvPrecision == .auto ? [] : ["kv"]))
    }

    /// All that results depend on as far as the engine chooses it, of a model that is loaded with these settings.
    /// - Throws: `ModelError` if a library is wanted and not there.
    package func identity(cache: WeightCacheLocation) throws -> [(name: String, value: String)] {
        try kind.entry.identity(options(cache: cache))
    }

    /// As a command is given them.
    package init(_ kind: EngineKind, threads: Int?, kv: CachePrecision = .auto) {
        self.init()
        (self.kind, kvPrecision) = (kind, kv)
        if let threads { self.threads = .count(threads) }
    }

    /// For a model that is loaded once, with what is kept from one start to the next.
    /// - Throws: `JobError` of kind `usage` if the settings don't go together.
    package func checkedOptions() throws -> EngineOptions {
        if let problem { throw JobError(.usage, problem) }
        return options(cache: .standard())
    }

    /// For a model that is loaded with these settings.
    package func options(cache: WeightCacheLocation) -> EngineOptions {
        var options = EngineOptions(kvPrecision: kvPrecision.engineValue, cache: cache)
        options.engine = kind
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
    package init(_ engine: any ModelEngine) { self.init(engine: engine, text: engine.text) }
}
