/// Where packed weights, the beginnings of prompts, and what else is found out about a model once, are kept from one start to the next.
public enum WeightCacheLocation: Sendable, Equatable {
    case off
    case folder(String)
    /// There should be a cache, but nothing says where; the text is why.
    case unknown(String)

    /// What a command line program uses: `PHIBATCH_CACHE` (a folder, or "off"), else
    /// `$XDG_CACHE_HOME/phibatch`, else `~/.cache/phibatch`, on macOS `~/Library/Caches/phibatch`.
    /// - Parameter environment: this process's, if not given.
    public static func standard(
        environment: [String: String]? = nil
    ) -> WeightCacheLocation {
        func value(_ name: String) -> String? {
            guard let environment else { return ProgramCall.path(inVariable: name) }
            return environment[name].flatMap { $0.isEmpty ? nil : $0 }
        }
        if let folder = value("PHIBATCH_CACHE") { return folder == "off" ? .off : .folder(folder) }
        // A relative path is to be ignored, says the specification.
        if let folder = value("XDG_CACHE_HOME"), Paths.isAbsolute(folder) {
            return .folder(folder + "/phibatch")
        }
        guard let home = value("HOME"), Paths.isAbsolute(home) else {
            return .unknown("HOME is not set; PHIBATCH_CACHE can name a folder")
        }
        #if os(macOS)
            return .folder(home + "/Library/Caches/phibatch")
        #else
            return .folder(home + "/.cache/phibatch")
        #endif
    }
}

extension WeightCacheLocation {
    /// The folder, if there is one.
    package var folder: String? {
        if case .folder(let folder) = self { folder } else { nil }
    }
}
