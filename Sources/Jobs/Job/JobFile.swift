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
            guard case .scalar(let text, _) = key.content else {
                throw UserError(
                    .badJob, at: "\(name):\(key.line)", "a key must be a plain word, like `model`.")
            }
            return (text, SettingValue(value, folder: folder), key.line)
        }
    }
}
