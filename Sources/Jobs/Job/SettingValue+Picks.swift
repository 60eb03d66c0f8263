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
        let right =
            "must be a list, or a mapping with of (and weights), with from and to, or with file (and field)"
        guard case .object(let members) = json else { throw SettingProblem("\(right), but is \(shown)") }
        let forms = [["of", "weights"], ["from", "to", "decimals"], ["file", "field"]]
        guard let form = forms.first(where: { members[$0[0]] != nil }) else { throw SettingProblem(right) }
        if let other = members.names.first(where: { !form.contains($0) }) {
            throw SettingProblem("has \(form[0]), beside which \(other.prefix(64)) has no meaning")
        }
        switch form[0] {
        case "of":
            guard case .array(let values)? = members["of"] else {
                throw SettingProblem("has of, which must be a list")
            }
            return try Pick(name, of: values, weights: members["weights"].map(Self.weights))
        case "from":
            let decimals: Int?
            do { decimals = try members["decimals"]?.int(in: DecimalRange.decimalsRange) } catch {
                throw SettingProblem("has decimals, which \(error.message)")
            }
            let range = try DecimalRange(members["from"] ?? .null, members["to"] ?? .null, decimals: decimals)
            return try Pick(name, .range(range))
        default:
            return try Pick(name, .file(file(field: members["field"], reads: reads)))
        }
    }

    private static func weights(_ json: JSONValue) throws -> [Double] {
        guard case .array(let values) = json else {
            throw SettingProblem("has weights, which must be a list of numbers")
        }
        return try values.map { value in
            if let weight = value.number { return weight }
            throw SettingProblem("has weights, which must be numbers; one is \(value.shown)")
        }
    }

    private func file(field: JSONValue?, reads: Bool) throws(SettingProblem) -> PickedFile {
        guard case .mapping(let members) = content,
            let path = members.first(where: { $0.key.text == "file" })?.value
        else { throw wrong("a mapping with a file") }
        var name: String?
        if let field {
            guard case .string(let text) = field else {
                throw SettingProblem("has field, which must be a string, but is \(field.shown)")
            }
            name = text
        }
        let file: String
        do { file = try path.path() } catch {
            throw SettingProblem("has file, which \(error.message)", line: error.line)
        }
        return try PickedFile(path: file, field: name, reads: reads)
    }
}
