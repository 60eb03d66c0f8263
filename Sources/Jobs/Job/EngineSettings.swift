import BatchEngine
import FoundationShim
import OperatingSystem

/// A count, or the program's choice of it.
public enum CountSetting: Sendable, Equatable {
    case auto
    case count(Int)
}

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

/// Choice of rotary factors of a model that has two sets (LongRoPE).
public enum LongRopeSetting: String, Sendable, CaseIterable {
    /// The long ones for a completion whose prompt and `max_tokens` exceed the limit of the short ones.
    case auto
    /// One set for all lengths.
    case short, long

    var engineValue: RopeFactors {
        switch self {
        case .auto: .byLength
        case .short: .short
        case .long: .long
        }
    }
}

/// Use of the machine. Results depend only on the engine and the KV cache's precision, which are in the engine's
/// identity, and on the rotary factors.
public struct EngineSettings: Sendable, Equatable {
    /// The engine that computes.
    public var kind = EngineKind.cpu
    /// Requests decoded together.
    public var workers = CountSetting.auto
    /// Compute threads.
    public var threads = CountSetting.auto
    /// Memory for KV caches.
    public var kvBudget = MemoryBudget.auto
    /// Precision of KV caches.
    public var kvPrecision = CachePrecision.auto
    /// Choice of rotary factors.
    public var longRope = LongRopeSetting.auto
    /// The most prompt tokens in one step, beside the decoding of others.
    public var prefillChunk = 512
    /// Whether draft tokens are checked.
    public var speculation = Speculation.auto

    public init() {}

    package var workerCount: Int {
        if case .count(let count) = workers { return count }
        return Scheduler.automaticWorkers(threads: threadCount)
    }

    private var threadCount: Int {
        if case .count(let count) = threads { return count }
        return Processors.count
    }
}
