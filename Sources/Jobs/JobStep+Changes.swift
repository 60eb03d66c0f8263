import JSON

/// Steps as a fingerprint has them: the texts of `JobStep.text`.
extension JobStep {
    /// Returns the conditions and settings of each step by its name, as text; nil if the text is invalid.
    static func told(_ text: String) -> JSONObject? {
        func texts(_ text: String) -> [String]? {
            (try? JSONValue(parsing: Array(text.utf8), limits: .file))?.texts
        }
        guard let steps = texts(text)?.map(texts) else { return nil }
        var told: JSONObject = [:]
        for parts in steps {
            guard let parts, parts.count >= 4 else { return nil }
            var members: JSONObject = [
                "where": .string(parts[1]), "accept": .string(parts[2]), "tries": .string(parts[3]),
            ]
            var rest = parts[4...]
            while let name = rest.first {
                let width = name == Distinctness.mark ? 3 : 2
                guard rest.count >= width else { return nil }
                let values = rest.dropFirst().prefix(width - 1).filter { !$0.isEmpty }
                members[name] = .string(values.joined(separator: " near "))
                rest = rest.dropFirst(width)
            }
            told[parts[0]] = .object(members)
        }
        return told
    }

    /// Returns the differences between the steps of two jobs, one line for each member; nil if they can't be compared.
    static func changes(from old: String, to new: String) -> [String]? {
        guard let old = told(old), let new = told(new) else { return nil }
        var lines: [String] = []
        for step in new {
            guard case .object(let now) = step.value, case .object(let was)? = old[step.name] else {
                lines.append("steps: \(step.name) is new")
                continue
            }
            for name in now.names + was.names.filter({ now[$0] == nil }) {
                let values = [was, now].map { $0[name]?.plainText ?? "" }
                if values[0].utf8.elementsEqual(values[1].utf8) { continue }
                let shown = values.map { $0.isEmpty ? "(not set)" : $0 }
                lines.append("steps: \(step.name): \(name): \(shown[0]) -> \(shown[1])")
            }
        }
        lines += old.names.filter { new[$0] == nil }.map { "steps: \($0) is gone" }
        if old.names.filter({ new[$0] != nil }) != new.names.filter({ old[$0] != nil }) {
            lines.append("steps: in another order")
        }
        return lines.isEmpty ? nil : lines
    }
}
