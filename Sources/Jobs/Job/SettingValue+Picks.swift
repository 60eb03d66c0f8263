import JSON

/// Values of `pick`.
extension SettingValue {
    /// Reads names, each with a list or a mapping.
    /// - Parameter reads: whether files are read.
    func picks(reads: Bool) throws -> [Pick] {
        guard case .mapping(let pairs) = content, !isOption, !pairs.isEmpty else {
            throw wrong("a mapping of fields to what they are picked from, such as topic: [history, physics]")
        }
        return try pairs.map { key, value in
            let name = key.text ?? ""
            do { return try value.pick(name, reads: reads) } catch let error as SettingProblem {
                throw SettingProblem("\(name.prefix(64)): \(error.message)", line: error.line ?? key.line)
            }
        }
    }

    private func pick(_ name: String, reads: Bool) throws -> Pick {
        let json = try json()
        if case .array(let values) = json { return try Pick(name, of: values) }
        if case .array(let values)? = json["of"], hasOnly("of", "weights") {
            return try Pick(name, of: values, weights: member("weights") { try $0.numbers() })
        }
        if json["from"] != nil, hasOnly("from", "to", "decimals") {
            let decimals = try member("decimals") { try $0.int(in: DecimalRange.decimalsRange) }
            return try Pick(
                name, .range(DecimalRange(json["from"] ?? .null, json["to"] ?? .null, decimals: decimals)))
        }
        if hasOnly("file", "field"), let path = try member("file", { try $0.path() }) {
            let field = try member("field") { try $0.string() }
            let lines = reads ? try Pick.lines(of: path, field: field) : []
            return try Pick(name, .file(path, field: field, lines: lines))
        }
        throw wrong(
            "a list, or a mapping with of (and weights), with from and to (and decimals), or with file (and field)"
        )
    }

    private func numbers() throws(SettingProblem) -> [Double] {
        guard case .list(let elements) = content else { throw wrong("a list of numbers") }
        return try elements.map { element throws(SettingProblem) in
            guard let number = element.number else { throw element.wrong("numbers") }
            return number
        }
    }
}
