/// Regular expressions for whole texts of a format. `other` is characters beyond ASCII, as in a class.
package enum FormatSyntax {
    /// Expressions that match exactly the texts of a format, apart from leap seconds and the length of host names.
    package static let patterns: [String: String] = [
        "date": date,
        "time": time,
        "date-time": "(?:\(date))[Tt](?:\(time))",
        "duration": duration,
        "hostname": hostname(other: ""),
        "email": "\(mailbox(other: ""))@(?:\(hostname(other: ""))|\(address))",
        "idn-email": "\(mailbox(other: beyondASCII))@(?:\(hostname(other: ""))|\(foreignHost)|\(address))",
        "ipv4": ipv4,
        "ipv6": ipv6,
        "uri": uri(other: "", address: literal),
        "uri-reference": reference(other: "", address: literal),
        "iri": uri(other: beyondASCII, address: literal),
        "iri-reference": reference(other: beyondASCII, address: literal),
        "uri-template": template,
        "uuid": "[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}",
        "json-pointer": pointer,
        "relative-json-pointer": #"(?:0|[1-9]\d*)(?:[+-](?:0|[1-9]\d*))?(?:#|\#(pointer))"#,
    ]

    private static let beyondASCII = #"\u0080-\u{10FFFF}"#

    // MARK: Dates and times (RFC 3339)

    package static let date =
        #"\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)"#
        + #"|02-(?:0[1-9]|1\d|2[0-8]))"#
        + #"|(?:\d\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29"#
    private static let time =
        #"(?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)"#
    private static let duration =
        #"P(?:\d+W|(?:\d+Y(?:\d+M(?:\d+D)?)?|\d+M(?:\d+D)?|\d+D)(?:\#(durationOfDay))?|\#(durationOfDay))"#
    private static let durationOfDay = #"T(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S)"#

    // MARK: Hosts and mailboxes

    /// RFC 1123, section 2.1. No label has hyphens at its ends, or as third and fourth characters (RFC 5891, section
    /// 4.2.3.1), except `xn--`; the content of such a label is not checked.
    package static func hostname(other: String) -> String {
        let end = "[A-Za-z0-9\(other)]"
        let inner = "[A-Za-z0-9\(other)-]"
        let plain = "\(end)(?:\(inner){0,2}\(end)|\(inner)(?:\(end)\(inner)|-\(end))\(inner){0,58}\(end))?"
        let label = "(?:\(plain)|[xX][nN]--\(inner){0,58}\(end))"
        return "\(label)(?:\\.\(label))*"
    }

    /// Labels of any length and any letters, at least one of them beyond ASCII.
    private static let foreignHost: String = {
        let letter = "[A-Za-z0-9\(beyondASCII)-]"
        return #"(?:\#(letter)+\.)*\#(letter)*[\#(beyondASCII)]\#(letter)*(?:\.\#(letter)+)*"#
    }()

    /// RFC 5321, section 4.1.2, without quotes.
    package static func dotted(other: String) -> String {
        let atom = "[A-Za-z0-9!#$%&'*+\\-/=?^_`{|}~\(other)]+"
        return "\(atom)(?:\\.\(atom))*"
    }

    private static func mailbox(other: String) -> String {
        #"(?:\#(dotted(other: other))|"(?:[ !#-\[\]-~\#(other)]|\\[ -~\#(other)])*")"#
    }

    private static let address = #"\[(?:IPv6:\#(ipv6)|\#(ipv4))\]"#

    private static let byte = #"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"#
    package static let ipv4 = #"\#(byte)(?:\.\#(byte)){3}"#
    /// RFC 3986, section 3.2.2, `IPv6address`.
    private static let ipv6: String = {
        let group = "[0-9A-Fa-f]{1,4}"
        let last = "(?:\(group):\(group)|\(ipv4))"
        var ways = ["(?:\(group):){6}\(last)"]
        // After `before` groups and the gap, so many may follow, of which the last two may be an IPv4 address.
        for before in 0...7 {
            let head = before == 0 ? ":" : "(?:\(group):){\(before)}"
            let rest = 7 - before
            ways.append("\(head):")
            if rest >= 1 { ways.append("\(head):\(group)") }
            if rest >= 2 { ways.append("\(head):(?:\(group):){0,\(rest - 2)}\(last)") }
        }
        return "(?:\(ways.joined(separator: "|")))"
    }()

    // MARK: URIs (RFC 3986), IRIs (RFC 3987) and templates (RFC 6570)

    package static let escape = "%[0-9A-Fa-f]{2}"
    package static let plain = #"A-Za-z0-9\-._~!$&'()*+,;="#
    private static let literal = #"(?:\#(ipv6)|[vV][0-9A-Fa-f]+\.[\#(plain):]+)"#

    private static func authority(_ other: String, _ address: String) -> String {
        "(?:(?:[\(plain):\(other)]|\(escape))*@)?(?:(?:[\(plain)\(other)]|\(escape))*|\\[\(address)\\])(?::\\d*)?"
    }

    private static func tail(_ other: String) -> String {
        let character = "(?:[\(plain):@/?\(other)]|\(escape))"
        return "(?:\\?\(character)*)?(?:#\(character)*)?"
    }

    private static func path(_ other: String) -> String { "(?:[\(plain):@/\(other)]|\(escape))*" }

    private static func hierarchy(_ other: String, _ address: String, first: String) -> String {
        let start = "(?:[\(plain)\(first)\(other)]|\(escape))"
        let rest = first == ":@" ? path(other) : "\(start)*(?:/\(path(other)))?"
        let absolute = "/(?:(?:[\(plain):@\(other)]|\(escape))\(path(other)))?"
        return "(?://\(authority(other, address))(?:/\(path(other)))?|\(absolute)|\(start)\(rest))?"
    }

    /// - Parameter address: the alternative to a host's name, in brackets.
    package static func uri(other: String, address: String) -> String {
        "[A-Za-z][A-Za-z0-9+.\\-]*:\(hierarchy(other, address, first: ":@"))\(tail(other))"
    }

    /// A URI, or one without a scheme, whose first segment has no colon.
    package static func reference(other: String, address: String) -> String {
        "\(uri(other: other, address: address))|\(hierarchy(other, address, first: "@"))\(tail(other))"
    }

    private static let template: String = {
        let name = "[A-Za-z0-9_%]+"
        let variable = #"\#(name)(?:\.\#(name))*(?:\*|:[1-9]\d{0,3})?"#
        let expression = #"\{[+#./;?&=,!@|]?\#(variable)(?:,\#(variable))*\}"#
        return #"(?:[^\u0000- "<>\\^`{|}%\u007F]|\#(escape)|\#(expression))*"#
    }()

    // MARK: JSON pointers (RFC 6901)

    private static let pointer = "(?:/(?:[^~/]|~[01])*)*"
}
