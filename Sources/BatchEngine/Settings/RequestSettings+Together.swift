import JSON

/// What is done with all settings alike: merging, checking, and writing them down.
extension RequestSettings {
    /// What a request asks for of which job and line both say something.
    package static func merged(job: RequestSettings, line: RequestSettings) -> RequestSettings {
        // As most lines say nothing.
        guard line != RequestSettings() else { return job }
        var merged = job
        for setting in RequestSetting.all { setting.merge(line, into: &merged, setting.precedence) }
        return merged
    }

    /// These, and where they say nothing, those of `others`.
    package func over(_ others: RequestSettings) -> RequestSettings {
        var together = others
        for setting in RequestSetting.all { setting.merge(self, into: &together, .line) }
        return together
    }

    /// Those of them for which a condition holds.
    package func filtered(_ isKept: (RequestSetting) -> Bool) -> RequestSettings {
        var kept = RequestSettings()
        for setting in RequestSetting.all where isKept(setting) { setting.merge(self, into: &kept, .line) }
        return kept
    }

    /// All that the outcome of a request of this task, as the model gives it, depends on of them: equal bytes, equal
    /// outcomes. A new setting is in it unless its row in the table says that it has no place there.
    package func content(of task: RequestSetting.Task) -> [UInt8] {
        var content: [UInt8] = []
        for setting in RequestSetting.all {
            guard setting.shapes.contains(task), setting.changesResults, setting.changes(self),
                let value = setting.text(in: self)
            else { continue }
            // Lengths first, so that no two values run together to the same bytes.
            content += "\(setting.name) \(value.utf8.count) \(value) ".utf8
        }
        return content
    }

    /// What is wrong with them, in a sentence; nil if nothing is.
    package var problem: String? {
        for setting in RequestSetting.all {
            if let problem = setting.problem(in: self) { return "\(setting.name) \(problem)." }
        }
        return nil
    }

    /// A setting that doesn't go with a form that answers must have, and why.
    /// - Parameter mayStop: it is a form of calls, and the text beside them may be cut.
    package func formConflict(mayStop: Bool) -> (name: String, reason: String)? {
        for setting in RequestSetting.all where setting.isSet(in: self) {
            if let reason = setting.formConflict(mayStop: mayStop) { return (setting.name, reason) }
        }
        return nil
    }
}

extension RequestSetting {
    package func formConflict(mayStop: Bool) -> String? { mayStop && name == "stop" ? nil : formConflict }

    /// Whether something is asked, if only what is so anyway.
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

    /// Whether something is asked that is not so anyway.
    package func changes(_ settings: RequestSettings) -> Bool {
        switch kind {
        case .int(let path, _, let unset): settings[keyPath: path] ?? unset != unset
        case .number(let path, _, let unset): settings[keyPath: path] ?? unset != unset
        case .bias(let path, _): settings[keyPath: path]?.isEmpty == false
        case .flag, .word, .texts: isSet(in: settings)
        }
    }

    fileprivate var changesResults: Bool {
        if case .none = effect { false } else { true }
    }

    /// Puts a line's value beside that of the others, which counts unless `precedence` says otherwise.
    fileprivate func merge(
        _ line: RequestSettings, into merged: inout RequestSettings, _ precedence: Precedence
    ) {
        func one<Value>(_ path: Path<Value>) {
            let (own, lines) = (merged[keyPath: path], line[keyPath: path])
            merged[keyPath: path] = precedence == .line ? lines ?? own : own ?? lines
        }
        switch kind {
        case .int(let path, _, _) where precedence == .least:
            merged[keyPath: path] = [merged[keyPath: path], line[keyPath: path]].compactMap { $0 }.min()
        case .texts(let path, _) where precedence == .both:
            guard let more = line[keyPath: path] else { return }
            merged[keyPath: path] = (merged[keyPath: path] ?? []) + more
        case .int(let path, _, _): one(path)
        case .number(let path, _, _): one(path)
        case .flag(let path): one(path)
        case .word(let path, _): one(path)
        case .texts(let path, _): one(path)
        case .bias(let path, _): one(path)
        }
    }

    /// What is wrong with the value, in words that follow the name; nil if nothing is.
    package func problem(in settings: RequestSettings) -> String? {
        switch kind {
        case .int(let path, let range, _):
            settings[keyPath: path].flatMap {
                range.contains($0) ? nil : "must be \(range.right), but is \($0)"
            }
        case .number(let path, let range, _):
            settings[keyPath: path].flatMap {
                range.contains(Double($0)) ? nil : "must be \(range.right), but is \($0)"
            }
        case .word(let path, let words):
            settings[keyPath: path].flatMap {
                words.isEmpty || words.contains($0)
                    ? nil : "must be one of \(words.joined(separator: ", ")), but is \"\($0)\""
            }
        case .texts(let path, let problem): settings[keyPath: path].flatMap(problem)
        case .bias(let path, let range):
            // Where the vocabulary ends is known with the model.
            settings[keyPath: path]?.filter { $0.key < 0 || !range.contains(Double($0.value)) }
                .min { $0.key < $1.key }.map {
                    "must be token ids, each with \(range.right), but is \($0.value) for \($0.key)"
                }
        case .flag: nil
        }
    }

    /// The value as text, distinct for distinct values; nil where it is not set.
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
