import BatchEngine
import JSON

/// Results of a row's steps, each under its name, as if it were a job of its own. Skipped steps are missing.
///
///     "steps":["question","answer",…],"question":{…},"answer":{…},…[,"item":…][,"dropped":"judge"[,"duplicate_of":"a7"]],"usage":{…}
package struct StepsResult: TaskResult {
    package struct Step: Sendable {
        package var name: String
        package var result: any TaskResult
        /// Digest of what the step asked, `StepPlan.Step.digest`; nil if unknown. Only the log has it.
        var digest: UInt64?

        package init(_ name: String, _ result: any TaskResult, digest: UInt64? = nil) {
            (self.name, self.result, self.digest) = (name, result, digest)
        }
    }

    package var steps: [Step]
    /// The step that rejected the row or had no item for it, or `until`; nil if the row went through all steps.
    package var dropped: String?
    /// Id of the row that it duplicates, if it was dropped for that.
    package var original: String?

    /// The row's item in JSON, if a step makes rows of a list.
    package var item: String?

    package init(
        _ steps: [Step], dropped: String? = nil, original: String? = nil, item: String? = nil
    ) {
        (self.steps, self.dropped, self.original, self.item) = (steps, dropped, original, item)
    }

    package init?(_ log: JSONValue) {
        guard let names = log["steps"]?.texts else { return nil }
        var steps: [Step] = []
        for name in names {
            guard let step = log[name], let result = JobTask.result(of: step) else { return nil }
            steps.append(Step(name, result, digest: step.hex("asked")))
        }
        self.init(
            steps, dropped: log.string("dropped"), original: log.string("duplicate_of"),
            item: log[JobStep.item].map { JSONWriter.text(of: $0) })
    }

    /// Nil if the text is none of `savedText`.
    init?(saved text: String) {
        guard let log = try? JSONValue(parsing: Array(text.utf8), limits: .ownLine) else { return nil }
        self.init(log)
    }

    package static let names: Set = ["steps", "dropped", "duplicate_of"]

    package static func columns(of job: JobSettings) -> [String]? {
        var columns: [String] = []
        for (step, own) in zip(job.steps, job.parts) {
            guard let names = own.task.columns(of: own) else { return nil }
            columns += names.map { "\(step.name).\($0)" }
        }
        let items = job.steps.contains { $0.each != nil } ? [JobStep.item] : []
        return columns + items + ["dropped", "duplicate_of"]
    }

    package var promptTokens: Int { steps.reduce(0) { $0 + $1.result.promptTokens } }
    package var completionTokens: Int { steps.reduce(0) { $0 + $1.result.completionTokens } }
    /// Whether nothing was made, as enough rows of its line are accepted.
    var isNotNeeded: Bool { dropped == JobStep.until }
    package var outcome: RowOutcome {
        guard let dropped else { return .accepted }
        if isNotNeeded { return .dropped(by: dropped, .notNeeded) }
        // A step that rejected its own result is among them.
        let isMade = steps.contains { $0.name == dropped }
        return .dropped(by: dropped, original != nil ? .duplicate : isMade ? .notAccepted : .noItem)
    }

    package func write(_ members: ResultMembers, to writer: inout JSONWriter) {
        if members == .data { writeData(to: &writer) } else { writeSteps(members, to: &writer) }
        if let item { writer.raw(JobStep.item, item) }
        if let dropped { writer.string("dropped", dropped) }
        if let original { writer.string("duplicate_of", original) }
        if members != .data { writeUsage(to: &writer) }
    }

    /// Form in which a running row is saved.
    var savedText: String {
        JSONWriter.object { writeSteps(.log, to: &$0) }.text
    }

    private func writeSteps(_ members: ResultMembers, to writer: inout JSONWriter) {
        writer.array("steps", steps) { $0.string($1.name) }
        for step in steps {
            writer.object(step.name) { writer in
                step.result.write(members, to: &writer)
                if members == .log, let digest = step.digest { writer.hex("asked", digest) }
            }
        }
    }

    /// Writes each step under its name, without a list of steps.
    private func writeData(to writer: inout JSONWriter) {
        for step in steps {
            writer.key(step.name)
            if let answer = step.result.completion, answer.probabilities == nil {
                writer.value(answer.object.map { .object($0) } ?? .string(answer.text))
            } else {
                writer.object { step.result.write(.data, to: &$0) }
            }
        }
    }

    /// A step's column is called `NAME.` followed by its own name.
    package func cell(_ column: String) -> String? {
        switch column {
        case JobStep.item: return item.map { DelimitedOutput.text(ofJSON: $0) }
        case "dropped": return dropped
        case "duplicate_of": return original
        default:
            let parts = column.split(at: ".", max: 1)
            guard parts.count == 2 else { return countCell(column) }
            return steps.first { $0.name == parts[0] }?.result.cell(String(parts[1]))
        }
    }

    package func describe(in report: inout ReportedResult) {
        report.status =
            original == nil ? outcome.description : "dropped by \(dropped ?? ""), a duplicate"
        var texts: [String] = []
        for step in steps {
            let own = ReportedResult(GenerationResult(step.result), report.key)
            texts.append("\(step.name): \(own.text ?? "")")
            report.fields += own.fields.map { .init([step.name] + $0.path, $0.value) }
            if step.result.completion != nil {
                report.fields.append(.init([step.name, "finish_reason"], .string(own.status)))
            }
        }
        report.text = texts.joined(separator: "\n\n")
    }
}
