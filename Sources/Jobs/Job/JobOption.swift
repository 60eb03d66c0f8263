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
    /// - Throws: `JobError` of kind `usage`, naming the option and what would be right.
    static func of(_ options: [JobOption]) throws -> [WrittenSetting] {
        let names = options.map(\.key.name)
        if names.contains("prompt"), names.contains("prompt_file") {
            throw JobError(.usage, "--prompt and --prompt-file are both given; keep one.")
        }
        return try options.compactMap { option in
            let key = option.key
            let values = option.texts.map {
                SettingValue(content: .plain($0), isOption: true, folder: "")
            }
            guard let first = values.first else { return nil }
            if key.kind != .list, values.count > 1 {
                throw JobError(.usage, "\(key.option) is given more than once.")
            }
            let value =
                key.kind == .list ? SettingValue(content: .list(values), isOption: true, folder: "") : first
            return WrittenSetting(key: key, value: value, place: nil)
        }
    }
}
