import JSON

/// Checks a job's steps, and shows their prompts, before the first run.
package struct StepsPreview {
    private let plan: StepPlan
    /// The lines' fields.
    private var fields: Set<String> = []

    /// - Returns: nil if the job has no steps.
    /// - Throws: `UserError` if a template or a condition is malformed.
    package init?(_ job: JobSettings) throws {
        guard job.task == .steps else { return nil }
        plan = try StepPlan(job)
    }

    package mutating func note(_ line: PromptRecord) {
        guard case .object(let members) = line.fields else { return }
        for member in members { fields.insert(member.name) }
    }

    /// Warnings about names in templates and conditions, as far as lines were noted.
    package var warnings: [String] {
        plan.memberWarnings + (fields.isEmpty ? [] : plan.nameWarnings(fields))
    }

    /// Returns the prompts of the steps after the first, with `<question.text>` and the like for earlier results; or
    /// the reason if a prompt depends on them.
    package func laterPrompts(
        of line: PromptRecord, by maker: RequestMaker
    ) -> [(step: String, prompt: Result<[Int32], LineError>)] {
        guard case .object(var members) = line.fields else { return [] }
        let read = plan.steps.flatMap { $0.templates.flatMap(\.template.members) }
            .sorted { $0.lexicographicallyPrecedes($1) }
        return zip(plan.steps, plan.steps.dropFirst()).map { earlier, step in
            members[earlier.name] = earlier.members.placeholder([earlier.name], read: read)
            if step.items != nil { members[JobStep.item] = .string("<\(JobStep.item)>") }
            var asked = line
            (asked.fields, asked.content) = (.object(members), .fields)
            let prompt = Result { try step.preparer.prepare(asked) { maker }.prompt }
            return (step.name, prompt.mapError { $0 as? LineError ?? LineError(.badPrompt, "\($0)") })
        }
    }
}
