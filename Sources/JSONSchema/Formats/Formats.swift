import FoundationShim
import Regex

/// The formats that can be checked.
package enum Formats {
    private static let descriptions = [
        "date-time": "a date and time like 2026-01-31T12:00:00Z",
        "date": "a date like 2026-01-31",
        "time": "a time like 12:00:00Z",
        "duration": "a duration like P1DT12H",
        "email": "an e-mail address",
        "idn-email": "an e-mail address",
        "hostname": "a host name",
        "ipv4": "an IPv4 address like 192.0.2.1",
        "ipv6": "an IPv6 address like 2001:db8::1",
        "uri": "a URI with its scheme",
        "uri-reference": "a URI reference",
        "iri": "an IRI with its scheme",
        "iri-reference": "an IRI reference",
        "uri-template": "a URI template",
        "uuid": "a UUID",
        "json-pointer": "a JSON pointer",
        "relative-json-pointer": "a relative JSON pointer",
        "regex": "a regular expression",
    ]
    private static let known = Mutex<[String: ECMARegex]>([:])

    package static let names = Set(descriptions.keys)

    /// - Returns: nil if the text has the format, or the format is unknown; otherwise a description of the format.
    static func expectation(_ format: String, _ text: String) -> String? {
        guard let what = descriptions[format] else { return nil }
        let isRight =
            switch format {
            case "regex": RegexParser.isWellFormed(text)
            case "time": matches(text, format) && isLeapSecond(text.utf8[...])
            case "date-time": matches(text, format) && isLeapSecond(text.utf8.dropFirst(11))
            case "hostname", "email", "idn-email": matches(text, format) && hasShortHost(text.utf8)
            default: matches(text, format)
            }
        return isRight ? nil : what
    }

    private static func matches(_ text: String, _ format: String) -> Bool {
        let regex = known.withLock { known in
            if known[format] == nil {
                known[format] = FormatSyntax.patterns[format].flatMap { try? ECMARegex($0, isWhole: true) }
            }
            return known[format]
        }
        var budget = Int.max
        return regex?.matches(text, budget: &budget) ?? false
    }

    /// Whether a second 60 is the last one of a day in UTC; true for other seconds.
    private static func isLeapSecond(_ time: Substring.UTF8View) -> Bool {
        let time = Array(time)
        func number(_ i: Int) -> Int { Int(time[i] & 15) * 10 + Int(time[i + 1] & 15) }
        guard number(6) == 60 else { return true }
        var minute = number(0) * 60 + number(3)
        if time.last.map({ $0 | 0x20 }) != UInt8(ascii: "z") {
            let offset = number(time.count - 5) * 60 + number(time.count - 2)
            minute += time[time.count - 6] == UInt8(ascii: "-") ? offset : -offset
        }
        return (minute + 1440) % 1440 == 1439
    }

    /// Whether the name of the host, if ASCII, is short enough for the domain name system.
    private static func hasShortHost(_ text: String.UTF8View) -> Bool {
        let host = text.split(separator: UInt8(ascii: "@")).last ?? text[...]
        return host.count <= 253 || host.contains { $0 >= 0x80 }
    }
}
