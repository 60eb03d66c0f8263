/// The formats that can be checked.
package enum Formats {
    private typealias Check = @Sendable ([UInt8]) -> Bool

    private static let checks: [String: (what: String, check: Check)] = [
        "date-time": ("a date and time like 2026-01-31T12:00:00Z", TimeFormats.isDateTime),
        "date": ("a date like 2026-01-31", { TimeFormats.isDate($0[...]) }),
        "time": ("a time like 12:00:00Z", { TimeFormats.isTime($0[...]) }),
        "duration": ("a duration like P1DT12H", TimeFormats.isDuration),
        "email": ("an e-mail address", { NetworkFormats.isEmail($0, allowsUTF8: false) }),
        "idn-email": ("an e-mail address", { NetworkFormats.isEmail($0, allowsUTF8: true) }),
        "hostname": ("a host name", { NetworkFormats.isHostname($0[...]) }),
        "ipv4": ("an IPv4 address like 192.0.2.1", { NetworkFormats.isIPv4($0[...]) }),
        "ipv6": ("an IPv6 address like 2001:db8::1", { NetworkFormats.isIPv6($0[...]) }),
        "uri": ("a URI with its scheme", { URIFormats.isURI($0, allowsUTF8: false, isRelative: false) }),
        "uri-reference": ("a URI reference", { URIFormats.isURI($0, allowsUTF8: false, isRelative: true) }),
        "iri": ("an IRI with its scheme", { URIFormats.isURI($0, allowsUTF8: true, isRelative: false) }),
        "iri-reference": ("an IRI reference", { URIFormats.isURI($0, allowsUTF8: true, isRelative: true) }),
        "uri-template": ("a URI template", URIFormats.isTemplate),
        "uuid": ("a UUID", PlainFormats.isUUID),
        "json-pointer": ("a JSON pointer", PlainFormats.isJSONPointer),
        "relative-json-pointer": ("a relative JSON pointer", PlainFormats.isRelativeJSONPointer),
        "regex": ("a regular expression", { RegexParser.isWellFormed(String(decoding: $0, as: UTF8.self)) }),
    ]

    package static let names: Set<String> = Set(checks.keys)

    /// - Returns: nil if the text has the format, or the format is not known; otherwise what it should be.
    static func expectation(_ format: String, _ text: String) -> String? {
        guard let (what, check) = checks[format], !check(Array(text.utf8)) else { return nil }
        return what
    }
}

extension UInt8 {
    var isDigit: Bool { 0x30...0x39 ~= self }
    var isLetter: Bool { 0x61...0x7A ~= self | 0x20 }
    var isHexDigit: Bool { isDigit || 0x61...0x66 ~= self | 0x20 }

    func isOne(of characters: StaticString) -> Bool {
        characters.withUTF8Buffer { $0.contains(self) }
    }
}
