import Foundation
import Foundations

/// A count that may be left to the program.
package enum CountSetting: Sendable, Equatable {
    case auto
    case count(Int)
}

/// How much memory KV caches may take.
package enum MemoryBudget: Sendable, Equatable {
    case auto
    case bytes(Int)
    /// A share of the machine's memory, 0 ... 1.
    case share(Double)
}

/// In which precision KV caches are kept.
package enum CachePrecision: String, Sendable, CaseIterable {
    case auto, int8, f16

    /// What it comes down to; `auto` is no other precision than the one it chooses.
    package var resolved: CachePrecision { self == .auto ? .int8 : self }
}

/// How many lines may fail in a job that still counts as complete.
package enum FailureLimit: Sendable, Equatable {
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
package struct JobSettings: Sendable, Equatable {
    package var model: String = ""
    package var input: [String] = []
    package var output: String = ""
    /// How the input is read and how the output looks. Neither changes what a result is.
    package var inputFormat = FormatChoice(InputFormats.standard)
    package var outputFormat = FormatChoice(ResultFormats.standard)

    package var system: String?
    package var prompt: String?
    package var chat = true

    package var maxTokens: Int?
    package var temperature: Float?
    package var topP: Float?
    package var topK: Int?
    package var minP: Float?
    package var presencePenalty: Float?
    package var frequencyPenalty: Float?
    package var repetitionPenalty: Float?
    /// By token id.
    package var logitBias: [Int32: Float]?
    package var seed: Int?
    package var stop: [String] = []
    package var ignoreEndOfSequence = false
    package var samples = 1

    package var tokens = false
    package var logprobs: Int?

    package var workers = CountSetting.auto
    package var threads = CountSetting.auto
    package var kvBudget = MemoryBudget.auto
    package var kvPrecision = CachePrecision.auto
    package var prefillChunk = JobSettings.defaultPrefillChunk

    package var maxFailures = FailureLimit.count(0)
    /// How many earlier outputs stay under other names, where results would be lost with them.
    package var keepOld = 3
    /// Seconds between two savings of the completions under way.
    package var checkpointInterval = 15.0

    package init() {}

    package static let defaultMaxTokens = 256
    package static let defaultPrefillChunk = 512
    package static let defaultPrompt = "{{ prompt }}"
    package var workerCount: Int {
        if case .count(let count) = workers { return count }
        if case .count(let count) = threads { return Self.automaticWorkers(threads: count) }
        return Self.automaticWorkers(threads: Processors.count)
    }

    /// As many rows a step as make arithmetic the limit, not the reading of the weights: more of them
    /// where more threads share the memory's bandwidth. Fewer are admitted if the KV cache has no room
    /// for so many.
    static func automaticWorkers(threads: Int) -> Int { min(128, max(32, 4 * threads)) }

    /// What the results depend on, in a fixed order, each value as text: another value, other results. Later
    /// settings are left out where they are not set, so that older results still count.
    package var resultSettings: [(name: String, value: String)] {
        JobKey.all.compactMap { key in key.resultValue?(self).map { (key.name, $0) } }
    }
}
