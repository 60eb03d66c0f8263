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
        func wrong(_ problem: String, _ line: Int? = nil) -> UserError {
            UserError(.badJob, at: line.map { "\(name):\($0)" } ?? name, problem)
        }
        guard bytes.count <= sizeLimit else {
            throw wrong("is too large for a job file (over \(sizeLimit >> 20) MiB).")
        }
        guard var text = String(validating: bytes, as: UTF8.self) else { throw wrong("is not UTF-8 text.") }
        if text.unicodeScalars.first == "\u{FEFF}" { text.unicodeScalars.removeFirst() }
        let found: SettingValue?
        do { found = try YAMLReader.root(of: text, folder: folder) } catch {
            throw wrong("\(error.message).", error.line)
        }
        guard let root = found else { throw wrong("is empty; a job needs model, input and output.") }
        guard case .mapping(let members) = root.content else {
            throw wrong("must be a mapping of keys to values, like `model: FOLDER`.", root.line)
        }
        return try members.map { key, value in
            guard let word = key.scalar else {
                throw wrong("a key must be a plain word, like `model`.", key.line)
            }
            if word == "prompt_file", members.contains(where: { $0.key.scalar == "prompt" }) {
                throw wrong("prompt and prompt_file are both given; keep one.", key.line)
            }
            guard let setting = JobKey.named(word) else {
                throw wrong(
                    "unknown key \"\(word.prefix(64))\"."
                        + NearMiss.hint(for: word, among: JobKey.all.map(\.name)),
                    key.line)
            }
            return WrittenSetting(key: setting, value: value, place: key.line.map { (name, $0) })
        }
    }
}
