import BatchEngine
import FoundationShim

/// Numbers with a special word or a unit, and maps of numbers.
extension SettingValue {
    /// Nil for `auto`.
    func countOrAuto(in range: ClosedRange<Int>) throws(SettingProblem) -> Int? {
        if text == "auto" { return nil }
        guard let count = try? int(in: range) else { throw wrong("\(range.right), or auto") }
        return count
    }

    func speculation() throws(SettingProblem) -> Speculation {
        if text == "auto" { return .auto }
        if text == "off" { return .off }
        let range = Speculation.range
        guard let count = try? int(in: range) else { throw wrong("auto, off, or \(range.right)") }
        return .tokens(count)
    }

    func failureLimit() throws(SettingProblem) -> FailureLimit {
        if let percent = text.flatMap(percentage) { return .percent(percent) }
        guard let count = try? int(in: 0...Int.max) else {
            throw wrong("a whole number, 0 or more, or a percentage such as 5%")
        }
        return .count(count)
    }

    /// Reads a number of rows, in all or of each line.
    func until() throws(SettingProblem) -> (count: Int, isPerLine: Bool) {
        let range = JobSettings.untilRange
        guard let text, let parts = text.wholeMatch(of: /(\d+)( per line)?/), let count = Int(parts.1),
            range.contains(count)
        else { throw wrong("\(range.right), or as many \"per line\", such as 3 per line") }
        return (count, parts.2 != nil)
    }

    func size() throws(SettingProblem) -> Int {
        guard let bytes = text.flatMap(byteCount) else {
            throw wrong("a size in bytes, such as 4GB or 512MiB")
        }
        return bytes
    }

    /// Reads bytes, or a share of the machine's memory; nil for `auto`.
    func memoryBudget() throws(SettingProblem) -> Int? {
        if text == "auto" { return nil }
        if let percent = text.flatMap(percentage), percent > 0 {
            return Int(Double(ProcessInfo.processInfo.physicalMemory) * (percent / 100))
        }
        guard let bytes = text.flatMap(byteCount) else {
            throw wrong("a size in bytes, such as 4GB or 512MiB, a share such as 25%, or auto")
        }
        return bytes
    }

    /// Reads a map in a job file, or ID=X as an option.
    func bias(in range: NumberRange) throws(SettingProblem) -> [Int32: Float] {
        var bias: [Int32: Float] = [:]
        for (key, value) in try biasPairs(range) {
            // Digits only, so that each id has one spelling.
            guard let text = key.text, let id = Int32(text), id >= 0, String(id) == text else {
                throw key.fault("must be a map of token ids to numbers, but has the key \(key.shown)")
            }
            guard let addend = value.number, range.contains(addend) else {
                throw value.fault("must be \(range.text) for each token id, but is \(value.shown) for \(id)")
            }
            guard bias.updateValue(Float(addend), forKey: id) == nil else {
                throw key.fault("has the token id \(id) more than once")
            }
        }
        return bias
    }

    private func biasPairs(
        _ range: NumberRange
    ) throws(SettingProblem) -> [(key: SettingValue, value: SettingValue)] {
        if case .mapping(let pairs) = content { return pairs }
        guard isOption, case .list(let options) = content else {
            throw wrong("a map of token ids to numbers \(range.text)")
        }
        var pairs: [(key: SettingValue, value: SettingValue)] = []
        for option in options {
            let parts = (option.text ?? "").split(at: "=", keepingEmpty: true)
            guard parts.count == 2 else { throw option.wrong("ID=X, a token id and \(range.right)") }
            pairs.append((SettingValue(option: String(parts[0])), SettingValue(option: String(parts[1]))))
        }
        return pairs
    }
}

/// "5%" and "2.5 %" as 5 and 2.5; nil unless within 0 ... 100.
private func percentage(_ text: String) -> Double? {
    text.wholeMatch(of: #/ *([0-9.]+) ?%/#).flatMap { Double($0.1) }.flatMap { 0...100 ~= $0 ? $0 : nil }
}

/// "512MiB" and "1.5 gb" as bytes; nil unless above 0.
private func byteCount(_ text: String) -> Int? {
    let pattern = /([0-9.]+) ?(?:(?:([KMGT])(i?))?B)?/.ignoresCase()
    guard let parts = text.wholeMatch(of: pattern), let number = Double(parts.1) else { return nil }
    let power = parts.2.flatMap { ["K": 1, "M": 2, "G": 3, "T": 4][$0.uppercased()] } ?? 0
    let factor = (0..<power).reduce(1.0) { factor, _ in factor * (parts.3 == "" ? 1000 : 1024) }
    return Int(exactly: (number * factor).rounded()).flatMap { $0 > 0 ? $0 : nil }
}
