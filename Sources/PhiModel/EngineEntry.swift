import BatchEngine

/// Entry in the list of engines: a file that makes it, a case of `EngineKind`, and a line of `EngineKind.entry`.
package struct EngineEntry: Sendable {
    /// Library beside the program that it needs.
    package struct Library: Sendable {
        package let version: String
        /// The device, as in "cpu" or "gpu Apple M4 Max".
        package let device: String
    }

    package let kind: EngineKind
    /// Name in messages, as in "MLX".
    package let title: String
    /// Settings of `EngineOptions`, by their names in jobs, that it can't use, and the reason.
    var leavesOut: [(setting: String, reason: String)] = []
    /// Whether a result is the same, byte for byte, whatever runs beside it.
    package var isReproducible = true
    /// Devices, by how their names begin, on which it was seen to be right and faster than the processor (`Tests/GPU`).
    var provenDevices: [String] = []
    /// Loads its library, if it needs one.
    package var library: (@Sendable () throws(UserError) -> Library)?
    /// Reason why `auto` skips it although it is installed; nil for none.
    package var fault: @Sendable () -> UserError? = { nil }
    /// Everything that results depend on besides model, request and seed.
    package let identity: @Sendable (EngineOptions) throws -> [(name: String, value: String)]
    /// Loads a model's folder.
    package let load: @Sendable (_ folder: String, EngineOptions) throws -> any ModelEngine

    /// All that can be named.
    package static let all = EngineKind.allCases.filter { $0 != .auto }.map(\.entry)

    /// The engine that `auto` takes.
    fileprivate static var automatic: EngineEntry {
        all.first { entry in
            entry.provenDevices.contains { (try? entry.library?())?.device.hasPrefix($0) == true }
        } ?? .cpu
    }
}

extension EngineKind {
    /// Engine of this name, or the one that `auto` takes.
    package var entry: EngineEntry {
        switch self {
        case .auto: .automatic
        case .cpu: .cpu
        case .mlx: .mlx
        case .exact: .exact
        }
    }
}
