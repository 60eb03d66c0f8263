/// A setting outside of a job file, which replaces what the file says.
package struct JobOption: Sendable {
    package let key: JobKey
    /// The values given, in their order; those of a flag are `true` and `false`. They are as `ProgramCall` gives
    /// them, so that paths need not be UTF-8.
    package let texts: [String]

    package init(_ key: JobKey, _ texts: [String]) {
        self.key = key
        self.texts = texts
    }
}

extension WrittenSetting {
    /// - Throws: `UserError` of kind `usage`, naming the option and what would be right.
    static func of(_ options: [JobOption]) throws -> [WrittenSetting] {
        let names = options.map(\.key.name)
        if names.contains("prompt"), names.contains("prompt_file") {
            throw UserError(.usage, "--prompt and --prompt-file are both given; keep one.")
        }
        return try options.compactMap { option in
            let key = option.key
            let values = option.texts.map {
                SettingValue(content: .plain($0), isOption: true, folder: "")
            }
            guard let first = values.first else { return nil }
            if key.kind != .list, values.count > 1 {
                throw UserError(.usage, "\(key.option) is given more than once.")
            }
            let value =
                key.kind == .list ? SettingValue(content: .list(values), isOption: true, folder: "") : first
            return WrittenSetting(key: key, value: value, place: nil)
        }
    }
}

/// A setting of a job as a file or an option gives it.
struct WrittenSetting {
    let key: JobKey
    let value: SettingValue
    /// The job file and the key's line; nil of an option.
    let place: (file: String, line: Int)?

    private func perform(
        _ body: (inout JobSettings, SettingValue) throws(SettingProblem) -> Void, _ job: inout JobSettings
    ) throws {
        do throws(SettingProblem) { try body(&job, value) } catch {
            guard let place else { throw UserError(.usage, "\(key.option) \(error.message).") }
            throw UserError(
                .badJob, at: "\(place.file):\(error.line ?? place.line)", "\(key.name) \(error.message).")
        }
    }

    fileprivate func set(_ job: inout JobSettings) throws { try perform(key.member.set, &job) }

    fileprivate func resolve(_ job: inout JobSettings) throws {
        if let resolve = key.member.resolve { try perform(resolve, &job) }
    }

    /// Whether nothing is left of it beside a later one.
    fileprivate func isReplaced(by other: WrittenSetting) -> Bool {
        func target(_ name: String) -> String { name == "prompt_file" ? "prompt" : name }
        return target(key.name) == target(other.key.name)
    }
}

extension JobSettings {
    /// Takes settings as they are written, of which later ones replace earlier ones. Once all are known, what they name is
    /// looked for: files are read, and patterns become the files that match.
    /// - Throws: `UserError` naming the setting and what would be right.
    mutating func apply(_ written: [WrittenSetting]) throws {
        for setting in written { try setting.set(&self) }
        for (place, setting) in written.enumerated()
        where !written[(place + 1)...].contains(where: setting.isReplaced) { try setting.resolve(&self) }
    }

    /// - Throws: `UserError` of kind `usage`, naming the option and what would be right.
    package mutating func apply(_ options: [JobOption]) throws { try apply(WrittenSetting.of(options)) }
}
