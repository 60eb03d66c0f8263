import BatchEngine

/// Numbers with a special word beside them.
extension SettingValue {
    func countOrAuto(in range: ClosedRange<Int>) throws(SettingProblem) -> CountSetting {
        if text == "auto" { return .auto }
        guard case .plain(let text) = content, let count = Int(text), range.contains(count) else {
            throw wrong("\(range.right), or auto")
        }
        return .count(count)
    }

    func speculation() throws(SettingProblem) -> Speculation {
        let range = 1...Speculation.limit
        switch text {
        case "auto": return .auto
        case "off": return .off
        case let text?:
            guard case .plain = content, let count = Int(text), range.contains(count) else { break }
            return .tokens(count)
        case nil: break
        }
        throw wrong("auto, off, or \(range.right)")
    }

    func failureLimit() throws(SettingProblem) -> FailureLimit {
        let right = "a whole number, 0 or more, or a percentage such as 5%"
        guard let text else { throw wrong(right) }
        if let percent = percentage(text) { return .percent(percent) }
        guard case .plain = content, let count = Int(text), count >= 0 else { throw wrong(right) }
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
        guard let text, let bytes = byteCount(text), bytes > 0 else {
            throw wrong("a size in bytes, such as 4GB or 512MiB")
        }
        return bytes
    }

    func memoryBudget() throws(SettingProblem) -> MemoryBudget {
        let right = "a size in bytes, such as 4GB or 512MiB, a share such as 25%, or auto"
        guard let text else { throw wrong(right) }
        if text == "auto" { return .auto }
        if let percent = percentage(text), percent > 0 { return .share(percent / 100) }
        guard let bytes = byteCount(text), bytes > 0 else { throw wrong(right) }
        return .bytes(bytes)
    }
}

/// "5%" and "2.5 %" as 5 and 2.5; nil unless within 0 ... 100.
private func percentage(_ text: String) -> Double? {
    guard text.hasSuffix("%") else { return nil }
    let digits = text.dropLast().drop { $0 == " " }
    let number = digits.hasSuffix(" ") ? digits.dropLast() : digits
    guard number.utf8.allSatisfy({ ($0 >= 0x30 && $0 <= 0x39) || $0 == 0x2E }), let percent = Double(number),
        (0...100).contains(percent)
    else { return nil }
    return percent
}

private let byteUnits: [(suffix: String, factor: Double)] = [
    ("KiB", 1024), ("MiB", 1_048_576), ("GiB", 1_073_741_824), ("TiB", 1_099_511_627_776),
    ("KB", 1e3), ("MB", 1e6), ("GB", 1e9), ("TB", 1e12), ("B", 1), ("", 1),
]

private func byteCount(_ text: String) -> Int? {
    for (suffix, factor) in byteUnits where text.lowercased().hasSuffix(suffix.lowercased()) {
        var digits = text.dropLast(suffix.count)
        if digits.hasSuffix(" ") { digits = digits.dropLast() }
        guard digits.utf8.allSatisfy({ ($0 >= 0x30 && $0 <= 0x39) || $0 == 0x2E }),
            let number = Double(digits)
        else { return nil }
        return Int(exactly: (number * factor).rounded())
    }
    return nil
}
