import BatchEngine
import Errors

/// Numbers of a run, so far or in all.
public struct RunStatistics: Sendable, Equatable {
    /// Lines read so far.
    public var lines = 0
    /// Results that these lines have.
    package var results = 0
    /// Results made by this run, failed ones not counted.
    public var done = 0
    /// Lines that failed.
    public var failed = 0
    /// Their results, one for each sample.
    package var failedResults = 0
    /// Results that the job will have; nil while they are not counted, and where the input can be read but once.
    public var total: Int?
    /// Results that an earlier run had made.
    public var skipped = 0
    /// Lines passed over, as they carry the error of an earlier step.
    public var passedOver = 0
    /// Results that are such an error.
    public var passedOn = 0
    /// Lines in which texts of control tokens, such as `<|end|>`, were taken as text.
    public var covered = 0
    /// Settings that OpenAI's requests asked for in vain (`unsupported: ignore`): the number of lines, by name.
    public var missing: [String: Int] = [:]
    /// Completions taken up in the middle.
    public var resumed = 0
    /// Answers that were not what was asked for, and were generated anew.
    public var turnedDown = 0
    /// Results that needed no tokens of their own, as an equal request was computed, in this run or another. Their tokens are in no other number.
    public var copied = 0
    /// Answers of requests, several of which a result may have, that were taken from the job's store of answers, and those
    /// that were added to it.
    public var answersTaken = 0
    public var answersAdded = 0
    /// Answers of the store that were computed again, and a sentence for each that differs.
    package var answersVerified = 0
    package var wrongAnswers: [Message] = []
    /// Times that a request gave way to older ones, as the KV cache had no room left, and was computed again.
    public var preempted = 0
    /// Requests under way now.
    public var running = 0
    /// Tokens of prompts admitted by this run.
    public var promptTokens = 0
    /// Tokens chosen or scored by this run.
    public var completionTokens = 0
    /// Draft tokens of completions, and those of them that were accepted.
    public var drafted = 0
    public var acceptedDrafts = 0
    /// Tokens of prompts that were computed by this run, if it scores.
    package var scoringRows = 0
    /// Wall time since the first request was admitted; until then, since the start.
    public var seconds = 0.0

    /// Why the completions of this run ended, and what is wrong with lines that failed.
    public var finishReasons: [String: Int] = [:]
    /// Number of rows with steps that this run accepted, and that each step dropped.
    public var tally: [RowOutcome: Int] = [:]
    /// Rows that are accepted, so far as all before them are done, and how many are wanted; nil where all are.
    public var accepted: Int?
    public var wanted: Int?
    /// Lines all of whose rows are done, and fewer of them accepted than `until` wants of a line.
    public var shortLines = 0
    public var errors: [LineError.Code: Int] = [:]
    /// Seconds from when a request began to run until its first token was there, and until its end; waiting for a free
    /// place is not in it.
    package var firstTokenTimes = Distribution()
    package var requestTimes = Distribution()

    /// Share of `seconds` that the model's steps took, by their rows of prompts and of completions.
    public var prefillSeconds = 0.0
    public var decodeSeconds = 0.0
    /// Times of the parts of the model's steps.
    package var compute = ComputeTimes()
    /// Energy of the processors meanwhile, in joules, whatever ran on them; nil if they don't tell.
    public var joules: Double?
    /// Energy for 1,000 tokens, generated or scored.
    public var joulesPerThousandTokens: Double? {
        let tokens = completionTokens + scoringRows
        return tokens > 0 ? joules.map { 1000 * $0 / Double(tokens) } : nil
    }

    package init() {}

    /// Results that are there, of earlier runs and of this one, failed ones included.
    public var finished: Int { done + failedResults + skipped }

    /// At the pace of this run; nil where `total` or a pace is not known.
    public var secondsLeft: Double? {
        guard done + failedResults > 0, seconds > 0 else { return nil }
        if let accepted, let wanted {
            // At the pace of those that this run has accepted.
            guard let own = tally[.accepted] else { return nil }
            return Double(max(0, wanted - accepted)) * seconds / Double(own)
        }
        guard let total else { return nil }
        return Double(max(0, total - finished)) * seconds / Double(done + failedResults)
    }

    /// Not in a step: waiting for lines, writing results.
    public var idleSeconds: Double { max(0, seconds - prefillSeconds - decodeSeconds) }
    /// Tokens chosen; in a run that scores, all that were computed.
    public var tokensPerSecond: Double {
        seconds > 0 ? Double(completionTokens + scoringRows) / seconds : 0
    }
}

/// A line that failed, for the report at the end.
public struct FailedLine: Sendable, Equatable {
    public var id: String
    public var file: String
    public var line: Int
    public var error: LineError

    package init(id: String, file: String, line: Int, error: LineError) {
        (self.id, self.file, self.line, self.error) = (id, file, line, error)
    }
}

/// End of a run.
public struct RunOutcome: Sendable {
    public enum Status: Sendable, Equatable {
        /// All is done and the output in place.
        case complete
        /// More lines failed than `max_failures` allows. All is done and the output in place, unless the run ended early.
        case tooManyFailures(allowed: Int)
        /// The input has come to its end before as many rows were accepted as `until` wants.
        case tooFewAccepted(accepted: Int, wanted: Int)
        /// The stop flag was set in time; the next run goes on from here.
        case interrupted
    }

    public var status: Status
    /// The failures that `max_failures` allows were passed before the end of the input.
    public var endedEarly = false
    public var statistics: RunStatistics
    /// The first few lines that failed.
    public var failures: [FailedLine]
    /// Half lines at the end of the input's files. They count nowhere else.
    public var unfinished: [UnfinishedLine] { input.read.unfinished }
    package var input: InputCount
    /// The files of the input, as they were read.
    package var inputs: [String]
}
