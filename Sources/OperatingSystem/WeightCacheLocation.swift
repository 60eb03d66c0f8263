/// Location of data kept between runs: packed weights, converted models and hashes.
public enum WeightCacheLocation: Sendable, Equatable {
    case off
    case folder(String)
    /// The cache is wanted, but has no location; the text is the reason.
    case unknown(String)

    /// The default of command line programs: `PHIBATCH_CACHE` (a folder, or "off"), else `$XDG_CACHE_HOME/phibatch`,
    /// else `~/.cache/phibatch`, on macOS `~/Library/Caches/phibatch`.
    /// - Parameter environment: this process's by default.
    public static func standard(
        environment: [String: String]? = nil
    ) -> WeightCacheLocation {
        func value(_ name: String) -> String? {
            guard let environment else { return ProgramCall.path(inVariable: name) }
            return environment[name].flatMap { $0.isEmpty ? nil : $0 }
        }
        if let folder = value("PHIBATCH_CACHE") { return folder == "off" ? .off : .folder(folder) }
        // The specification says to ignore relative paths.
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
