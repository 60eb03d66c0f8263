import BatchEngine
import Errors
import JSON
import PhiText

/// Checks names in templates and conditions of steps, and shows prompts, before the first run.
extension StepPlan {
    /// An error about a name; nil if there is none.
    var problem: String? { nameFaults().first { $0.isCertain }?.text }

    /// Returns faults of the names that templates and conditions use. Certain ones are errors: names of later steps,
    /// and of members that no result of their step has.
    /// - Parameter fields: the lines' fields; none if they aren't known.
    package func nameFaults(_ fields: Set<String> = []) -> [(text: String, isCertain: Bool)] {
        var faults: [(text: String, isCertain: Bool)] = []
        var before: Set<String> = []
        for (number, step) in steps.enumerated() {
            let used = step.used
            if let later = steps[(number + 1)...].first(where: { used.contains($0.name) }) {
                faults.append(
                    ("steps: \(step.name): it uses \(later.name), which is a step that comes later.", true))
            }
            if step.items != nil { before.insert(JobStep.item) }
            for (key, template) in step.templates {
                let place = "steps: \(step.name): \(key) names"
                // A later try sees the result of the one before.
                let seesOwn = ["accept", "distinct"].contains(key) || step.tries > 1 && key != "where"
                let seen = seesOwn ? before.union([step.name]) : before
                for path in template.members.sorted(by: { $0.lexicographicallyPrecedes($1) })
                where seen.contains(path[0]) {
                    let earlier = steps.first { $0.name == path[0] }
                    guard let fault = earlier?.members.fault(in: path) else { continue }
                    let text = "\(place) \(path.joined(separator: ".")), but \(fault.text)"
                    faults.append((text, fault.isCertain))
                }
                let known = fields.union(seen)
                for name in template.variables.subtracting(known).sorted() where !fields.isEmpty {
                    // The line's own; a line without it is an error by itself.
                    if number == 0, key == "prompt", name == "prompt" { continue }
                    let text = "\(place) \(name), which is neither a field of any line nor a step before it."
                    faults.append((text + NearMiss.hint(for: name, among: known.sorted()), false))
                }
            }
            before.insert(step.name)
        }
        return faults
    }

    /// Returns the prompts of the steps after the first, with `<question.text>` and the like for earlier results; or
    /// the reason if a prompt depends on them.
    package func laterPrompts(
        of line: PromptRecord, by maker: RequestMaker
    ) -> [(step: String, prompt: Result<[Int32], LineError>)] {
        let read = steps.flatMap { $0.templates.flatMap(\.template.members) }
            .sorted { $0.lexicographicallyPrecedes($1) }
        var asked = line.inLaterStep
        return zip(steps, steps.dropFirst()).map { earlier, step in
            asked.fields[earlier.name] = earlier.members.placeholder([earlier.name], read: read)
            if step.items != nil { asked.fields[JobStep.item] = .string("<\(JobStep.item)>") }
            let prompt = Result { try step.preparer.prepare(asked) { maker }.prompt }
            return (step.name, prompt.mapError { $0 as? LineError ?? LineError(.badPrompt, "\($0)") })
        }
    }
}

/// The members that a step's future result may have.
struct KnownMembers: Sendable {
    /// Likelihood of members besides those named.
    enum Others: Sendable { case impossible, unlikely, likely }

    private var named: [(name: String, members: KnownMembers)] = []
    private var others = Others.likely
    private var isList = false

    private init(_ names: [String] = [], others: Others = .likely) {
        (named, self.others) = (names.map { ($0, KnownMembers()) }, others)
    }

    /// The members of a value that a JSON Schema accepts.
    private init(schema: JSONValue) {
        guard case .object(let keywords) = schema, keywords["$ref"] == nil else { return }
        isList = keywords["type"] == "array"
        let types: [JSONValue]? =
            if case .array(let types)? = keywords["type"] { types } else { keywords["type"].map { [$0] } }
        if let types, !types.contains("object") {
            others = .impossible
            return
        }
        guard case .object(let properties)? = keywords["properties"] else { return }
        named = properties.map { ($0.name, KnownMembers(schema: $0.value)) }
        if keywords["additionalProperties"] == false, keywords["patternProperties"] == nil {
            others = .impossible
        } else if !Self.openKeywords.contains(where: { keywords[$0] != nil }) {
            others = .unlikely
        }
    }

    /// Keywords that may allow members beyond `properties`.
    private static let openKeywords = [
        "additionalProperties", "patternProperties", "unevaluatedProperties", "propertyNames", "allOf",
        "anyOf", "oneOf", "if", "dependentSchemas", "dependencies",
    ]

    /// The members of a result of a step.
    /// - Parameter job: the job of the step alone.
    init(of job: JobSettings) {
        // Those of an answer that is a JSON object.
        var answer = KnownMembers(others: job.task == .score ? .impossible : .unlikely)
        if let choices = job.choices, !choices.isEmpty {
            if ChoiceList.field(in: choices) == nil {
                let isObject = choices.contains { $0.utf8.first == UInt8(ascii: "{") }
                answer.others = isObject ? .likely : .impossible
                answer.named = [("probabilities", KnownMembers(choices, others: .impossible))]
            }
        } else if let form = job.answerFormat, form.isConstraint {
            let schema = (form.tools?.answer ?? form).schema
            answer = schema.map { KnownMembers(schema: $0) } ?? KnownMembers()
        }
        let own = answer.named.filter { $0.name != "text" }
        let names = job.task.resultNames.union(["usage", "tokens", "provenance"])
            .subtracting(job.choosesAlways ? [] : ["probabilities"]).subtracting(own.map(\.name))
        named = KnownMembers(names.sorted()).named + own
        others = answer.others
    }

    /// Returns a sentence about a member that probably or certainly doesn't exist, with a likely correction.
    /// - Parameter path: names down to a member, from one of the value itself.
    func fault(in path: [String]) -> (text: String, isCertain: Bool)? {
        var members = self
        for (place, name) in path.enumerated().dropFirst() {
            if let next = members.named.first(where: { $0.name == name }) {
                members = next.members
                continue
            }
            guard members.others != .likely, !members.named.isEmpty else { return nil }
            let names = members.named.map(\.name)
            let near = NearMiss.hint(for: name, among: names)
            let all = names.prefix(12).joined(separator: ", ") + (names.count > 12 ? " and others" : "")
            let isCertain = members.others == .impossible
            return (
                "\(path[..<place].joined(separator: ".")) \(isCertain ? "has" : "probably has") no member \(name)."
                    + (near.isEmpty ? " It has \(all)." : near), isCertain
            )
        }
        return nil
    }

    /// The value's placeholder; members are their names, as in `<question.text>`.
    /// - Parameters:
    ///   - name: the names that lead to the value.
    ///   - read: members that templates name, including those of other values.
    func placeholder(_ name: [String], read: [[String]]) -> JSONValue {
        var members = named
        for path in read where path.count > name.count && path.starts(with: name) {
            let own = path[name.count]
            if !members.contains(where: { $0.name == own }) { members.append((own, KnownMembers())) }
        }
        guard !members.isEmpty else {
            let text = JSONValue.string("<\(name.joined(separator: "."))>")
            return isList ? .array([text]) : text
        }
        return .object(
            JSONObject(members.map { ($0.name, $0.members.placeholder(name + [$0.name], read: read)) }))
    }
}
