import BatchEngine
import Errors
import PhiText

extension StepPlan.Step {
    /// Its templates and conditions under their keys.
    var templates: [(key: String, template: TextTemplate)] {
        [("each", items), ("where", condition), ("accept", accept), ("distinct", compared?.text)]
            .compactMap { key, template in template.map { (key, $0) } }
            + preparer.templates
    }

    /// Names in templates and conditions: fields of the line, and steps.
    var used: Set<String> { templates.reduce(into: preparer.fields) { $0.formUnion($1.template.variables) } }

    /// All names that its result, and the decision about it, can depend on.
    var names: Set<String> { Set(templates.flatMap(\.template.names) + preparer.taskNames) }
}

/// Checks names in templates and conditions of steps.
extension StepPlan {
    /// An error about a name of a later step, or a member that no result of its step has; nil if there is none.
    var problem: String? {
        for (number, step) in steps.enumerated() {
            if let later = steps[(number + 1)...].first(where: { step.used.contains($0.name) }) {
                return "steps: \(step.name): it uses \(later.name), which is a step that comes later."
            }
        }
        return memberFaults.first { $0.isCertain }?.text
    }

    /// Warnings about unlikely members.
    var memberWarnings: [String] { memberFaults.filter { !$0.isCertain }.map(\.text) }

    private var memberFaults: [(text: String, isCertain: Bool)] {
        let known = Dictionary(steps.map { ($0.name, $0.members) }) { first, _ in first }
        var faults: [(text: String, isCertain: Bool)] = []
        for part in parts {
            for path in part.template.members.sorted(by: { $0.lexicographicallyPrecedes($1) })
            where part.steps.contains(path[0]) {
                guard let fault = known[path[0]]?.fault(in: path) else { continue }
                let named = "steps: \(part.name): \(part.key) names \(path.joined(separator: "."))"
                faults.append(("\(named), but \(fault.text)", fault.isCertain))
            }
        }
        return faults
    }

    /// Returns warnings about unknown names.
    /// - Parameter fields: the lines' fields.
    func nameWarnings(_ fields: Set<String>) -> [String] {
        var warnings: [String] = []
        for part in parts {
            let known = fields.union(part.steps)
            for name in part.template.variables.subtracting(known).sorted() {
                // The line's own; a line without it is an error by itself.
                if part.name == steps[0].name, part.key == "prompt", name == "prompt" { continue }
                warnings.append(
                    "steps: \(part.name): \(part.key) names \(name), which is neither a field of any line nor a "
                        + "step before it." + NearMiss.hint(for: name, among: known.sorted()))
            }
        }
        return warnings
    }

    /// The templates and conditions of the steps, and the steps that each sees.
    private var parts: [(name: String, key: String, template: TextTemplate, steps: Set<String>)] {
        var parts: [(name: String, key: String, template: TextTemplate, steps: Set<String>)] = []
        var before: Set<String> = []
        for step in steps {
            if step.items != nil { before.insert(JobStep.item) }
            for (key, template) in step.templates {
                // A later try sees the result of the one before.
                let seesOwn = ["accept", "distinct"].contains(key) || step.tries > 1 && key != "where"
                parts.append((step.name, key, template, seesOwn ? before.union([step.name]) : before))
            }
            before.insert(step.name)
        }
        return parts
    }
}
