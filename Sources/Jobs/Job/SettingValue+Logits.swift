import BatchEngine
import PhiText

/// Values of the settings that change logits.
extension SettingValue {
    /// Token ids and what is added to their logits: a map in a job file, ID=X as an option.
    func logitBias() throws(SettingProblem) -> [Int32: Float] {
        let range = LogitRules.biasRange
        var bias: [Int32: Float] = [:]
        for (key, value) in try biasPairs() {
            guard let id = key.text.flatMap(LogitBias.tokenID) else {
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

    private func biasPairs() throws(SettingProblem) -> [(key: SettingValue, value: SettingValue)] {
        if !isOption {
            guard case .mapping(let pairs) = content else {
                throw wrong("a map of token ids to numbers \(LogitRules.biasRange.text)")
            }
            return pairs
        }
        guard case .list(let options) = content else { throw wrong("ID=X") }
        var pairs: [(key: SettingValue, value: SettingValue)] = []
        for option in options {
            let parts = (option.text ?? "").split(separator: "=", omittingEmptySubsequences: false)
            guard parts.count == 2 else {
                throw option.wrong("ID=X, a token id and \(LogitRules.biasRange.right)")
            }
            let (key, value) = (String(parts[0]), String(parts[1]))
            pairs.append(
                (
                    SettingValue(content: .plain(key), isOption: true, folder: ""),
                    SettingValue(content: .plain(value), isOption: true, folder: "")
                ))
        }
        return pairs
    }
}

enum LogitBias {
    /// The token id that a key stands for: digits and nothing else, so that no id has two spellings.
    static func tokenID(_ text: String) -> Int32? {
        guard let id = Int32(text), id >= 0, String(id) == text else { return nil }
        return id
    }
}
