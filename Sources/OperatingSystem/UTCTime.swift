import FoundationShim

/// Time in UTC, to the second, such as `2026-11-23T06:40:12Z`. Needs neither memory nor locks, so signal handlers can
/// write it.
package struct UTCTime {
    package static let length = 20

    private let year: Int
    private let month: Int
    private let day: Int
    private let secondOfDay: Int

    /// - Parameter seconds: since 1970.
    package init(seconds: Int) {
        let days = (seconds >= 0 ? seconds : seconds - 86_399) / 86_400
        secondOfDay = seconds - days * 86_400
        // Counted from 1 March of year 0, so that a leap day ends its year; eras of 400 years are alike.
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let fromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * fromMarch + 2) / 5 + 1
        month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// - Parameter bytes: `length` of them.
    package func write(to bytes: UnsafeMutableRawBufferPointer) {
        Self.write(year, 0..<4, UInt8(ascii: "-"), to: bytes)
        Self.write(month, 5..<7, UInt8(ascii: "-"), to: bytes)
        Self.write(day, 8..<10, UInt8(ascii: "T"), to: bytes)
        Self.write(secondOfDay / 3600, 11..<13, UInt8(ascii: ":"), to: bytes)
        Self.write(secondOfDay / 60 % 60, 14..<16, UInt8(ascii: ":"), to: bytes)
        Self.write(secondOfDay % 60, 17..<19, UInt8(ascii: "Z"), to: bytes)
    }

    /// Writes digits and a separator. Not a closure, which would allocate, as a signal may interrupt malloc.
    private static func write(
        _ value: Int, _ range: Range<Int>, _ end: UInt8, to bytes: UnsafeMutableRawBufferPointer
    ) {
        var rest = value
        for index in range.reversed() {
            bytes[index] = UInt8(ascii: "0") + UInt8(rest % 10)
            rest /= 10
        }
        bytes[range.upperBound] = end
    }

    package var text: String {
        withUnsafeTemporaryAllocation(byteCount: Self.length, alignment: 1) { bytes in
            write(to: bytes)
            return String(decoding: bytes, as: UTF8.self)
        }
    }
}
