import BatchEngine
import FoundationShim
import OperatingSystem

/// Memory for KV caches.
public enum MemoryBudget: Sendable, Equatable {
    case auto
    case bytes(Int)
    /// A share of the machine's memory, 0 ... 1.
    case share(Double)
}

/// Precision of KV caches.
public enum CachePrecision: String, Sendable, CaseIterable {
    case auto, int8, int4, f16
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
    /// Memory for KV caches.
    public var kvBudget = MemoryBudget.auto
    /// Precision of KV caches.
    public var kvPrecision = CachePrecision.auto
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
}
