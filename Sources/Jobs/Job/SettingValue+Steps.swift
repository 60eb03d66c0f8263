import Errors

/// Steps of a job file.
extension SettingValue {
    /// - Parameter resolves: whether files that steps name are read.
    func steps(resolves: Bool) throws -> [JobStep] {
        if isOption { throw wrong("a list of steps in a job file") }
        guard case .list(let given) = content, !given.isEmpty else {
            throw fault("must be a list of mappings, each with a name")
        }
        // Checking takes time quadratic in the number of steps.
        guard given.count <= 256 else {
            throw fault("has \(given.count) steps, but at most 256 are possible")
        }
        return try given.map { try JobStep($0, resolves: resolves) }
    }
}

extension JobStep {
    private static func hint(for key: String) -> String {
        if JobKey.named(key) != nil { return "; it belongs to the whole job" }
        let hint = NearMiss.hint(
            for: key,
            among: ["name", "each", "where", "accept", "distinct", "tries"] + keys.map(\.name))
        return hint.isEmpty ? "" : " (d\(hint.dropFirst(2)))"
    }

    fileprivate init(_ step: SettingValue, resolves: Bool) throws {
        guard case .mapping(let members) = step.content else {
            throw step.fault("must be a list of mappings, each with a name")
        }
        guard let name = members.first(where: { $0.key.text == "name" }) else {
            throw SettingProblem("has a step without a name", line: members.first?.key.line ?? step.line)
        }
        self.init(try name.value.string())
        let given = Set(members.compactMap(\.key.text))
        if given.isSuperset(of: ["prompt", "prompt_file"]) {
            throw step.fault("\(self.name.prefix(64)): prompt and prompt_file are both given; keep one")
        }
        for (key, value) in members {
            let text = key.text ?? ""
            do {
                switch text {
                case "name": break
                case "each": each = try value.string()
                case "where": condition = try value.string()
                case "accept": accept = try value.string()
                case "distinct": distinct = try Distinctness(value)
                case "tries": tries = try value.int(in: Self.triesRange)
                default:
                    guard let known = Self.keys.first(where: { $0.name == text })?.member else {
                        throw key.fault("is no key of a step" + Self.hint(for: text))
                    }
                    try known.set(&settings, value)
                    if resolves { try known.resolve?(&settings, value) }
                }
            } catch let error as SettingProblem {
                throw SettingProblem(
                    "\(self.name.prefix(64)): \(text.prefix(64)) \(error.message)",
                    line: error.line ?? value.line)
            }
        }
    }
}

extension Distinctness {
    /// Reads an expression, or a mapping with `text` and `near`.
    fileprivate init(_ value: SettingValue) throws {
        guard case .mapping = value.content else {
            self.init(try value.string())
            return
        }
        guard value.hasOnly("text", "near"), let text = try value.member("text", { try $0.string() }) else {
            throw value.wrong("an expression, or a mapping with text and near")
        }
        self.init(text, similarity: try value.member("near") { try $0.number(in: Self.range) })
    }
}
