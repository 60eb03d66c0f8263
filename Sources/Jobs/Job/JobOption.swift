/// A setting on the command line, which overrides the job file's.
package struct JobOption: Sendable {
    package let key: JobKey
    /// The values in order; a flag's are `true` and `false`. They come from `ProgramCall`, so that paths need not be
    /// UTF-8.
    package let texts: [String]

    package init(_ key: JobKey, _ texts: [String]) {
        self.key = key
        self.texts = texts
    }
}

extension WrittenSetting {
    /// - Throws: `UserError` of kind `usage`, with the option and the valid values.
    static func of(_ options: [JobOption]) throws -> [WrittenSetting] {
        let names = options.map(\.key.name)
        if names.contains("prompt"), names.contains("prompt_file") {
            throw UserError(.usage, "--prompt and --prompt-file are both given; keep one.")
        }
        return try options.compactMap { option in
            let key = option.key
            if !key.form.isList, option.texts.count > 1 {
                throw UserError(.usage, "\(key.option) is given more than once.")
            }
            return SettingValue(option: option.texts, isList: key.form.isList)
                .map { WrittenSetting(key: key, value: $0, place: nil) }
        }
    }
}

/// A setting as written in a file or an option.
struct WrittenSetting {
    let key: JobKey
    let value: SettingValue
    /// The job file and the key's line; nil for an option.
    let place: (file: String, line: Int)?

    fileprivate func perform(_ reader: SettingMember.Reader?, _ job: inout JobSettings) throws {
        do { try reader?(&job, value) } catch let error as SettingProblem {
            guard let place else { throw UserError(.usage, "\(key.option) \(error.message).") }
            throw UserError(
                .badJob, at: "\(place.file):\(error.line ?? place.line)", "\(key.name) \(error.message).")
        }
    }

    /// Whether a later one replaces all of it.
    fileprivate func isReplaced(by other: WrittenSetting) -> Bool {
        func target(_ name: String) -> String { name == "prompt_file" ? "prompt" : name }
        return target(key.name) == target(other.key.name)
    }
}

extension JobSettings {
    /// Applies settings in order; later ones replace earlier ones. Only then files are read, and patterns replaced by
    /// the files that match.
    /// - Throws: `UserError` with the setting and the valid values.
    mutating func apply(_ written: [WrittenSetting]) throws {
        for setting in written { try setting.perform(setting.key.member.set, &self) }
        for (place, setting) in written.enumerated()
        where !written[(place + 1)...].contains(where: setting.isReplaced) {
            try setting.perform(setting.key.member.resolve, &self)
        }
    }

    /// - Throws: `UserError` of kind `usage`, with the option and the valid values.
    package mutating func apply(_ options: [JobOption]) throws { try apply(WrittenSetting.of(options)) }
}
