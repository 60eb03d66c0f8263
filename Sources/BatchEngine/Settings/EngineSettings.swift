import Errors
import OperatingSystem

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

/// Number format of a KV cache, by its name in job files.
public enum KVPrecision: String, Sendable {
    /// 8 bits, with a scale for each position of a head.
    case int8
    /// 4 bits, with a factor for each 16 besides: little more than half the room.
    case int4
    /// float16: twice the room and the traffic.
    case float16 = "f16"
    /// float32: four times the room.
    case float32 = "f32"
}

/// Use of the machine. Results depend only on the engine and the KV cache's precision, which are in the engine's
/// identity, and on the rotary factors.
public struct EngineSettings: Sendable, Equatable {
    /// The engine that computes.
    public var kind = EngineKind.cpu
    /// Requests decoded together; nil chooses by the threads.
    public var workers: Int?
    /// Compute threads; nil takes the cores of this process.
    public var threads: Int?
    /// Bytes of KV caches; nil leaves them to the engine.
    public var kvBudget: Int?
    /// Precision of KV caches; nil leaves it to the engine.
    public var kvPrecision: KVPrecision?
    /// Rotary factors of a model that has two sets.
    public var longRope = RopeFactors.auto
    /// The most prompt tokens in one step, beside the decoding of others.
    public var prefillChunk = 512
    /// Whether draft tokens are checked.
    public var speculation = Speculation.auto

    public init() {}

    package var workerCount: Int {
        workers ?? Scheduler.automaticWorkers(threads: threads ?? Processors.count)
    }

    /// - Throws: `UserError` if a model has no choice of rotary factors.
    package func checkRope(_ limits: ModelLimits) throws(UserError) {
        guard longRope != .auto, limits.shortRopeLength == nil else { return }
        throw UserError(
            .badJob,
            "long_rope is \(longRope.rawValue), but the model has one set of rotary factors only; leave it out."
        )
    }
}
