import BatchEngine
import Errors
import JSON

/// A step of a job: a question asked of the model about a row, after earlier steps.
///
/// Its templates see the line's fields and, by name, results of earlier steps: `{{ question.text }}`, and the members
/// of an answer that is a JSON object, as in `{{ question.title }}`.
public struct JobStep: Sendable, Equatable {
    /// A word: the name of the step's result in the row.
    public var name: String
    /// The step's own settings: prompt, messages, task, constraint and settings of its request. Others are the job's.
    public var settings = JobSettings()
    /// An expression in the template language for a list: the step makes a row of each item, at most `samples`.
    /// Templates see the item as `item`. Nil is none.
    public var each: String?
    /// A condition in the template language: a row for which it is false skips the step. Nil is always.
    public var condition: String?
    /// A condition on the step's result: a row for which it is false is dropped. Nil is none.
    public var accept: String?
    /// Drops a row whose accepted result resembles that of an earlier row. Nil is never.
    public var distinct: Distinctness?
    /// Number of tries, each with another random stream, until `accept` holds; at least 1.
    public var tries = 1

    public init(_ name: String) { self.name = name }

    static let triesRange = 1...1000

    /// Settings of the job that a step may have, too.
    static let keys = JobKey.all(in: .step)

    /// Number of rows made of one, all of which go on; at least 1.
    var samples: Int { settings.samples ?? 1 }

    /// The item's name in templates and results.
    static let item = "item"
    /// The reason to drop a row after enough of its line are accepted.
    static let until = "until"

    /// Returns the job for this step alone.
    func job(in job: JobSettings) -> JobSettings {
        var own = settings
        own.request = settings.request.over(job.request, where: takes)
        own.request.samples = nil
        own.system = settings.system ?? job.system
        (own.chat, own.parsesControlTokens, own.engine) = (job.chat, job.parsesControlTokens, job.engine)
        (own.model, own.input, own.output) = (job.model, job.input, job.output)
        (own.inputFormat, own.outputFormat) = (job.inputFormat, job.outputFormat)
        (own.idField, own.passesErrorLines) = (job.idField, job.passesErrorLines)
        own.ignoresUnsupported = job.ignoresUnsupported
        (own.lineSettings, own.allowsEmpty, own.linesChoose) = (job.lineSettings, job.allowsEmpty, false)
        return own
    }

    /// Whether a request setting of the job applies to the step.
    private func takes(_ setting: RequestSetting) -> Bool {
        let chooses = settings.request.choices != nil
        let task: RequestSetting.Task =
            settings.task == .score ? .score : chooses ? .choose : .generate
        let forms = settings.answerFormats.map(\.form).filter(\.isConstraint)
        return setting.tasks.contains(task) && !["samples", "choices"].contains(setting.name)
            && (forms.isEmpty || setting.formConflict(mayStop: forms.allSatisfy(\.isOfCalls)) == nil)
    }

    /// Settings that the step's result depends on besides what it asks.
    /// - Parameter own: the job of the step alone.
    func textBesidePrompt(_ own: JobSettings) -> String {
        let prompt: Set = ["prompt", "messages", "system"]
        return JSONWriter.list(
            (tries > 1 ? [accept ?? "", "\(tries)"] : [])
                + own.resultSettings.filter { !prompt.contains($0.name) }.flatMap { [$0.name, $0.value] })
    }

    /// Everything that results depend on, as text.
    var text: String {
        JSONWriter.list(
            [name, condition ?? "", accept ?? "", "\(tries)"] + (distinct?.parts ?? [])
                + (samples > 1 ? ["samples", "\(samples)"] : []) + (each.map { ["each", $0] } ?? [])
                + settings.resultSettings.flatMap { [$0.name, $0.value] })
    }
}

extension JobSettings {
    /// The settings of a line's first question: the first step's, if there are steps.
    package var opening: JobSettings { steps.first?.job(in: self) ?? self }

    /// Number of rows that a line may have.
    static let rowsOfLineRange = 1...10_000

    /// An error of the steps, as a sentence of its own; nil if all is well.
    var stepsProblem: String? {
        guard !steps.isEmpty else { return nil }
        if task != .steps { return "task belongs to a step, as the job has steps." }
        let others: [(String, Bool)] = [
            ("prompt", prompt != nil), ("messages", !messages.isEmpty), ("prefix", prefix != nil),
            ("completion", completion != nil), ("choices", request.choices != nil),
        ]
        if let other = others.first(where: \.1)?.0 ?? answerFormats.first?.key {
            return "\(other) belongs to a step, as the job has steps."
        }
        if let wanted = untilPerLine, wanted >= sampleCount {
            return
                "until: \(wanted) per line is not below the number of rows of a line; raise samples."
        }
        if keep == .all {
            return "keep must list fields by name, as the job has steps."
        }
        var names: Set<String> = []
        if case .fields(let fields) = keep { names = Set(fields.map(\.resultName)) }
        if steps.contains(where: { $0.each != nil }), !names.insert(JobStep.item).inserted {
            return
                "keep: \(JobStep.item) is the name of each's item in results; keep the field under another name."
        }
        if !Self.rowsOfLineRange.contains(sampleCount) {
            return "samples of the job and its steps make \(sampleCount) rows of a line; at most "
                + "\(Self.rowsOfLineRange.upperBound) are possible."
        }
        for step in steps {
            if let problem = JobStep.problem(withName: step.name, taken: JobStep.taken) {
                return "steps: \(step.name.prefix(64)) \(problem)."
            }
            if !names.insert(step.name).inserted {
                return "steps: \(step.name) is the name of something else, too."
            }
        }
        for (number, step) in steps.enumerated() {
            if let problem = step.problem(in: self, isFirst: number == 0) {
                return "steps: \(step.name): \(problem)"
            }
        }
        return (try? StepPlan(self))?.problem
    }
}

extension JobStep {
    /// Names that a step can't have.
    fileprivate static let taken = KeptFields.resultNames(of: .steps).union(LineReading.names)
        .union(["prompt", "messages", "completion", "text", until])

    /// Returns the problem with a name that templates use; nil if there is none.
    static func problem(withName name: String, taken: Set<String>) -> String? {
        guard name.wholeMatch(of: /[A-Za-z_][A-Za-z0-9_]*/) != nil else {
            return "is no name: letters, digits and _, no digit first"
        }
        if taken.contains(name) { return "is a name that lines or results have for something else" }
        return words.contains(name) ? "is a word of the templates' language" : nil
    }

    /// Words of the templates' language, which are no names.
    private static let words: Set = [
        "true", "false", "none", "null", "True", "False", "None", "and", "or", "not", "in", "is", "if",
        "else", "loop",
    ]

    /// An error, as a part of a sentence.
    fileprivate func problem(in job: JobSettings, isFirst: Bool) -> String? {
        if !Self.triesRange.contains(tries) {
            return "tries must be \(Self.triesRange.right), but is \(tries)."
        }
        if let similarity = distinct?.similarity, !Distinctness.range.contains(similarity) {
            return "distinct: near must be \(Distinctness.range.right), but is \(similarity)."
        }
        if tries > 1, accept == nil { return "tries needs accept, the condition that ends them." }
        if let each, let method = each.firstMatch(of: /\.(items|keys|values|get)\b(?!\()/)?.1 {
            return
                "each: .\(method) is a method of templates; a member of that name is written [\"\(method)\"]."
        }
        if each != nil, settings.samples == nil {
            return "each needs samples, the most items that become rows."
        }
        if condition != nil, samples > 1 || each != nil {
            return
                "where has no meaning beside samples, as all rows of a step go on; a step before may have it."
        }
        if !isFirst, settings.prompt == nil, settings.messages.last?.role != "user" {
            return "it needs a prompt, or messages that end with a user's."
        }
        let own = self.job(in: job)
        return own.chatProblem ?? own.taskProblem ?? own.choicesProblem ?? own.answerProblem
    }
}

/// Steps of a job file.
extension SettingValue {
    /// - Parameter readsFiles: whether files that steps name are read.
    func steps(readsFiles: Bool) throws -> [JobStep] {
        if isOption { throw wrong("a list of steps in a job file") }
        guard case .list(let given) = content, !given.isEmpty else {
            throw fault("must be a list of mappings, each with a name")
        }
        // Checking takes time quadratic in the number of steps.
        guard given.count <= 256 else {
            throw fault("has \(given.count) steps, but at most 256 are possible")
        }
        return try given.map { try JobStep($0, readsFiles: readsFiles) }
    }
}

extension JobStep {
    private static func hint(for key: String) -> String {
        if JobKey.named(key) != nil { return "; it belongs to the whole job" }
        let hint = NearMiss.hint(
            for: key,
            among: ["name", "each", "where", "accept", "distinct", "tries"] + keys.map(\.name))
        return hint.isEmpty ? "" : " (d\(hint.dropFirst(2)))"
    }

    fileprivate init(_ step: SettingValue, readsFiles: Bool) throws {
        guard case .mapping(let members) = step.content else {
            throw step.fault("must be a list of mappings, each with a name")
        }
        guard let name = members.first(where: { $0.key.text == "name" }) else {
            throw SettingProblem("has a step without a name", line: members.first?.key.line ?? step.line)
        }
        self.init(try name.value.string())
        let given = Set(members.compactMap(\.key.text))
        if given.isSuperset(of: ["prompt", "prompt_file"]) {
            throw step.fault("\(self.name.prefix(64)): prompt and prompt_file are both given; keep one")
        }
        for (key, value) in members {
            let text = key.text ?? ""
            do {
                switch text {
                case "name": break
                case "each": each = try value.string()
                case "where": condition = try value.string()
                case "accept": accept = try value.string()
                case "distinct": distinct = try Distinctness(value)
                case "tries": tries = try value.int(in: Self.triesRange)
                default:
                    guard let known = Self.keys.first(where: { $0.name == text })?.member else {
                        throw key.fault("is no key of a step" + Self.hint(for: text))
                    }
                    try known.set(&settings, value, false)
                    if readsFiles { try known.set(&settings, value, true) }
                }
            } catch let error as SettingProblem {
                throw SettingProblem(
                    "\(self.name.prefix(64)): \(text.prefix(64)) \(error.message)",
                    line: error.line ?? value.line)
            }
        }
    }
}

extension Distinctness {
    /// Reads an expression, or a mapping with `text` and `near`.
    fileprivate init(_ value: SettingValue) throws {
        guard case .mapping = value.content else {
            self.init(try value.string())
            return
        }
        guard value.hasOnly("text", "near"), let text = try value.member("text", { try $0.string() }) else {
            throw value.wrong("an expression, or a mapping with text and near")
        }
        self.init(text, similarity: try value.member("near") { try $0.number(in: Self.range) })
    }
}
