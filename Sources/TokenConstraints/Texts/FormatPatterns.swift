import JSONSchema
import Synchronization

/// Formats as regular expressions. Each takes all usual texts, and none that `Formats` does not take.
enum FormatPatterns {
    /// The pattern, and the most scalars that such a text may have.
    private static let patterns: [String: (pattern: String, maxLength: Int?)] = [
        "date": (date, nil),
        "time": (time, nil),
        "date-time": ("(?:\(date))[Tt](?:\(time))", nil),
        "duration": (duration, nil),
        "hostname": (hostname(other: ""), 253),
        // A whole address of at most 254 leaves no host name that is too long.
        "email": (#"\#(mailbox(other: ""))@(?:\#(hostname(other: ""))|\[\#(ipv4)\])"#, 254),
        "idn-email": (
            #"\#(mailbox(other: otherLetters))@(?:\#(hostname(other: otherLetters))|\[\#(ipv4)\])"#, 254
        ),
        "ipv4": (ipv4, nil),
        "ipv6": (ipv6, nil),
        "uri": (uri(other: ""), nil),
        "uri-reference": ("\(uri(other: ""))|\(relative(other: ""))", nil),
        "iri": (uri(other: otherLetters), nil),
        "iri-reference": ("\(uri(other: otherLetters))|\(relative(other: otherLetters))", nil),
        "uri-template": (template, nil),
        "uuid": ("[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}", nil),
        "json-pointer": (pointer, nil),
        "relative-json-pointer": (#"(?:0|[1-9]\d*)(?:[+-](?:0|[1-9]\d*))?(?:#|\#(pointer))"#, nil),
    ]

    static let names: Set<String> = Set(patterns.keys)

    private static let known = Mutex<[String: ByteMachine]>([:])

    /// The expression for a whole text; nil for a format that no expression tells.
    static func node(_ format: String) -> (node: RegexNode, maxLength: Int?)? {
        guard let (pattern, maxLength) = patterns[format],
            let node = try? RegexParser.parse("^(?:\(pattern))$")
        else { return nil }
        return (node, maxLength)
    }

    /// The automaton for a format alone. Made once.
    static func machine(_ format: String) -> (machine: ByteMachine, maxLength: Int?)? {
        guard let (node, maxLength) = node(format) else { return nil }
        if let machine = known.withLock({ $0[format] }) { return (machine, maxLength) }
        guard let program = try? RegexProgram([node]) else { return nil }
        let alphabet = ScalarAlphabet(program.classifier, .json)
        let isUsable = alphabet.fewestBytes(classCount: program.classifier.classCount).map { $0 > 0 }
        guard let automaton = Determinizer.automaton(program, 0, isUsable: isUsable),
            let machine = ByteMachine(automaton, alphabet)
        else { return nil }
        known.withLock { $0[format] = machine }
        return (machine, maxLength)
    }

    // MARK: Times (RFC 3339)

    private static let date =
        #"\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)"#
        + #"|02-(?:0[1-9]|1\d|2[0-8]))"#
        + #"|(?:\d\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29"#
    private static let time =
        #"(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,12})?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)"#
        + #"|23:59:60(?:\.\d{1,12})?[Zz]"#
    private static let duration =
        #"P(?:\d+W|(?:\d+Y(?:\d+M(?:\d+D)?)?|\d+M(?:\d+D)?|\d+D)(?:\#(durationOfDay))?|\#(durationOfDay))"#
    private static let durationOfDay = #"T(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S)"#

    // MARK: Hosts and mailboxes

    /// Letters beyond ASCII that stand for themselves wherever they are: no marks that join with their neighbours.
    private static let otherLetters =
        #"\u00A1-\u00AC\u00AE-\u02FF\u0370-\u0482\u048A-\u052F\u05D0-\u05EA\u0620-\u064A\u0904-\u0939\u0E01-\u0E30"#
        + #"\u1E00-\u1FFF\u3041-\u3096\u30A1-\u30FA\u3400-\u4DBF\u4E00-\u9FFF\uAC00-\uD7A3"#
        + #"\u{1F300}-\u{1F3FA}\u{1F400}-\u{1F64F}\u{20000}-\u{2A6DF}"#

    /// No label has hyphens at its ends, or two of them third and fourth, but for `xn--`.
    private static func hostname(other: String) -> String {
        let end = "[A-Za-z0-9\(other)]"
        let inner = "[A-Za-z0-9\(other)-]"
        let plain = "\(end)(?:\(inner){0,2}\(end)|\(inner)(?:\(end)\(inner)|-\(end))\(inner){0,58}\(end))?"
        let label = "(?:\(plain)|[xX][nN]--\(inner){0,58}\(end))"
        return "\(label)(?:\\.\(label))*"
    }

    private static func mailbox(other: String) -> String {
        let atom = "[A-Za-z0-9!#$%&'*+\\-/=?^_`{|}~\(other)]+"
        return "\(atom)(?:\\.\(atom))*"
    }

    private static let byte = #"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"#
    private static let ipv4 = #"\#(byte)(?:\.\#(byte)){3}"#
    /// RFC 3986, section 3.2.2, `IPv6address`.
    private static let ipv6: String = {
        let group = "[0-9A-Fa-f]{1,4}"
        let last = "(?:\(group):\(group)|\(ipv4))"
        var ways = ["(?:\(group):){6}\(last)"]
        // The gap after `before` groups: so many may follow, of which the last two may be an IPv4 address.
        for before in 0...7 {
            let head = before == 0 ? ":" : "(?:\(group):){\(before)}"
            let rest = 7 - before
            ways.append("\(head):")
            if rest >= 1 { ways.append("\(head):\(group)") }
            if rest >= 2 { ways.append("\(head):(?:\(group):){0,\(rest - 2)}\(last)") }
        }
        return "(?:\(ways.joined(separator: "|")))"
    }()

    // MARK: URIs (RFC 3986)

    private static let escape = "%[0-9A-Fa-f]{2}"
    private static let plain = #"A-Za-z0-9\-._~!$&'()*+,;="#

    private static func authority(_ other: String) -> String {
        "(?:(?:[\(plain):\(other)]|\(escape))*@)?(?:(?:[\(plain)\(other)]|\(escape))*|\\[\(literal)\\])(?::\\d*)?"
    }

    /// IPv6 addresses with all groups, or with a gap between at most four and at most three: all of them would make
    /// this ten times as large.
    private static let literal: String = {
        let group = "[0-9A-Fa-f]{1,4}"
        return "(?:(?:\(group):){7}\(group)|(?:\(group)(?::\(group)){0,3})?::(?:\(group)(?::\(group)){0,2})?)"
    }()

    private static func tail(_ other: String) -> String {
        let character = "(?:[\(plain):@/?\(other)]|\(escape))"
        return "(?:\\?\(character)*)?(?:#\(character)*)?"
    }

    private static func path(_ other: String) -> String { "(?:[\(plain):@/\(other)]|\(escape))*" }

    private static func hierarchy(_ other: String, first: String) -> String {
        let start = "(?:[\(plain)\(first)\(other)]|\(escape))"
        let rest = first == ":@" ? path(other) : "\(start)*(?:/\(path(other)))?"
        let absolute = "/(?:(?:[\(plain):@\(other)]|\(escape))\(path(other)))?"
        return "(?://\(authority(other))(?:/\(path(other)))?|\(absolute)|\(start)\(rest))?"
    }

    private static func uri(other: String) -> String {
        "[A-Za-z][A-Za-z0-9+.\\-]*:\(hierarchy(other, first: ":@"))\(tail(other))"
    }

    /// Its first segment has no colon.
    private static func relative(other: String) -> String { "\(hierarchy(other, first: "@"))\(tail(other))" }

    private static let template: String = {
        let variable = #"[A-Za-z0-9_]+(?:\.[A-Za-z0-9_]+)*(?:\*|:[1-9]\d{0,3})?"#
        let expression = #"\{[+#./;?&]?\#(variable)(?:,\#(variable))*\}"#
        return "(?:[\(plain):@/?#\\[\\]]|\(escape)|\(expression))*"
    }()

    // MARK: JSON pointers (RFC 6901)

    private static let pointer = "(?:/(?:[^~/]|~[01])*)*"
}
