/// A step as described in a fingerprint by `JobStep.text`.
struct ToldStep {
    let name: String
    /// Its conditions and settings, as text.
    private let members: [(name: String, value: String)]

    /// - Returns: nil if the text is invalid.
    init?(_ text: String) {
        guard let parts = ResultText.values(text), parts.count >= 4 else { return nil }
        var members = Array(zip(["where", "accept", "tries"], parts[1...3]))
        var rest = parts[4...]
        while let name = rest.first {
            let width = name == Distinctness.mark ? 3 : 2
            guard rest.count >= width else { return nil }
            let values = rest.dropFirst().prefix(width - 1).filter { !$0.isEmpty }
            members.append((name, values.joined(separator: " near ")))
            rest = rest.dropFirst(width)
        }
        name = parts[0]
        self.members = members.map { (name: $0.0, value: $0.1) }
    }

    private func value(_ name: String) -> String? { members.first { $0.name == name }?.value }

    /// Whether it drops duplicate rows.
    var comparesRows: Bool { value(Distinctness.mark) != nil }

    /// Returns all steps of a job; nil if the text is invalid.
    static func steps(_ text: String) -> [ToldStep]? {
        guard let texts = ResultText.values(text) else { return nil }
        let steps = texts.compactMap { ToldStep($0) }
        return steps.count == texts.count ? steps : nil
    }

    /// Returns the differences between the steps of two jobs, one line for each member; nil if they can't be compared.
    static func changes(from old: String, to new: String) -> [String]? {
        guard let old = steps(old), let new = steps(new) else { return nil }
        var lines: [String] = []
        for step in new {
            guard let before = old.first(where: { $0.name == step.name }) else {
                lines.append("steps: \(step.name) is new")
                continue
            }
            let names = step.members.map(\.name) + before.members.map(\.name)
            var seen: Set<String> = []
            for name in names where seen.insert(name).inserted {
                let (was, now) = (before.value(name) ?? "", step.value(name) ?? "")
                guard !was.utf8.elementsEqual(now.utf8) else { continue }
                func shown(_ value: String) -> String { value.isEmpty ? "(not set)" : value }
                lines.append("steps: \(step.name): \(name): \(shown(was)) -> \(shown(now))")
            }
        }
        for step in old where !new.contains(where: { $0.name == step.name }) {
            lines.append("steps: \(step.name) is gone")
        }
        let common = { (steps: [ToldStep], others: [ToldStep]) in
            steps.map(\.name).filter { name in others.contains { $0.name == name } }
        }
        if common(old, new) != common(new, old) { lines.append("steps: in another order") }
        return lines.isEmpty ? nil : lines
    }
}
