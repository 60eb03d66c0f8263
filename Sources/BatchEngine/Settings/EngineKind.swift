/// Engine of a job. `phibatch help engines` describes each.
public enum EngineKind: String, Sendable, CaseIterable {
    /// phibatch's own arithmetic, with the same bytes on every machine.
    case cpu
    /// Apple's MLX, which `make mlx` fetches: results are the same to within rounding.
    case mlx
    /// Float32 on the processor: the reference for 8-bit arithmetic.
    case exact
    /// `mlx` on a GPU where it was seen to be right and faster, else `cpu`.
    case auto

    /// Form in help texts.
    package static let placeholder = allCases.map(\.rawValue).joined(separator: "|")
}
