import BatchEngine

/// An engine in the list of them: a file that makes its entry, a case of `EngineKind`, and a line of `EngineKind.entry`.
package struct EngineEntry: Sendable {
    /// A library that it needs beside the program.
    package struct Library: Sendable {
        package let version: String
        /// The device, as in "cpu" or "gpu Apple M4 Max".
        package let device: String
        package let isGPU: Bool
    }

    package let kind: EngineKind
    /// Name in messages, as in "MLX".
    package let title: String
    /// Settings of `EngineOptions`, as jobs name them, that mean nothing with it, and why.
    var leavesOut: [(setting: String, reason: String)] = []
    /// Whether a result is the same, byte for byte, whatever runs beside it.
    package var isReproducible = true
    /// Loads its library, if it needs one.
    package var library: (@Sendable () throws(ModelError) -> Library)?
    /// Why `auto` passes it over although somebody has put it there; nil for no such reason.
    package var fault: @Sendable () -> ModelError? = { nil }
    /// All that results depend on besides model, request and seed.
    package let identity: @Sendable (EngineOptions) throws -> [(name: String, value: String)]
    /// Loads a model's folder.
    package let load: @Sendable (_ folder: String, EngineOptions) throws -> any ModelEngine

    /// All that can be named.
    package static let all = EngineKind.allCases.filter { $0 != .auto }.map(\.entry)

    private var hasGPU: Bool { (try? library?())?.isGPU ?? false }

    /// Engine that `auto` takes.
    fileprivate static var automatic: EngineEntry { all.first { $0.hasGPU } ?? .cpu }

    /// Returns the fault of settings that are given; nil if there is none.
    package func problem(given settings: [String]) -> String? {
        guard let (setting, reason) = leavesOut.first(where: { settings.contains($0.setting) }) else {
            return nil
        }
        return "\(setting) has no meaning with engine: \(kind.rawValue), as \(reason). Leave \(setting) out."
    }
}

extension EngineKind {
    /// The engine of this name, or the one that `auto` takes.
    package var entry: EngineEntry {
        switch self {
        case .auto: .automatic
        case .cpu: .cpu
        case .mlx: .mlx
        case .exact: .exact
        }
    }
}
