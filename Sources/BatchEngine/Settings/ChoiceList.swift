/// List of choices, from a setting or a field of a line.
package enum ChoiceList {
    /// Each costs at least one row of the model.
    package static let countLimit = 10_000

    /// Returns the field that a setting names in place of a list: `{{ FIELD }}` alone.
    package static func field(in choices: [String]) -> String? {
        guard choices.count == 1 else { return nil }
        return choices[0].wholeMatch(of: /\{\{\s*(\w+)\s*\}\}/).map { String($0.1) }
    }

    /// Returns the problem with a setting, in words that follow its name; nil if there is none.
    package static func settingProblem(_ choices: [String]) -> String? {
        field(in: choices) == nil ? problem(with: choices) : nil
    }

    /// Returns the problem with a list, in words that follow its name; nil if there is none.
    package static func problem(with choices: [String]) -> String? {
        guard choices.count >= 2 else {
            let number = choices.isEmpty ? "an empty list" : "a single one (\(shown(choices[0])))"
            return "must be two answers or more, but is \(number)"
        }
        guard choices.count <= countLimit else {
            return "has \(choices.count) answers; at most \(countLimit) can be compared"
        }
        var seen: Set<[UInt8]> = []
        for choice in choices {
            if choice.isEmpty { return "has an empty text, which is no answer" }
            // By bytes: as strings, composed and decomposed accents would be equal.
            if !seen.insert(Array(choice.utf8)).inserted { return "has \(shown(choice)) more than once" }
            if choice.utf8.contains(0x7b), field(in: [choice]) != nil {
                return "has the field \(shown(choice)) in a list, but a field must be alone"
            }
        }
        return nil
    }

    package static func shown(_ choice: String) -> String {
        choice.count > 60 ? "\"\(choice.prefix(60))…\"" : "\"\(choice)\""
    }
}
