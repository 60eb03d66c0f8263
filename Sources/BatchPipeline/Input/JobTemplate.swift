/// A template of the job (`system`, `prompt`), filled from a line's fields.
///
/// Knows `{{ field }}` and `{{ field.inner }}`. A field that is missing is an error: nothing is left out
/// in silence.
struct JobTemplate: Sendable {
    private enum Piece: Sendable {
        case text(String)
        case field([String])
    }

    private var pieces: [Piece] = []
    /// The names of the fields it uses.
    private(set) var names: Set<String> = []

    /// - Throws: `SettingProblem` if the template is malformed.
    init(_ source: String) throws(SettingProblem) {
        var rest = source[...]
        while let open = rest.firstRange(of: "{{") {
            if open.lowerBound > rest.startIndex { pieces.append(.text(String(rest[..<open.lowerBound]))) }
            guard let close = rest[open.upperBound...].firstRange(of: "}}") else {
                throw SettingProblem("has {{ without }}")
            }
            let path = rest[open.upperBound..<close.lowerBound].filter { $0 != " " }.split(
                separator: ".", omittingEmptySubsequences: false
            ).map(String.init)
            guard path.allSatisfy({ isName($0) }) else {
                throw SettingProblem("has {{ }} around something that is no field's name")
            }
            names.insert(path[0])
            pieces.append(.field(path))
            rest = rest[close.upperBound...]
        }
        if source.contains("{%") { throw SettingProblem("uses {% %}, which is not supported here") }
        if !rest.isEmpty { pieces.append(.text(String(rest))) }
    }

    /// - Throws: `LineError` with code `template_error`, or `missing_prompt` if it is `prompt` that is missing.
    func render(_ fields: JSONValue) throws(LineError) -> String {
        var result = ""
        for piece in pieces {
            switch piece {
            case .text(let text): result += text
            case .field(let path):
                guard let text = text(of: lookup(path, in: fields)) else {
                    let name = path.joined(separator: ".")
                    throw name == "prompt"
                        ? LineError(
                            .missingPrompt,
                            "The line has no `prompt` (a string or token ids) and no `messages`.")
                        : LineError(
                            .templateError,
                            "The job's template uses the field `\(name)`, which the line lacks.")
                }
                result += text
            }
        }
        return result
    }

    private func lookup(_ path: [String], in fields: JSONValue) -> JSONValue? {
        var value = fields
        for name in path {
            guard case .object(let members) = value,
                let member = members.first(where: { $0.key.utf8.elementsEqual(name.utf8) })
            else { return nil }
            value = member.value
        }
        return value
    }

    private func text(of value: JSONValue?) -> String? {
        switch value {
        case .string(let text)?: return text
        case .int(let number)?: return "\(number)"
        case .double(let number)?: return "\(number)"
        case .bool(let flag)?: return flag ? "true" : "false"
        default: return nil
        }
    }
}

private func isName(_ text: String) -> Bool {
    !text.isEmpty && text.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
}
