import Errors

/// Reads settings from a job file: YAML, which includes JSON.
package enum JobFile {
    /// Job files are written by hand; a larger one is a mistake.
    package static let sizeLimit = 1 << 20

    package static func apply(_ bytes: [UInt8], name: String, folder: String, to job: inout JobSettings)
        throws
    {
        try job.apply(settings(bytes, name: name, folder: folder))
    }

    /// - Parameter name: the file's name in errors.
    static func settings(_ bytes: [UInt8], name: String, folder: String) throws -> [WrittenSetting] {
        let entries = try entries(bytes, name: name, folder: folder)
        return try entries.map { key, value, line in
            if key == "prompt_file", entries.contains(where: { $0.key == "prompt" }) {
                throw UserError(
                    .badJob, at: "\(name):\(line)", "prompt and prompt_file are both given; keep one.")
            }
            guard let setting = JobKey.named(key) else {
                throw UserError(
                    .badJob, at: "\(name):\(line)",
                    JobKey.removed[key].map { "the key \"\(key)\" was taken out: \($0)." }
                        ?? "unknown key \"\(key.prefix(64))\"."
                        + NearMiss.hint(for: key, among: JobKey.all.map(\.name)))
            }
            return WrittenSetting(key: setting, value: value, place: (name, line))
        }
    }

    private static func entries(
        _ bytes: [UInt8], name: String, folder: String
    ) throws -> [(key: String, value: SettingValue, line: Int)] {
        guard bytes.count <= sizeLimit else {
            throw UserError(.badJob, at: name, "is too large for a job file (over \(sizeLimit >> 20) MiB).")
        }
        guard var text = String(validating: bytes, as: UTF8.self) else {
            throw UserError(.badJob, at: name, "is not UTF-8 text.")
        }
        if text.unicodeScalars.first == "\u{FEFF}" { text.unicodeScalars.removeFirst() }
        let found: YAMLNode?
        do { found = try YAMLReader.root(of: text) } catch {
            throw UserError(.badJob, at: error.line.map { "\(name):\($0)" } ?? name, "\(error.message).")
        }
        guard let root = found else {
            throw UserError(.badJob, at: name, "is empty; a job needs model, input and output.")
        }
        guard case .mapping(let mapping) = root.content else {
            throw UserError(
                .badJob, at: "\(name):\(root.line)",
                "must be a mapping of keys to values, like `model: FOLDER`.")
        }
        return try mapping.map { key, value in
            let line = key.line
            guard case .scalar(let text, _) = key.content else {
                throw UserError(.badJob, at: "\(name):\(line)", "a key must be a plain word, like `model`.")
            }
            var setting = SettingValue(value, folder: folder, depth: 0)
            setting.whole = { () throws(SettingProblem) in try YAMLValues.json(of: value) }
            setting.parts = { () throws(SettingProblem) in try parts(of: value, folder: folder) }
            return (text, setting, line)
        }
    }

    /// The mappings of a list, each with its keys and values.
    private static func parts(
        of node: YAMLNode, folder: String
    ) throws(SettingProblem) -> [[(key: SettingValue, value: SettingValue)]] {
        guard case .sequence(let elements) = node.content, !elements.isEmpty else {
            throw SettingProblem("must be a list of mappings, each with a name", line: node.line)
        }
        var parts: [[(key: SettingValue, value: SettingValue)]] = []
        for element in elements {
            guard case .mapping(let members) = element.content else {
                throw SettingProblem("must be a list of mappings, each with a name", line: element.line)
            }
            parts.append(
                members.map { key, value in
                    var setting = SettingValue(value, folder: folder, depth: 0)
                    setting.whole = { () throws(SettingProblem) in try YAMLValues.json(of: value) }
                    return (SettingValue(key, folder: folder, depth: 2), setting)
                })
        }
        return parts
    }
}

extension SettingValue {
    /// Settings have at most three levels (a list of maps), except those that take any JSON (`json()`).
    fileprivate init(_ node: YAMLNode, folder: String, depth: Int) {
        self.init(content: .mapping([]), folder: folder, line: node.line)
        switch node.content {
        case .scalar(let text, isPlain: true):
            content = ["", "~", "null", "Null", "NULL"].contains(text) ? .null : .plain(text)
        case .scalar(let text, isPlain: false): content = .quoted(text)
        case .sequence(let elements):
            content = .list(
                depth == 0 ? elements.map { SettingValue($0, folder: folder, depth: 1) } : [])
        case .mapping(let members):
            content = .mapping(
                depth <= 1
                    ? members.map {
                        (
                            SettingValue($0.key, folder: folder, depth: depth + 1),
                            SettingValue($0.value, folder: folder, depth: depth + 1)
                        )
                    } : [])
        }
    }
}
