import JSON

/// Operations on all settings alike: merging, checking, and encoding.
extension RequestSettings {
    /// Merges the settings of a job and a line.
    package static func merged(job: RequestSettings, line: RequestSettings) -> RequestSettings {
        // Most lines have no settings.
        guard line != RequestSettings() else { return job }
        var merged = job
        for setting in RequestSetting.all { setting.merge(line, into: &merged, setting.precedence) }
        return merged
    }

    /// Returns these settings, completed by those of `others` that satisfy a condition.
    package func over(
        _ others: RequestSettings, where isTaken: (RequestSetting) -> Bool
    ) -> RequestSettings {
        var together = self
        for setting in RequestSetting.all where isTaken(setting) {
            setting.merge(others, into: &together, .job)
        }
        return together
    }

    /// Returns everything that a request's outcome from the model depends on, for a task: equal bytes mean equal
    /// outcomes. A new setting is included unless its row in the table excludes it.
    /// - Parameter task: nil for everything that results depend on.
    package func content(of task: RequestSetting.Task? = nil) -> [UInt8] {
        var content: [UInt8] = []
        for setting in RequestSetting.all {
            guard task.map(setting.changesOutcomeOf.contains) ?? true, setting.changesResults,
                setting.changes(self), let value = setting.text(in: self)
            else { continue }
            // Lengths make the encoding unambiguous.
            content += "\(setting.name) \(value.utf8.count) \(value) ".utf8
        }
        return content
    }

    /// Returns the problem with the settings, in a sentence; nil if there is none.
    package var problem: String? {
        for setting in RequestSetting.all {
            if let problem = setting.problem(in: self) { return "\(setting.name) \(problem)." }
        }
        return nil
    }

    /// Returns a setting that can't be combined with a constraint, and the reason.
    /// - Parameter mayStop: whether the constraint is on tool calls, and the text beside them may be cut.
    package func formConflict(mayStop: Bool) -> (name: String, reason: String)? {
        for setting in RequestSetting.all where setting.isSet(in: self) {
            if let reason = setting.formConflict(mayStop: mayStop) { return (setting.name, reason) }
        }
        return nil
    }
}

extension RequestSetting {
    package func formConflict(mayStop: Bool) -> String? { mayStop && name == "stop" ? nil : formConflict }

    /// Whether it is set, even to its default.
    package func isSet(in settings: RequestSettings) -> Bool {
        switch kind {
        case .int(let path, _, _): settings[keyPath: path] != nil
        case .number(let path, _, _): settings[keyPath: path] != nil
        case .flag(let path): settings[keyPath: path] == true
        case .word(let path, _): settings[keyPath: path] != nil
        case .texts(let path, _): settings[keyPath: path]?.isEmpty == false
        case .bias(let path, _): settings[keyPath: path] != nil
        }
    }

    /// Whether a value differs from the default.
    package func changes(_ settings: RequestSettings) -> Bool {
        switch kind {
        case .int(let path, _, let unset): settings[keyPath: path] ?? unset != unset
        case .number(let path, _, let unset): settings[keyPath: path] ?? unset != unset
        case .bias(let path, _): settings[keyPath: path]?.isEmpty == false
        case .flag, .word, .texts: isSet(in: settings)
        }
    }

    /// Merges a line's value into the job's, with the given precedence.
    fileprivate func merge(
        _ line: RequestSettings, into merged: inout RequestSettings, _ precedence: Precedence
    ) {
        func one<Value>(_ path: Path<Value>, together: (Value, Value) -> Value? = { _, _ in nil }) {
            guard let lines = line[keyPath: path] else { return }
            let own = merged[keyPath: path]
            merged[keyPath: path] =
                own.map { together($0, lines) ?? (precedence == .line ? lines : $0) } ?? lines
        }
        switch kind {
        case .int(let path, _, _): one(path) { precedence == .least ? min($0, $1) : nil }
        case .number(let path, _, _): one(path)
        case .flag(let path): one(path)
        case .word(let path, _): one(path)
        case .texts(let path, _): one(path) { precedence == .both ? $0 + $1 : nil }
        case .bias(let path, _): one(path)
        }
    }

    /// Returns the problem with the value, in words that follow the name; nil if there is none.
    package func problem(in settings: RequestSettings) -> String? {
        switch kind {
        case .int(let path, let range, _): settings[keyPath: path].flatMap(range.problem)
        case .number(let path, let range, _): settings[keyPath: path].flatMap { range.problem($0) }
        case .word(let path, let words):
            settings[keyPath: path].flatMap {
                words.isEmpty || words.contains($0)
                    ? nil : "must be one of \(words.joined(separator: ", ")), but is \"\($0)\""
            }
        case .texts(let path, let problem): settings[keyPath: path].flatMap(problem)
        case .bias(let path, let range):
            // The end of the vocabulary is known only with the model.
            settings[keyPath: path]?.filter { $0.key < 0 || !range.contains(Double($0.value)) }
                .min { $0.key < $1.key }.map {
                    "must be token ids, each with \(range.right), but is \($0.value) for \($0.key)"
                }
        case .flag: nil
        }
    }

    /// Returns the value as text, distinct for distinct values; nil if it is not set.
    package func text(in settings: RequestSettings) -> String? {
        switch kind {
        case .int(let path, _, _): settings[keyPath: path].map { "\($0)" }
        case .number(let path, _, _): settings[keyPath: path].map { "\($0)" }
        case .flag(let path): settings[keyPath: path].map { "\($0)" }
        case .word(let path, _): settings[keyPath: path]
        case .texts(let path, _):
            settings[keyPath: path].map { JSONWriter.text(of: .array($0.map { .string($0) })) }
        case .bias(let path, _):
            settings[keyPath: path].map { bias in
                bias.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
            }
        }
    }
}
