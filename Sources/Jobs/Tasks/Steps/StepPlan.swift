import BatchEngine
import JSON
import PhiText

/// The steps of a job, each run by its own task: takes a row through them in order.
package final class StepPlan: LineTask {
    static let resultNames: Set = ["steps", "dropped", "duplicate_of"]

    static func columns(of job: JobSettings) -> [String]? {
        var columns: [String] = []
        for (step, own) in zip(job.steps, job.parts) {
            guard let names = own.task.columns(of: own) else { return nil }
            columns += names.map { "\(step.name).\($0)" }
        }
        let items = job.steps.contains { $0.each != nil } ? [JobStep.item] : []
        return columns + items + ["dropped", "duplicate_of"]
    }

    struct Step: Sendable {
        let name: String
        /// The members of its result.
        let members: KnownMembers
        let preparer: LinePreparer
        let condition: TextTemplate?
        let accept: TextTemplate?
        /// The text to compare with earlier rows', and the step's index among those that compare.
        let compared: (text: TextTemplate, gate: Int)?
        let tries: Int
        /// Settings that its result depends on, as text; those of its prompt show in what it asks.
        let settings: String
        /// Number of rows made of one. The steps before are theirs in common: equal requests with the same random
        /// streams, computed once.
        let samples: Int
        /// Number of rows made of each of these by later steps.
        let below: Int
        /// Makes a list with an item for each row; nil if rows differ only in their random streams.
        let items: TextTemplate?

        /// Whether a line's rows may ask different things in it, or nothing, before any result.
        var differs: Bool { items != nil || condition != nil }

        /// Its templates and conditions under their keys.
        var templates: [(key: String, template: TextTemplate)] {
            [("each", items), ("where", condition), ("accept", accept), ("distinct", compared?.text)]
                .compactMap { key, template in template.map { (key, $0) } }
                + preparer.templates
        }

        /// Names in templates and conditions: fields of the line, and steps.
        var used: Set<String> {
            templates.reduce(into: preparer.fields) { $0.formUnion($1.template.variables) }
        }

        /// Returns the item of one of the line's rows; nil if the list is shorter, or there is none.
        /// - Throws: `LineError` if it is no list.
        func item(of row: Int, in fields: JSONValue) throws(LineError) -> JSONValue? {
            guard let text = try items?.fill(from: fields) else { return nil }
            guard case .array(let list)? = try? JSONValue(parsing: Array(text.utf8), limits: .line) else {
                throw LineError(.templateError, "each must be a list, but is \(text.prefix(64)).")
            }
            let place = row / below % samples
            return place < list.count ? list[place] : Optional.none
        }

        /// Returns the digest of what the step asks about a row: with the same digest it has the same result, in any row
        /// and job. Nil if that is unknown.
        /// - Parameters:
        ///   - works: the requests of its first try.
        ///   - line: the row's, with the results of earlier steps.
        ///   - redo: number of the row's results before that were not wanted. It changes the seed that results tell, also
        ///     where nothing is drawn.
        func digest(of works: [PendingRequest], _ line: PromptRecord, redo: Int) -> UInt64? {
            var digest = Digest("phibatch step 1")
            digest.append(redo)
            for work in works {
                guard let key = work.owned?.request.key else { return nil }
                digest.append(key.hash)
            }
            digest.append(settings)
            digest.append(line.settings.content())
            // What later tries ask, and whether there are any, depends on all that templates name.
            for name in (tries > 1 ? used : Set(preparer.taskNames)).sorted() where name != self.name {
                digest.append(line.fields[name])
            }
            return digest.short
        }

        /// Returns the prompt record of a line's first row in the first step; nil if there is none.
        fileprivate func asked(first record: PromptRecord) throws(LineError) -> PromptRecord? {
            var record = record
            if items != nil {
                guard let item = try item(of: 0, in: record.fields) else { return nil }
                record.fields[JobStep.item] = item
            }
            return try condition?.fill(from: record.fields).isEmpty == true ? nil : record
        }
    }

    let steps: [Step]
    /// Names in templates and conditions: fields of the line, and steps.
    private let used: Set<String>
    /// The step whose prompt results carry: the last that generates text. Nil if they carry none.
    let carriedStep: Int?
    /// Names that templates see besides the line's fields.
    let made: Set<String>

    /// - Throws: `UserError` if a template or a condition is malformed.
    package init(_ job: JobSettings) throws {
        var gates = 0
        steps = try job.steps.enumerated().map { number, step in
            let own = step.job(in: job)
            func template(_ key: String, _ text: String?) throws -> TextTemplate? {
                try text.map { try TextTemplate("\(key) (\(step.name))", $0) }
            }
            func condition(_ key: String, _ text: String?) throws -> TextTemplate? {
                try template(key, text.map { "{% if \($0) %}1{% endif %}" })
            }
            let compared = try template("distinct", step.distinct.map { "{{ \($0.text) }}" })
            if compared != nil { gates += 1 }
            return Step(
                name: step.name, members: KnownMembers(of: own), preparer: try LinePreparer(own),
                condition: try condition("where", step.condition),
                accept: try condition("accept", step.accept), compared: compared.map { ($0, gates - 1) },
                tries: step.tries, settings: step.textBesidePrompt(own), samples: step.samples,
                below: JobStep.rows(of: job.steps[(number + 1)...]),
                items: try template("each", step.each.map { "{{ \($0) | tojson }}" }))
        }
        used = steps.reduce(into: []) { $0.formUnion($1.used) }
        made = Set(steps.map(\.name)).union(steps.contains { $0.items != nil } ? [JobStep.item] : [])
        let last = job.parts.lastIndex { $0.task == .generate && $0.choices == nil }
        carriedStep = job.results == .messages ? last : nil
    }

    convenience init(_ job: JobSettings, _ builder: PromptBuilder) throws { try self.init(job) }

    var sources: TaskSources {
        ([], used.subtracting(made).sorted() + steps.flatMap(\.preparer.taskNames))
    }

    func prepare(_ record: PromptRecord, by maker: () throws -> RequestMaker) throws -> PreparedLine {
        if record.request != nil {
            throw LineError(.badField, "One of OpenAI's requests asks for one answer, but the job has steps.")
        }
        if record.form != nil {
            throw LineError(
                .badField,
                "A constraint belongs to a step, as the job has steps; leave it out.")
        }
        let line = record.fields
        let choices = GenerateTask.ownChoices
        if record.reading.reads(choices), line.given(choices) != nil, !used.contains(choices) {
            throw LineError(.badField, "`choices` belong to a step, as the job has steps; leave them out.")
        }
        if let name = made.sorted().first(where: { line.given($0) != nil }) {
            let what = name == JobStep.item ? "an item of a list" : "a step of the job"
            throw LineError(.badField, "The line has a field `\(name)`, but so is \(what) named.")
        }
        let step = steps[0]
        let first: PreparedLine?
        do {
            first = try step.asked(first: record).map { try step.preparer.prepare($0, by: maker) }
        } catch let error as LineError {
            throw error.inStep(step.name)
        }
        let maker = try maker()
        return PreparedLine(
            prompt: first?.prompt ?? [], lengths: first?.lengths ?? [], isCovered: first?.isCovered ?? false,
            answer: first?.answer
        ) { label, saved in
            var label = label
            label.knows(saved?.row.map { GenerationResult.steps(saved: $0) } ?? [])
            let row = StepRow(
                plan: self, record: record, maker: maker, label: label, first: step.differs ? nil : first,
                saved: saved)
            return row.begun()
        }
    }
}

extension LineError {
    func inStep(_ name: String) -> LineError { LineError(code, "\(name): \(message)") }
}

extension JobStep {
    /// Number of rows made of one by these steps.
    static func rows(of steps: some Sequence<JobStep>) -> Int { steps.reduce(1) { $0 * $1.samples } }
}
