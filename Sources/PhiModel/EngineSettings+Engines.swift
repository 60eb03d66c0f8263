import BatchEngine
import OperatingSystem

/// Use of the engine that the settings name.
extension EngineSettings {
    /// Creates settings from a command's options.
    package init(_ kind: EngineKind, threads: Int?, kv: KVPrecision? = nil) {
        self.init()
        (self.kind, self.threads, kvPrecision) = (kind, threads, kv)
    }

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
        let entry = kind.entry
        let given = (threads == nil ? [] : ["threads"]) + (kvPrecision == nil ? [] : ["kv"])
        guard let (setting, reason) = entry.leavesOut.first(where: { given.contains($0.setting) }) else {
            return nil
        }
        return
            "\(setting) has no meaning with engine: \(entry.kind.rawValue), as \(reason). Leave \(setting) out."
    }

    /// Returns everything that results depend on in the engine, for a model loaded with these settings.
    /// - Throws: `UserError` if a library is missing.
    package func identity(cache: WeightCacheLocation) throws -> [(name: String, value: String)] {
        try kind.entry.identity(options(cache: cache))
    }

    /// Returns checked options, with caches, for a model that is loaded once.
    /// - Throws: `UserError` of kind `usage` if the settings can't be combined.
    package func checkedOptions() throws -> EngineOptions {
        if let problem { throw UserError(.usage, problem) }
        return options(cache: .standard())
    }

    /// Returns options to load a model with these settings.
    package func options(cache: WeightCacheLocation) -> EngineOptions {
        var options = EngineOptions(
            threads: threads, kvBudget: kvBudget, kvPrecision: kvPrecision ?? .int8, cache: cache)
        options.engine = kind
        return options
    }
}
