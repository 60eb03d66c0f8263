/// What computes, as jobs name it. `phibatch help engines` says what each is.
public enum EngineKind: String, Sendable, CaseIterable {
    /// phibatch's own arithmetic, with the same bytes on every machine.
    case cpu
    /// Apple's MLX, which `make mlx` fetches: results are the same to within rounding.
    case mlx
    /// Float32 on the processor: what 8-bit arithmetic is measured by.
    case exact
    /// `mlx` where it is there and finds a GPU, else `cpu`.
    case auto

    /// As options show them.
    package static let placeholder = allCases.map(\.rawValue).joined(separator: "|")
}
