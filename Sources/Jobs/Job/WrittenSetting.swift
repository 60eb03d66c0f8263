import Errors
import JSON

/// Setting as written in a job file (YAML, which includes JSON), or as an option, which overrides the file's.
package struct WrittenSetting: Sendable {
    package let key: JobKey
    let value: SettingValue
    /// The job file and the key's line; nil for an option.
    private let place: (file: String, line: Int)?

    /// Job files are written by hand; a larger one is a mistake.
    package static let fileSizeLimit = 1 << 20

    /// - Parameter texts: an option's values in order; a flag's are `true` and `false`. They come from `ProgramCall`, so
    ///   that paths need not be UTF-8.
    package init(_ key: JobKey, _ texts: [String]) {
        self.key = key
        value = !key.form.isList && texts.count == 1 ? .init(option: texts[0]) : .init(option: texts)
        place = nil
    }

    private init(_ key: JobKey, _ value: SettingValue, _ place: (file: String, line: Int)?) {
        (self.key, self.value, self.place) = (key, value, place)
    }

    /// The values of an option.
    package var texts: [String] {
        if case .list(let values) = value.content {
            values.compactMap(\.scalar)
        } else {
            [value.scalar ?? ""]
        }
    }

    /// Reads the settings in a job file.
    /// - Parameter name: the file's name in errors.
    /// - Throws: `UserError` with the file and the line.
    static func all(in bytes: [UInt8], name: String, folder: String) throws -> [WrittenSetting] {
        func wrong(_ problem: String, _ line: Int? = nil) -> UserError {
            UserError(.badJob, at: line.map { "\(name):\($0)" } ?? name, problem)
        }
        guard bytes.count <= fileSizeLimit else {
            throw wrong("is too large for a job file (over \(fileSizeLimit >> 20) MiB).")
        }
        guard var text = String(validating: bytes, as: UTF8.self) else { throw wrong("is not UTF-8 text.") }
        if text.unicodeScalars.first == "\u{FEFF}" { text.unicodeScalars.removeFirst() }
        let found: YAMLValue?
        do { found = try YAMLValue.root(of: text) } catch {
            throw wrong("is not valid YAML: \(error.message).", error.line)
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
            return WrittenSetting(setting, SettingValue(value, folder: folder), (name, key.line))
        }
    }

    fileprivate func set(in job: inout JobSettings, readsFiles: Bool) throws {
        do { try key.member.set(&job, value, readsFiles) } catch let error as SettingProblem {
            guard let place else { throw UserError(.usage, "\(key.option) \(error.message).") }
            throw UserError(
                .badJob, at: "\(place.file):\(error.line ?? place.line)", "\(key.name) \(error.message).")
        }
    }

    /// - Throws: `UserError` of kind `usage` if an option is given twice, or another one for the same.
    fileprivate func checkIsAlone(among others: [WrittenSetting]) throws {
        guard place == nil else { return }
        if !key.form.isList, texts.count > 1 {
            throw UserError(.usage, "\(key.option) is given more than once.")
        }
        if key.name == "prompt_file", others.contains(where: { $0.place == nil && $0.key.name == "prompt" }) {
            throw UserError(.usage, "--prompt and --prompt-file are both given; keep one.")
        }
    }

    /// Whether a later setting overrides this one.
    fileprivate func isReplaced(by other: WrittenSetting) -> Bool {
        func target(_ name: String) -> String { name == "prompt_file" ? "prompt" : name }
        return target(key.name) == target(other.key.name)
    }
}

extension JobSettings {
    /// Applies settings in order; later ones replace earlier ones. Only then files are read, and patterns replaced by
    /// the files that match.
    /// - Throws: `UserError` with the setting and the valid values.
    package mutating func apply(_ written: [WrittenSetting]) throws {
        for setting in written { try setting.checkIsAlone(among: written) }
        for setting in written { try setting.set(in: &self, readsFiles: false) }
        for (place, setting) in written.enumerated()
        where !written[(place + 1)...].contains(where: setting.isReplaced) {
            try setting.set(in: &self, readsFiles: true)
        }
    }

    /// Applies the settings of a job file.
    package mutating func apply(_ bytes: [UInt8], name: String, folder: String) throws {
        try apply(WrittenSetting.all(in: bytes, name: name, folder: folder))
    }
}
