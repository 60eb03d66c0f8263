/// Dates and times by RFC 3339.
enum TimeFormats {
    static func isDateTime(_ text: [UInt8]) -> Bool {
        text.count > 11 && text[10].isOne(of: "Tt") && isDate(text[..<10]) && isTime(text[11...])
    }

    static func isDate(_ text: ArraySlice<UInt8>) -> Bool {
        let parts = text.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.count == 3, let year = number(parts[0], digits: 4),
            let month = number(parts[1], digits: 2),
            let day = number(parts[2], digits: 2), 1...12 ~= month, day >= 1
        else { return false }
        let isLeapYear = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        switch month {
        case 2: return day <= (isLeapYear ? 29 : 28)
        case 4, 6, 9, 11: return day <= 30
        default: return day <= 31
        }
    }

    static func isTime(_ text: ArraySlice<UInt8>) -> Bool {
        var rest = text
        guard let hour = twoDigits(&rest, upTo: 23), take(&rest, ":"),
            let minute = twoDigits(&rest, upTo: 59),
            take(&rest, ":"), let second = twoDigits(&rest, upTo: 60)
        else { return false }
        if take(&rest, ".") {
            guard rest.first?.isDigit ?? false else { return false }
            rest = rest.drop { $0.isDigit }
        }
        var offset = 0
        if !take(&rest, "Zz") {
            let isNegative = rest.first == UInt8(ascii: "-")
            guard take(&rest, "+-"), let hours = twoDigits(&rest, upTo: 23), take(&rest, ":"),
                let minutes = twoDigits(&rest, upTo: 59)
            else { return false }
            offset = (hours * 60 + minutes) * (isNegative ? -1 : 1)
        }
        // A leap second is the last one of a day in UTC.
        let minuteInUTC = ((hour * 60 + minute - offset) % 1440 + 1440) % 1440
        return rest.isEmpty && (second < 60 || minuteInUTC == 1439)
    }

    /// RFC 3339, appendix A.
    static func isDuration(_ text: [UInt8]) -> Bool {
        var rest = text[...]
        guard take(&rest, "P"), !rest.isEmpty else { return false }
        if let unit = rest.last, unit == UInt8(ascii: "W") {
            return rest.count > 1 && rest.dropLast().allSatisfy(\.isDigit)
        }
        guard let hasDate = units(&rest, "YMD") else { return false }
        guard !rest.isEmpty else { return hasDate }
        return take(&rest, "T") && units(&rest, "HMS") == true && rest.isEmpty
    }

    /// Takes numbers with units that follow each other without a gap.
    /// - Returns: whether there was one; nil if they are not in order.
    private static func units(_ rest: inout ArraySlice<UInt8>, _ order: String) -> Bool? {
        let order = Array(order.utf8)
        var last: Int?
        while let first = rest.first, first.isDigit {
            rest = rest.drop { $0.isDigit }
            guard let unit = rest.popFirst(), let place = order.firstIndex(of: unit),
                last.map({ place == $0 + 1 }) ?? true
            else { return nil }
            last = place
        }
        return last != nil
    }

    private static func number(_ text: ArraySlice<UInt8>, digits: Int) -> Int? {
        guard text.count == digits, text.allSatisfy(\.isDigit) else { return nil }
        return text.reduce(0) { $0 * 10 + Int($1 & 15) }
    }

    private static func twoDigits(_ rest: inout ArraySlice<UInt8>, upTo limit: Int) -> Int? {
        guard let value = number(rest.prefix(2), digits: 2), value <= limit else { return nil }
        rest = rest.dropFirst(2)
        return value
    }

    private static func take(_ rest: inout ArraySlice<UInt8>, _ any: StaticString) -> Bool {
        guard let first = rest.first, first.isOne(of: any) else { return false }
        rest = rest.dropFirst()
        return true
    }
}
