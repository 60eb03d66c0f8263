import Jobs
import PhiModel
import TokenConstraints

/// Preview of a job's run: all lines are read, rendered and counted.
package struct JobCheck {
    /// A prompt as the model sees it.
    package struct Shown: Sendable {
        package var id: String
        /// Nil in a job without steps.
        package var step: String?
        /// An error if it isn't known before earlier steps have run.
        package var text: Result<String, LineError>
        /// Nil if it has placeholders for results of earlier steps.
        package var tokens: Int?
    }

    package private(set) var lines = 0
    /// Number of lines with an earlier error.
    package private(set) var passedOver = 0
    /// Number of lines with control tokens that are treated as text.
    package private(set) var covered = 0
    /// Number of lines by each unsupported request of OpenAI's that would be ignored.
    package private(set) var missing: [String: Int] = [:]
    /// Number of the first lines that have each field that is a setting, and each that is data in spite of a setting's
    /// name.
    package private(set) var settingsOfLines: (read: [String: Int], data: [String: Int]) = ([:], [:])
    package static let settingsLineLimit = 1000
    package private(set) var unfinished = 0
    package private(set) var failed = 0
    /// The first failures.
    package private(set) var failures: [FailedLine] = []
    /// Number of lines that fail with each error.
    package private(set) var codes: [LineError.Code: Int] = [:]
    /// Lengths of prompts that don't fail, ascending.
    package private(set) var promptTokens: [Int] = []
    /// The most tokens of all completions, for one sample.
    package private(set) var completionTokens = 0
    package private(set) var shown: [Shown] = []
    /// The job's constraint on all answers; nil if it has none.
    package private(set) var answers: CompiledAnswer?
    /// Number of lines with their own constraint, if the job has none.
    package private(set) var linesWithForm = 0
    /// The most tokens of a sequence with the short rotary factors, and numbers of sequences with each set; nil if a
    /// request has no choice between them.
    package private(set) var rope: (shortLength: Int, short: Int, long: Int)?
    /// The job's steps in order; numbers are of the first alone.
    package private(set) var steps: [String] = []
    /// Warnings about settings that are probably not intended.
    package private(set) var warnings: [String] = []
    /// Changes since earlier results were made, for which the run would be refused.
    package private(set) var changes: [String] = []

    package private(set) var allowedFailures = 0

    /// - Parameter shownCount: number of lines whose prompts are kept as text.
    /// - Throws: `UserError` that would prevent the job from starting.
    package init(_ job: JobSettings, shownCount: Int, cache: WeightCacheLocation) throws {
        let model = try ModelText(folder: job.model)
        try job.engine.checkRope(model.limits)
        if job.engine.longRope == .auto { rope = model.limits.shortRopeLength.map { ($0, 0, 0) } }
        let preparer = try LinePreparer(job)
        let grammars = AnswerGrammars(text: model.text, limits: model.limits)
        let maker = RequestMaker(model.text, model.limits, grammars)
        answers = try job.opening.compiledAnswer(grammars)
        let plan = job.steps.isEmpty ? nil : try StepPlan(job)
        var fields: Set<String> = []
        steps = job.steps.map(\.name)
        var input = try JobLines(job, reader: job.inputReader(), isWhole: true)
        while let line = try input.next() {
            lines += 1
            do {
                let record = try line.record.get()
                if plan != nil, case .object(let members) = record.fields {
                    fields.formUnion(members.names)
                }
                if lines <= Self.settingsLineLimit, record.request == nil {
                    let names = record.settingNames
                    for name in names.read { settingsOfLines.read[name, default: 0] += 1 }
                    for name in names.data { settingsOfLines.data[name, default: 0] += 1 }
                }
                let prepared = try preparer.prepare(record) { maker }
                if let answer = prepared.answer {
                    _ = try answer.value(maxTokens: prepared.lengths[0].completion)
                    if answers == nil { linesWithForm += 1 }
                }
                if let length = rope?.shortLength {
                    let short = prepared.lengths.count { $0.prompt + $0.completion <= length }
                    rope?.short += short
                    rope?.long += prepared.lengths.count - short
                }
                promptTokens.append(prepared.prompt.count)
                let completion = prepared.lengths.reduce(0) { $0 + $1.completion }
                completionTokens += completion * (line.request?.choices ?? 1)
                if prepared.isCovered { covered += 1 }
                for name in prepared.missing { missing[name, default: 0] += 1 }
                if promptTokens.count <= shownCount {
                    let text = model.shown(prepared.prompt)
                    shown.append(
                        Shown(
                            id: line.id, step: steps.first, text: .success(text),
                            tokens: prepared.prompt.count))
                    shown += (plan?.laterPrompts(of: record, by: maker) ?? []).map { step, prompt in
                        Shown(id: line.id, step: step, text: prompt.map(model.shown))
                    }
                }
            } catch let error as LineError {
                guard error.code != .earlierError else { continue }
                failed += 1
                codes[error.code, default: 0] += 1
                if failures.count < 20 {
                    failures.append(
                        FailedLine(
                            id: line.id, file: line.file, line: line.number, error: error))
                }
            }
        }
        allowedFailures = (job.maxFailures ?? .count(0)).allowed(of: lines)
        promptTokens.sort()
        (passedOver, unfinished) = (input.read.passedOver, input.read.unfinished.count)
        warnings = (plan?.nameFaults(fields).map(\.text) ?? []) + input.warnings
        changes = try JobFreshness(job, cache: cache, comparesLines: false)?.changes ?? []
    }

    /// Returns the length that so many percent of the prompts don't exceed.
    package func promptTokens(atPercent percent: Int) -> Int {
        promptTokens.isEmpty ? 0 : promptTokens[(promptTokens.count - 1) * percent / 100]
    }
}
