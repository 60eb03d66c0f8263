import BatchEngine
import Jobs
import PhiModel

/// What a run of a job would meet, found without running it: all lines are read, rendered and counted.
package struct JobCheck {
    /// A prompt as the model would see it.
    package struct Shown: Sendable {
        package var id: String
        /// Nil in a job without steps.
        package var step: String?
        /// Why it can't be told before earlier steps have made something; then it is empty.
        package var problem: String?
        package var text = ""
        /// Nil where the names of what earlier steps will make stand in it.
        package var tokens: Int?
    }

    /// The form that the job gives all answers.
    package struct Answers: Sendable {
        /// JSON pointers to keywords that are checked on the finished answer, as masks don't decide them.
        package var validated: [String]
        /// JSON pointers to objects that may have members whose names the schema doesn't have.
        package var openObjects: [String]
        /// How many tokens the shortest answer has.
        package var leastTokens: Int
        /// The shortest answer.
        package var example: String
    }

    package private(set) var lines = 0
    /// Lines that carry an earlier error.
    package private(set) var passedOver = 0
    /// Lines in which texts of control tokens are taken as text.
    package private(set) var covered = 0
    /// What OpenAI's requests ask for and would be answered without: in how many lines, by name.
    package private(set) var missing: [String: Int] = [:]
    /// Of the first lines, how many have a field of each name that is a setting, and one that is data although a setting has
    /// its name.
    package private(set) var settingsOfLines: (read: [String: Int], data: [String: Int]) = ([:], [:])
    package static let settingsLineLimit = 1000
    package private(set) var unfinished = 0
    package private(set) var failed = 0
    /// The first of them.
    package private(set) var failures: [FailedLine] = []
    /// How many lines fail with each error.
    package private(set) var codes: [LineError.Code: Int] = [:]
    /// The lengths of prompts that don't fail, in ascending order.
    package private(set) var promptTokens: [Int] = []
    /// The most tokens that all completions can have, for one sample.
    package private(set) var completionTokens = 0
    package private(set) var shown: [Shown] = []
    /// Nil if the job leaves it to lines.
    package private(set) var answers: Answers?
    /// Lines that say what their answers must be like, where the job doesn't.
    package private(set) var linesWithForm = 0
    /// Nil where there is no choice of rotary factors.
    package private(set) var rope: RopeSides?
    /// The job's steps in their order; numbers are of the first alone.
    package private(set) var steps: [String] = []
    /// What is hardly meant.
    package private(set) var warnings: [String] = []
    /// What has changed since earlier results were made; the run would be refused.
    package private(set) var changes: [String] = []

    package var allowedFailures: Int { allowed.allowed(of: lines) }
    private let allowed: FailureLimit

    /// - Parameters:
    ///   - shownCount: of how many lines prompts are kept as text.
    ///   - failureCount: how many failures are kept.
    /// - Throws: `JobError` or `ModelError` for what would keep the job from starting.
    package init(
        _ job: JobSettings, shownCount: Int, failureCount: Int = 20, cache: WeightCacheLocation
    ) throws {
        allowed = job.maxFailures ?? .count(0)
        let model = try ModelText(folder: job.model)
        if let problem = job.ropeProblem(with: model.limits) { throw problem }
        rope = RopeSides(job, model.limits)
        let preparer = try LinePreparer(job)
        let keys = try LineKeys(job)
        let grammars = AnswerGrammars(text: model.text, limits: model.limits)
        answers = try Answers(of: job.opening, grammars)
        var preview = try StepsPreview(job)
        steps = preview?.names ?? []
        var reader = job.inputReader()
        var seen = SeenIDs()
        var (place, shownLines) = (0, 0)
        while let line = try reader.next() {
            if reader.isHalf(line) {
                unfinished += 1
                continue
            }
            let identity = LineIdentity(line, by: reader, keys)
            if identity.carriedError != nil, job.errorLines == .skip {
                passedOver += 1
                continue
            }
            place += 1
            let isNew = seen.insert(identity.id)
            guard job.selection.holds(place - 1) else { continue }
            lines += 1
            do {
                if let error = identity.carriedError { throw error }
                guard isNew else {
                    throw LineError(.duplicateID, "The id \"\(identity.id)\" has come before.")
                }
                let record = try identity.record.get()
                preview?.note(record)
                if lines <= Self.settingsLineLimit, record.request == nil {
                    let names = record.settingNames
                    for name in names.read { settingsOfLines.read[name, default: 0] += 1 }
                    for name in names.data { settingsOfLines.data[name, default: 0] += 1 }
                }
                let prepared = try preparer.prepare(record) { (model.text, model.limits, grammars) }
                if let answer = prepared.answer {
                    _ = try answer.compiled()
                    if answers == nil { linesWithForm += 1 }
                }
                rope?.add(prepared)
                promptTokens.append(prepared.prompt.count)
                let completion = prepared.lengths.reduce(0) { $0 + $1.completion }
                completionTokens += completion * (identity.request?.choices ?? 1)
                if prepared.isCovered { covered += 1 }
                for name in prepared.missing { missing[name, default: 0] += 1 }
                if shownLines < shownCount {
                    shown.append(
                        Shown(
                            id: identity.id, step: steps.first, text: model.shown(prepared.prompt),
                            tokens: prepared.prompt.count))
                    let later = preview?.laterPrompts(of: record, (model.text, model.limits, grammars))
                    for (step, prompt) in later ?? [] {
                        var next = Shown(id: identity.id, step: step)
                        switch prompt {
                        case .success(let tokens): next.text = model.shown(tokens)
                        case .failure(let error): next.problem = error.message
                        }
                        shown.append(next)
                    }
                    shownLines += 1
                }
            } catch let error as LineError {
                guard error.code != .earlierError else { continue }
                failed += 1
                codes[error.code, default: 0] += 1
                if failures.count < failureCount {
                    failures.append(
                        FailedLine(id: identity.id, file: line.file, line: line.number, error: error))
                }
            }
        }
        promptTokens.sort()
        warnings = (preview?.warnings ?? []) + reader.warnings
        changes = try JobFreshness(job, cache: cache, comparesLines: false)?.changes ?? []
    }

    /// The number of tokens that so many percent of the prompts don't exceed.
    package func promptTokens(atPercent percent: Int) -> Int {
        promptTokens.isEmpty ? 0 : promptTokens[(promptTokens.count - 1) * percent / 100]
    }
}

extension JobCheck.Answers {
    /// Nil if the job doesn't say what answers must be like.
    /// - Throws: `JobError` if there are no such answers.
    fileprivate init?(of job: JobSettings, _ grammars: AnswerGrammars) throws {
        guard let form = job.answerForm, form.isConstraint else { return nil }
        do throws(AnswerFault) {
            let compiled = try grammars.compilation(form, job.answerLayout).value()
            self.init(
                validated: compiled.validated, openObjects: compiled.openObjects,
                leastTokens: compiled.grammars[0].leastTokens, example: compiled.grammars[0].example)
        } catch {
            throw job.answersCantBe(error)
        }
    }
}
