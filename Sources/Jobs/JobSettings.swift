import BatchEngine
import OperatingSystem
import PhiText

/// The text in job files.
extension FailureLimit: LosslessStringConvertible {
    public var description: String {
        switch self {
        case .count(let count): "\(count)"
        case .percent(let percent): "\(percent)%"
        }
    }

    /// Reads a whole number, 0 or more, or a percentage such as `5%`.
    public init?(_ text: String) {
        guard let limit = try? SettingValue(option: text).failureLimit() else { return nil }
        self = limit
    }
}

/// Settings of a job. `JobKey.all` has the range and default of each member, and `phibatch run --help` shows them.
///
/// An optional member is nil if the job leaves it to lines.
@dynamicMemberLookup
public struct JobSettings: Sendable, Equatable {
    /// The model's folder.
    public var model: String = ""
    /// The model as written, which may be a name and no path.
    package var modelName: String?
    /// The folder of a LoRA adapter of the model; nil for none.
    public var adapter: String?
    /// Files of prompts, one JSON object a line; "-" is stdin.
    public var input: [String] = []
    /// As written, with patterns.
    package var inputPatterns: [String] = []
    /// Inputs fetched from addresses.
    package var distant: [DistantInput] = []
    /// Number of lines that the job makes, in place of an input; nil if it reads one.
    public var rows: Int?
    /// Fields of the lines that the job makes.
    package var pick: [Pick] = [] {
        didSet {
            sources += pick.compactMap(\.file).filter { !sources.contains($0) }
        }
    }
    /// Other files that the settings were read from.
    package var sources: [SourceFile] = []
    /// Whether patterns may match nothing yet.
    package var awaitsInput = false
    /// The file of results; "-" is stdout.
    public var output: String = ""
    /// Address of the finished output; nil if it stays where it is written.
    package var distantOutput: String?
    /// Formats of input and output. Results don't depend on them.
    package var inputFormat = InputFormat.auto
    package var outputFormat = ResultFormat.jsonl
    /// Whether the output's format is that of the input.
    package var outputFormatFollowsInput = true
    /// The file for results of failed lines; nil if they are in the output.
    public var errors: String?
    /// The lines to process.
    package var selection = LineSelection.all
    /// Whether the scheduler that started this process chose them.
    package var isShardScheduled = false

    public var task = JobTask.generate
    /// Questions asked of each line in order; empty if the job itself asks the only one.
    public var steps: [JobStep] = [] {
        // Another task set by the job stays, and is an error.
        didSet { if task == .generate || task == .steps { task = steps.isEmpty ? .generate : .steps } }
    }
    /// Whether a line's `choices` are those of its answer.
    var linesChoose = true
    /// The text to score, a template over the line's fields; nil is the line's `completion`, or else its `text`.
    public var completion: String?

    /// System message, a template over the line's fields; overrides a line's own.
    public var system: String?
    /// The prompt, a template over the line's fields; nil is `{{ prompt }}`.
    public var prompt: String?
    /// Whether prompts go through the model's chat template.
    public var chat = true
    /// Messages before the line's own, such as examples; each content is a template over the line's fields. If the last
    /// is a user's, it is the question, and the line's prompt is only a field.
    public var messages: [ChatMessage] = []
    /// The beginning of the answer, which the model continues; a template over the line's fields.
    public var prefix: String?
    /// Whether texts such as `<|end|>` in a line are special tokens, as in Hugging Face's tokenizers. If not, special
    /// tokens come only from the chat template and the job's own templates.
    public var parsesControlTokens = false

    /// The field that is a line's id; nil is `id`.
    public var idField: String?
    /// Fields of a line that are settings of its request; nil is all if the job has no prompt and no messages, else
    /// none.
    public var lineSettings: [String]?
    /// Whether a prompt may be only white space; otherwise the line fails.
    public var allowsEmpty = false
    /// Fields of the line that are copied to its result.
    public var keep = KeptFields.none
    /// Members of each result; other than full only in JSON lines and arrays.
    public var results = ResultDetail.full
    /// Whether the error of an earlier step in a line becomes its result; if not, the line is skipped and counted.
    public var passesErrorLines = false
    /// Whether OpenAI's requests with unsupported fields are answered without these, if the question stays the same, and
    /// the fields counted by name; if not, they fail.
    public var ignoresUnsupported = false

    /// Settings of each request. Its members are the job's, too: `job.temperature`.
    public var request = RequestSettings()

    /// Constraints of all answers, by key (`AnswerKey`).
    package var forms: [String: AnswerFormat] = [:]

    /// Use of the machine.
    public var engine = EngineSettings()

    /// Lines that may fail in a job that still counts as complete. If set and certain to be exceeded, the run ends
    /// early; nil is none, checked at the end.
    public var maxFailures: FailureLimit?
    /// Number of earlier outputs kept under other names, where results are lost otherwise.
    public var keepOld = 3
    /// Whether a manifest of its origin is written beside the finished output.
    public var provenance = false
    /// The folder of a store of answers, which are taken from it and added to it; nil for none.
    public var answers: String?
    /// The size limit of the store in bytes; the least recently written answers are removed first.
    public var answersLimit = 10_000_000_000
    /// Whether equal requests are computed once; results don't depend on it.
    package var computesEqualsOnce = true
    /// Seconds between savings of unfinished completions.
    public var checkpointInterval = 15.0
    static let intervals = NumberRange(0, to: 86_400)

    public init() {}

    public subscript<Value>(dynamicMember path: WritableKeyPath<RequestSettings, Value>) -> Value {
        get { request[keyPath: path] }
        set { request[keyPath: path] = newValue }
    }

    public static let defaultPrompt = "{{ prompt }}"

    /// Number of results of a line.
    package var sampleCount: Int {
        // More than are possible need no exact count.
        steps.reduce(request.samples ?? 1) { min($0 * $1.samples, 1_000_000_000) }
    }

    /// Number of accepted rows that ends a line, of at most `samples`; nil for all.
    public var untilPerLine: Int?

    /// Checks settings set in code; those of files and options are checked as they are read.
    /// - Throws: `UserError` with the setting.
    package func checkValues() throws {
        for key in JobKey.all {
            if let problem = key.member.problem(self) { throw UserError(.badJob, "\(key.name) \(problem).") }
        }
    }

    /// Settings that results depend on, in a fixed order, as text: other values, other results. Most are omitted if
    /// unset.
    package var resultSettings: [(name: String, value: String)] {
        JobKey.all.compactMap { key in key.member.text(self).map { (key.name, $0) } }
    }
}
