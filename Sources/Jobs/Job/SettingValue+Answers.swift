import FoundationShim
import JSON
import OperatingSystem

/// Constraints of answers.
extension SettingValue {
    private static let fileLimit = 16 << 20

    /// Reads the constraint; nil if the value names a file.
    func form(of key: AnswerKey) throws(SettingProblem) -> AnswerFormat? {
        let value: JSONValue
        switch content {
        case .list, .mapping: value = try json()
        case .plain("true") where !isOption: value = true
        case .plain("false") where !isOption: value = false
        case .plain(let text) where isOption && key.file != nil: value = .string(text.textOfPath ?? text)
        default: value = .string(try string())
        }
        let form = try key.form(ofJob: value, isOption: isOption)
        if form == nil { _ = try path(of: key) }
        return form
    }

    private func path(of key: AnswerKey) throws(SettingProblem) -> String {
        let path = try path()
        if path.isEmpty || path == "-" { throw wrong(key.file ?? "") }
        return path
    }

    /// Reads the constraint in the file that the value names; nil if it names none.
    func formatInFile(of key: AnswerKey) throws(SettingProblem) -> JobAnswerFormat? {
        guard let read = key.ofFile, try form(of: key) == nil else { return nil }
        let path = try path(of: key)
        var bytes = try contents(of: path, limit: Self.fileLimit, as: "a \(key.name)")
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes.removeFirst(3) }
        do throws(SettingProblem) { return JobAnswerFormat(try read(bytes), path: path) } catch {
            throw fault("\(path) \(error.message)")
        }
    }
}

extension JobKey {
    init(_ key: AnswerKey) {
        self.init(
            key.name, key.placeholder, key.help, in: [.option, .step, .llm, .map],
            SettingMember(
                key.valueForm,
                set: { job, value throws(SettingProblem) in
                    job.forms[key.name] = try value.form(of: key).map { JobAnswerFormat($0) }
                },
                resolve: { job, value throws(SettingProblem) in
                    guard let read = try value.formatInFile(of: key), let path = read.path else { return }
                    job.forms[key.name] = read
                    job.sources.append(SourceFile(path: path, what: "the \(key.name)"))
                },
                text: { $0.forms[key.name]?.form.fingerprint }))
    }
}
