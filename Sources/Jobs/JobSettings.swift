import BatchEngine
import OperatingSystem
import PhiText

/// As a job writes it.
extension FailureLimit: LosslessStringConvertible {
    public var description: String {
        switch self {
        case .count(let count): "\(count)"
        case .percent(let percent): "\(percent)%"
        }
    }

    /// A whole number, 0 or more, or a percentage such as `5%`.
    public init?(_ text: String) {
        guard let limit = try? SettingValue(content: .plain(text), isOption: true, folder: "").failureLimit()
        else { return nil }
        self = limit
    }
}

/// What texts such as `<|end|>` in a line are.
public enum ControlTokenHandling: String, Sendable, CaseIterable {
    /// Text. Special tokens come from the chat template and from the job's own templates only.
    case text
    /// Special tokens, as in Hugging Face's tokenizers.
    case parse
}

/// What becomes of a line that carries the error of an earlier step.
public enum ErrorLineHandling: String, Sendable, CaseIterable {
    /// Passed over and counted.
    case skip
    /// Its error becomes its result.
    case pass
}

/// What becomes of one of OpenAI's requests that asks for what can't be done here.
public enum UnsupportedHandling: String, Sendable, CaseIterable {
    /// It fails.
    case refuse
    /// It is answered without, if that is an answer to the same question; what was left out is counted by name.
    case ignore
}

/// All that a job says. `JobKey.all` has the range and the default of each member, and `phibatch run --help` shows
/// them.
///
/// An optional member is nil where the job doesn't say; then a line may.
@dynamicMemberLookup
public struct JobSettings: Sendable, Equatable {
    /// The model's folder.
    public var model: String = ""
    /// The model as it is written, where that may be a name and no path.
    package var modelName: String?
    /// The folder of a LoRA adapter that is applied to the model; nil without one.
    public var adapter: String?
    /// Files of prompts, one JSON object a line; "-" is stdin.
    public var input: [String] = []
    /// As the job names them, with patterns.
    package var inputPatterns: [String] = []
    /// What was brought here of those that lie elsewhere.
    package var distant: [DistantInput] = []
    /// How many lines the job makes, in place of an input; nil where it reads one.
    public var rows: Int?
    /// The fields of the lines that the job makes.
    public var pick: [Pick] = [] {
        didSet {
            sources += pick.compactMap(\.file).filter { !sources.contains($0) }
        }
    }
    /// Other files that the settings were read from.
    package var sources: [SourceFile] = []
    /// Patterns may match nothing yet.
    package var awaitsInput = false
    /// The file of results; "-" is stdout.
    public var output: String = ""
    /// Where the finished output goes; nil if it stays where it is made.
    package var distantOutput: String?
    /// How the input is read and how the output looks. Neither changes what a result is.
    package var inputFormat = FormatChoice(InputFormats.standard)
    package var outputFormat = FormatChoice(ResultFormats.standard)
    /// How cells of a CSV or TSV input are told apart.
    package var cells = CellFormat()
    /// Not chosen by the job: it is that of the input.
    package var outputFormatFollowsInput = true
    /// The file of results of failed lines, which then are not in the output; nil where they are.
    public var errors: String?
    /// The lines that are taken up.
    package var selection = LineSelection.all
    /// Which ones the scheduler said that started this process.
    package var isShardScheduled = false

    public var task = JobTask.generate
    /// What is asked with each line, one after the other; empty where that is one thing, which the job itself says.
    public var steps: [JobStep] = [] {
        // Another task that the job says stays, and is refused.
        didSet { if task == .generate || task == .steps { task = steps.isEmpty ? .generate : .steps } }
    }
    /// A line's `choices` are those of its answer, where the job says nothing else.
    var linesChoose = true
    /// What is scored, a template over the line's fields; nil is the line's `completion`, or else its `text`.
    public var completion: String?

    /// System message, a template over the line's fields; replaces a line's own.
    public var system: String?
    /// The prompt, a template over the line's fields; nil is `{{ prompt }}`.
    public var prompt: String?
    /// Whether prompts go through the model's chat template.
    public var chat = true
    /// Messages before the line's own, such as examples; each content is a template over the line's fields. If the
    /// last one is a user's, it is the question, and the line's own prompt only a field.
    public var messages: [ChatMessage] = []
    /// The beginning of the answer, from which the model goes on; a template over the line's fields.
    public var prefix: String?
    public var controlTokens = ControlTokenHandling.text

    /// The field that is a line's id; nil is `id`.
    public var idField: String?
    /// Fields of a line that are settings of its request; nil is all where the job gives no prompt and no messages, and none
    /// where it does.
    public var lineSettings: [String]?
    /// Whether a prompt of nothing but white space is asked; otherwise the line fails.
    public var allowsEmpty = false
    /// Fields of the line that its result has too.
    public var keep = KeptFields.none
    /// What the output has of each result; other than all in JSON lines and arrays only.
    public var results = ResultDetail.full
    public var errorLines = ErrorLineHandling.skip
    public var unsupported = UnsupportedHandling.refuse

    /// What is asked of each of its requests. Its members are the job's, too: `job.temperature`.
    public var request = RequestSettings()

    /// What all answers must be like, by the key that says so (`AnswerKeys`).
    package var forms: [String: AskedForm] = [:]

    /// How the machine is used for it.
    public var engine = EngineSettings()

    /// Lines that may fail in a job that still counts as complete. If it is given and certain to be passed, the run
    /// ends early; nil is none, found at the end.
    public var maxFailures: FailureLimit?
    /// How many earlier outputs stay under other names, where results would be lost with them.
    public var keepOld = 3
    /// Whether a manifest of what it came from lies beside the finished output.
    public var provenance = false
    /// The folder of a store of answers: what was computed before is taken from it, and what is computed added; nil
    /// without one.
    public var answers: String?
    /// Bytes that the store may have; what was written least recently goes first.
    public var answersLimit = 10_000_000_000
    /// Requests that the model would answer alike are computed once; results are the same without.
    package var computesEqualsOnce = true
    /// Seconds between two savings of the completions under way.
    public var checkpointInterval = 15.0

    public init() {}

    public subscript<Value>(dynamicMember path: WritableKeyPath<RequestSettings, Value>) -> Value {
        get { request[keyPath: path] }
        set { request[keyPath: path] = newValue }
    }

    public static let defaultPrompt = "{{ prompt }}"

    /// How many results a line has.
    package var sampleCount: Int {
        // More than are possible need not be counted.
        steps.reduce(request.samples ?? 1) { min($0 * $1.samples, 1_000_000_000) }
    }

    /// How many accepted rows of a line end it, of those that `samples` allow; nil where all are wanted.
    public var untilPerLine: Int?

    package func resultRun(digest: String) -> ResultRun {
        ResultRun(digest: digest, samples: sampleCount)
    }

    /// The ranges of settings that are given in code; those of files and options are checked as they are read.
    /// - Throws: `UserError` naming the setting.
    package func checkValues() throws {
        for key in JobKey.all {
            if let problem = key.member.problem(self) { throw UserError(.badJob, "\(key.name) \(problem).") }
        }
    }

    /// Settings that results depend on, in a fixed order, each value as text: another value, other results. Most are
    /// left out where they are not set.
    package var resultSettings: [(name: String, value: String)] {
        JobKey.all.compactMap { key in key.resultValue(self).map { (key.name, $0) } }
    }
}
