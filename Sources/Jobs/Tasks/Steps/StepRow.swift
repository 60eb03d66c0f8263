import BatchEngine
import JSON
import PhiText

/// A row between two steps, or in one.
struct StepRow: Sendable {
    private let plan: StepPlan
    /// The line's; among its fields are results for later templates.
    private var line: PromptRecord
    private let maker: RequestMaker
    private(set) var label: RequestLabel

    /// Results of steps, each under its step's name.
    private var done: [JSONMember] = []
    private var timing: JSONObject?
    /// Whether something was computed for it.
    private var isOwn = false
    /// The step in flight; -1 before the first.
    private var place = -1
    /// Number of tries without an accepted result.
    private var vain = 0
    /// The text that decides whether it goes on, while it is held.
    private(set) var text = ""
    /// Digest of what the step in flight asks.
    private var digest: UInt64?
    /// The line in the first step, which all its rows share if they ask the same in it.
    private var first: PreparedLine?
    /// An earlier run's part of a step.
    private var saved: InFlightRecord?

    init(
        plan: StepPlan, record: PromptRecord, maker: RequestMaker, label: RequestLabel, first: PreparedLine?,
        saved: InFlightRecord?
    ) {
        (self.plan, line, self.maker, self.label) = (plan, record, maker, label)
        (self.first, self.saved) = (first, saved)
    }

    var step: StepPlan.Step { plan.steps[place] }

    /// Each try of each step has its own random stream.
    private var stepLabel: RequestLabel {
        var label = label
        label.step = vain == 0 ? step.name : "\(step.name) \(vain)"
        label.branch = label.sample / step.below
        label.readyAt = .now
        return label
    }

    // MARK: Steps

    /// Takes the outcome of a request of the step in flight.
    private func after(_ outcome: RequestOutcome) -> RequestOutcome {
        switch outcome {
        case .made(let result, let isOwn): after(result, isOwn: isOwn)
        case .failed(let error, let text): .failed(self.error(error), text: text)
        case .more(let works, let isAgain): .more(works.map(wrapped), isAgain: isAgain)
        case .held: outcome
        }
    }

    private func after(_ result: GenerationResult, isOwn: Bool) -> RequestOutcome {
        var own = result.own
        own["asked"] = digest.map { .string(JSONBytes.hex($0)) }
        let made = JSONMember(name: step.name, value: .object(own))
        let times = result.timing ?? ResultTime.none
        return outcome { row in
            row.isOwn = row.isOwn || isOwn
            row.timing = row.timing.map { ResultTime.times($0, then: times) } ?? times
            row.line.fields[row.step.name] = Self.value(of: made.value)
            let isAccepted = try row.holds(step.accept)
            if !isAccepted, row.vain + 1 < step.tries {
                row.vain += 1
                return try row.ask()
            }
            return try row.goOn(with: made, isAccepted)
        }
    }

    /// - Parameter original: the id of the row that it resembles; nil if it passes.
    func compared(with original: String?) -> RequestOutcome {
        outcome { row in
            if let original { return row.end(dropped: step.name, original: original) }
            return try row.goOn()
        }
    }

    /// Decides as an earlier result does.
    func decided(as known: GenerationResult) -> RequestOutcome {
        compared(with: known.dropped == step.name ? known.original : nil)
    }

    private func outcome(_ next: (inout StepRow) throws -> RequestOutcome) -> RequestOutcome {
        var row = self
        do { return try next(&row) } catch { return .failed(row.error(error)) }
    }

    /// Continues with the result of the step in flight, of several tries the last.
    private mutating func goOn(with made: JSONMember, _ isAccepted: Bool) throws -> RequestOutcome {
        done.append(made)
        guard isAccepted else { return end(dropped: step.name) }
        guard let compared = step.compared else { return try goOn() }
        text = try compared.text.fill(from: line.fields)
        return .held(self)
    }

    private mutating func goOn() throws -> RequestOutcome {
        vain = 0
        while place + 1 < plan.steps.count {
            place += 1
            if step.items != nil {
                guard let item = try step.item(of: label.sample, in: line.fields) else {
                    return end(dropped: step.name)
                }
                line.fields[JobStep.item] = item
            }
            guard try holds(step.condition) else {
                line.fields[step.name] = .null
                continue
            }
            if plan.carriedStep == place {
                let prompt = try step.preparer.prompt(for: asked)
                label.kept[GenerationResult.conversation] = try GenerationResult.carried(prompt)
            }
            return try ask()
        }
        return end(dropped: nil)
    }

    private func end(dropped: String?, original: String? = nil) -> RequestOutcome {
        let item = plan.made.contains(JobStep.item) ? line.fields[JobStep.item] : nil
        var row = GenerationResult.row(done, dropped: dropped, original: original, item: item)
        row.timing = timing ?? ResultTime.none
        // What nothing was computed for is no copy of an equal row's.
        return .made(row, isOwn: isOwn || timing == nil)
    }

    private func holds(_ condition: TextTemplate?) throws(LineError) -> Bool {
        guard let condition else { return true }
        return try !condition.fill(from: line.fields).isEmpty
    }

    /// Asks what the step in flight asks, or takes the result that an earlier run has of the same.
    private mutating func ask() throws -> RequestOutcome {
        let prepared = try first ?? step.preparer.prepare(asked) { maker }
        first = nil
        var works = prepared.work(stepLabel, nil)
        if vain == 0 {
            digest = step.digest(of: works, line, redo: label.redo)
            if let digest, let known = label.earlier[digest] {
                (timing, isOwn) = (timing ?? ResultTime.none, true)
                line.fields[step.name] = Self.value(of: known)
                return try goOn(with: JSONMember(name: step.name, value: known), holds(step.accept))
            }
        }
        if let saved, saved.asked == digest {
            works = prepared.work(stepLabel, saved)
            self.saved = nil
        }
        return .more(works.map(wrapped))
    }

    /// The prompt record of the step in flight.
    private var asked: PromptRecord { place > 0 ? line.inLaterStep : line }

    /// Returns a result for templates: its members, and those of an answer that is a JSON object.
    static func value(of made: JSONValue) -> JSONValue {
        let result = GenerationResult(step: made)
        var members = result.own
        members["asked"] = nil
        for member in result.object ?? [:] where member.name != "text" { members[member.name] = member.value }
        return .object(members)
    }

    // MARK: Work of steps

    /// Returns the work as a step's, whose outcome the row takes.
    private func wrapped(_ work: PendingRequest) -> PendingRequest {
        guard case .request(var owned) = work else { return work }
        let (label, sharesPrompt) = (owned.label, owned.sharesPrompt)
        (owned.isCertain, owned.separatesReasoning) = (false, false)
        owned.outcome = { [outcome = owned.outcome] in after(outcome($0)) }
        owned.failed = { [failed = owned.failed] in after(failed($0, $1)) }
        owned.rowRecord = { saved in
            guard !sharesPrompt else { return nil }
            var record = self.record
            // A later try starts again.
            if vain == 0 { (record.saved, record.attempt) = (saved, label.attempt) }
            return record.row == nil && record.saved.tokens.isEmpty && record.attempt == 0 ? nil : record
        }
        return .request(owned)
    }

    private func error(_ error: any Error) -> LineError {
        let error = error as? LineError ?? LineError(.badPrompt, "\(error)")
        return error.inStep(step.name)
    }

    // MARK: Rows in flight

    /// Its record between steps.
    var record: InFlightRecord {
        InFlightRecord(key: label.key, row: done.isEmpty ? nil : GenerationResult.saved(done), asked: digest)
    }

    /// Returns the work that it begins with.
    func begun() -> [PendingRequest] {
        var row = self
        do {
            let outcome = try row.goOn()
            if case .more(let works, _) = outcome { return works }
            return [.outcome(row.label, outcome)]
        } catch {
            return [.outcome(label, .failed(row.error(error)))]
        }
    }
}

extension GenerationResult {
    /// Makes the result of a row, with those of its steps as if each were a job of its own. Skipped steps are missing.
    ///
    ///     "steps":["question","answer",…],"question":{…},"answer":{…},…[,"item":…][,"dropped":"judge"[,"duplicate_of":"a7"]],"usage":{…}
    ///
    /// In the log, `asked` in a step's result is the digest of what it asked (`StepPlan.Step.digest`).
    /// - Parameters:
    ///   - steps: their results, each under its step's name.
    ///   - dropped: the step that rejected the row or had no item for it, or `until`.
    ///   - original: id of the row that it duplicates, if it was dropped for that.
    ///   - item: the row's, if a step makes rows of a list.
    static func row(
        _ steps: [JSONMember], dropped: String? = nil, original: String? = nil, item: JSONValue? = nil
    ) -> Self {
        var own = members(of: steps)
        own[JobStep.item] = item
        own["dropped"] = dropped.map { .string($0) }
        own["duplicate_of"] = original.map { .string($0) }
        let made = steps.map { GenerationResult(step: $0.value) }
        own["usage"] = usage(
            made.reduce(0) { $0 + $1.promptTokens }, made.reduce(0) { $0 + $1.completionTokens })
        return Self(own)
    }

    private static func members(of steps: [JSONMember]) -> JSONObject {
        JSONObject([JSONMember(name: "steps", value: .array(steps.map { .string($0.name) }))] + steps)
    }

    /// Returns the form in which a running row is saved.
    static func saved(_ steps: [JSONMember]) -> String { JSONWriter.text(of: .object(members(of: steps))) }

    /// Reads what `saved` returned; of any other text there are no steps.
    static func steps(saved text: String) -> [JSONMember] {
        let row = try? JSONValue(parsing: Array(text.utf8), limits: .ownLine)
        let steps = row.flatMap { GenerationResult(step: $0).steps } ?? []
        return steps.allSatisfy { GenerationResult(step: $0.value).isComplete } ? steps : []
    }
}
