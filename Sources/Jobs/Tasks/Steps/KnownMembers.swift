import BatchEngine
import Errors
import JSON

/// The members that a step's future result may have.
struct KnownMembers: Sendable {
    /// Likelihood of members besides those named.
    enum Others: Sendable { case impossible, unlikely, likely }

    var named: [(name: String, members: KnownMembers)] = []
    var others = Others.likely
    var isList = false

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
}

extension KnownMembers {
    /// The members of a value that a JSON Schema accepts.
    init(schema: JSONValue) {
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
}

extension KnownMembers {
    /// The members of a result of a step.
    /// - Parameter job: the job of the step alone.
    init(of job: JobSettings) {
        let absent: Set = job.choosesAlways ? [] : ["probabilities"]
        named = job.task.resultNames.union(["usage", "tokens", "provenance"]).subtracting(absent)
            .sorted()
            .map { ($0, KnownMembers()) }
        var own: [(name: String, members: KnownMembers)] = []
        if job.task == .score {
            others = .impossible
        } else if let choices = job.choices, !choices.isEmpty {
            guard ChoiceList.field(in: choices) == nil else {
                others = .unlikely
                return
            }
            let texts = choices.map { (name: $0, members: KnownMembers()) }
            own = [("probabilities", KnownMembers(named: texts, others: .impossible))]
            let isObject = choices.contains { $0.utf8.first == UInt8(ascii: "{") }
            others = isObject ? .likely : .impossible
        } else if let form = job.answerFormat, form.isConstraint {
            guard let schema = (form.tools?.answer ?? form).schema else { return }
            let answer = KnownMembers(schema: schema)
            own = answer.named.filter { $0.name != "text" }
            others = answer.others
        } else {
            others = .unlikely
        }
        named = named.filter { known in !own.contains { $0.name == known.name } } + own
    }

    /// The value's placeholder; members are their names, as in `<question.text>`.
    /// - Parameters:
    /// - name: the names that lead to the value.
    /// - read: members that templates name, including those of other values.
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
