import BatchEngine

extension SettingValue {
    /// Reads a map in a job file, or ID=X as an option.
    func bias(in range: NumberRange) throws(SettingProblem) -> [Int32: Float] {
        var bias: [Int32: Float] = [:]
        for (key, value) in try biasPairs(range) {
            guard let id = key.text.flatMap(TokenIDs.id) else {
                throw SettingProblem(
                    "must be a map of token ids to numbers, but has the key \(key.shown)", line: key.line)
            }
            let addend: Double
            do {
                addend = try value.number(in: range)
            } catch {
                throw SettingProblem(
                    "must be \(range.text) for each token id, but is \(value.shown) for \(id)",
                    line: value.line)
            }
            guard bias.updateValue(Float(addend), forKey: id) == nil else {
                throw SettingProblem("has the token id \(id) more than once", line: key.line)
            }
        }
        return bias
    }

    private func biasPairs(
        _ range: NumberRange
    ) throws(SettingProblem) -> [(key: SettingValue, value: SettingValue)] {
        if !isOption {
            guard case .mapping(let pairs) = content else {
                throw wrong("a map of token ids to numbers \(range.text)")
            }
            return pairs
        }
        guard case .list(let options) = content else { throw wrong("ID=X") }
        var pairs: [(key: SettingValue, value: SettingValue)] = []
        for option in options {
            let parts = (option.text ?? "").split(at: "=", keepingEmpty: true)
            guard parts.count == 2 else { throw option.wrong("ID=X, a token id and \(range.right)") }
            pairs.append((SettingValue(option: String(parts[0])), SettingValue(option: String(parts[1]))))
        }
        return pairs
    }
}
