import BatchEngine
import FoundationShim
import OperatingSystem

/// A count that may be left to the program.
public enum CountSetting: Sendable, Equatable {
    case auto
    case count(Int)
}

/// How much memory KV caches may take.
public enum MemoryBudget: Sendable, Equatable {
    case auto
    case bytes(Int)
    /// A share of the machine's memory, 0 ... 1.
    case share(Double)
}

/// In which precision KV caches are kept.
public enum CachePrecision: String, Sendable, CaseIterable {
    case auto, int8, int4, f16
}

/// Whether tokens are guessed ahead of the model, and checked by it in one step.
public enum SpeculationSetting: Sendable, Equatable {
    /// Where rows of a step are free, and the guesses are likely to hold.
    case auto
    case off
    /// Up to so many of each completion in each step, whatever it costs; 1 ... 24.
    case tokens(Int)

    var engineValue: Speculation {
        switch self {
        case .auto: .auto
        case .off: .off
        case .tokens(let count): .always(count)
        }
    }
}

/// Which rotary factors are used, of a model that has two sets (LongRoPE).
public enum LongRopeSetting: String, Sendable, CaseIterable {
    /// Each completion's are the long ones if its prompt and the most tokens it may have come to more than the short
    /// ones are for.
    case auto
    /// Whatever length it may have.
    case short, long

    var engineValue: RopeFactors {
        switch self {
        case .auto: .byLength
        case .short: .short
        case .long: .long
        }
    }
}

/// How the machine is used. Results don't depend on it, but for the engine and the KV cache's precision, which are in
/// the engine's identity, and the rotary factors.
public struct EngineSettings: Sendable, Equatable {
    /// What computes.
    public var kind = EngineKind.cpu
    /// Requests that advance together.
    public var workers = CountSetting.auto
    /// Compute threads.
    public var threads = CountSetting.auto
    /// Memory for KV caches.
    public var kvBudget = MemoryBudget.auto
    /// What KV caches hold.
    public var kvPrecision = CachePrecision.auto
    /// Rotary factors, where the model has two sets.
    public var longRope = LongRopeSetting.auto
    /// The most prompt tokens in one step, beside the others' decode.
    public var prefillChunk = 512
    /// Whether tokens are guessed ahead.
    public var speculation = SpeculationSetting.auto

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
