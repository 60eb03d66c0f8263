import BatchEngine
import Foundation
import Foundations

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
    case auto, int8, f16

    /// What it comes down to; `auto` is no other precision than the one it chooses.
    package var resolved: CachePrecision { self == .auto ? .int8 : self }
}

/// How many lines may fail in a job that still counts as complete.
public enum FailureLimit: Sendable, Equatable {
    case count(Int)
    case percent(Double)

    package func allowed(of total: Int) -> Int {
        switch self {
        case .count(let count): return count
        case .percent(let percent): return Int((Double(total) * percent / 100).rounded(.down))
        }
    }
}

/// All that a job says. `JobKey.all` has the meaning, the range and the default of each member.
///
/// An optional member is nil where the job doesn't say; then a line may.
public struct JobSettings: Sendable, Equatable {
    public var model: String = ""
    public var input: [String] = []
    public var output: String = ""
    /// How the input is read and how the output looks. Neither changes what a result is.
    package var inputFormat = FormatChoice(InputFormats.standard)
    package var outputFormat = FormatChoice(ResultFormats.standard)

    public var system: String?
    public var prompt: String?
    public var chat = true

    public var maxTokens: Int?
    public var temperature: Float?
    public var topP: Float?
    public var topK: Int?
    public var minP: Float?
    public var presencePenalty: Float?
    public var frequencyPenalty: Float?
    public var repetitionPenalty: Float?
    /// By token id.
    public var logitBias: [Int32: Float]?
    public var seed: Int?
    public var stop: [String] = []
    public var ignoreEndOfSequence = false
    public var samples = 1

    public var tokens = false
    public var logprobs: Int?

    public var workers = CountSetting.auto
    public var threads = CountSetting.auto
    public var kvBudget = MemoryBudget.auto
    public var kvPrecision = CachePrecision.auto
    public var prefillChunk = JobSettings.defaultPrefillChunk

    public var maxFailures = FailureLimit.count(0)
    /// How many earlier outputs stay under other names, where results would be lost with them.
    public var keepOld = 3
    /// Seconds between two savings of the completions under way.
    public var checkpointInterval = 15.0

    public init() {}

    public static let defaultMaxTokens = 256
    public static let defaultPrefillChunk = 512
    public static let defaultPrompt = "{{ prompt }}"
    package var workerCount: Int {
        if case .count(let count) = workers { return count }
        if case .count(let count) = threads { return Scheduler.automaticWorkers(threads: count) }
        return Scheduler.automaticWorkers(threads: Processors.count)
    }

    /// What the results depend on, in a fixed order, each value as text: another value, other results. Later
    /// settings are left out where they are not set, so that older results still count.
    package var resultSettings: [(name: String, value: String)] {
        JobKey.all.compactMap { key in key.resultValue?(self).map { (key.name, $0) } }
    }
}
