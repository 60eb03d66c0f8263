import JSONSchema
import OperatingSystem
import Regex

/// Formats as regular expressions. Each accepts all usual texts, and none that `Formats` refuses.
enum FormatPatterns {
    /// Usual texts where `FormatSyntax` has more: fewer letters beyond ASCII, no quotes, no rare addresses.
    private static let usual: [String: String] = [
        "time": time,
        "date-time": "(?:\(FormatSyntax.date))[Tt](?:\(time))",
        "email": mail(other: ""),
        "idn-email": mail(other: otherLetters),
        "uri": FormatSyntax.uri(other: "", address: address),
        "uri-reference": FormatSyntax.reference(other: "", address: address),
        "iri": FormatSyntax.uri(other: otherLetters, address: address),
        "iri-reference": FormatSyntax.reference(other: otherLetters, address: address),
        "uri-template": template,
    ]
    private static let patterns = FormatSyntax.patterns.merging(usual) { $1 }
    /// Scalars of a text. An address of at most 254 has no host name that is too long.
    private static let maxLengths = ["hostname": 253, "email": 254, "idn-email": 254]

    static let names: Set<String> = Set(patterns.keys)

    private static let known = Mutex<[String: ByteMachine]>([:])

    /// The expression for a whole text; nil for a format that needs more.
    static func node(_ format: String) -> (node: RegexNode, maxLength: Int?)? {
        patterns[format].flatMap { try? RegexParser.parse("^(?:\($0))$") }.map { ($0, maxLengths[format]) }
    }

    /// The automaton for a format alone. Made once.
    static func machine(_ format: String) -> (machine: ByteMachine, maxLength: Int?)? {
        guard let (node, maxLength) = node(format) else { return nil }
        if let machine = known.withLock({ $0[format] }) { return (machine, maxLength) }
        guard let program = try? RegexProgram([node]) else { return nil }
        let alphabet = ScalarAlphabet(program.classifier, .json)
        let isUsable = alphabet.fewestBytes(classCount: program.classifier.classCount).map { $0 > 0 }
        guard let automaton = ScalarAutomaton(program, 0, isUsable: isUsable, CompileEffort()),
            let machine = ByteMachine(automaton, alphabet)
        else { return nil }
        known.withLock { $0[format] = machine }
        return (machine, maxLength)
    }

    private static let time =
        #"(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,12})?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)"#
        + #"|23:59:60(?:\.\d{1,12})?[Zz]"#

    /// Letters beyond ASCII that stand alone everywhere: no marks that join with their neighbours.
    private static let otherLetters =
        #"\u00A1-\u00AC\u00AE-\u02FF\u0370-\u0482\u048A-\u052F\u05D0-\u05EA\u0620-\u064A\u0904-\u0939\u0E01-\u0E30"#
        + #"\u1E00-\u1FFF\u3041-\u3096\u30A1-\u30FA\u3400-\u4DBF\u4E00-\u9FFF\uAC00-\uD7A3"#
        + #"\u{1F300}-\u{1F3FA}\u{1F400}-\u{1F64F}\u{20000}-\u{2A6DF}"#

    private static func mail(other: String) -> String {
        let host = "(?:\(FormatSyntax.hostname(other: other))|\\[\(FormatSyntax.ipv4)\\])"
        return "\(FormatSyntax.dotted(other: other))@\(host)"
    }

    /// IPv6 addresses with all groups, or with a gap between at most four and at most three: all would make it ten
    /// times as large.
    private static let address: String = {
        let group = "[0-9A-Fa-f]{1,4}"
        return "(?:(?:\(group):){7}\(group)|(?:\(group)(?::\(group)){0,3})?::(?:\(group)(?::\(group)){0,2})?)"
    }()

    private static let template: String = {
        let variable = #"[A-Za-z0-9_]+(?:\.[A-Za-z0-9_]+)*(?:\*|:[1-9]\d{0,3})?"#
        let expression = #"\{[+#./;?&]?\#(variable)(?:,\#(variable))*\}"#
        return "(?:[\(FormatSyntax.plain):@/?#\\[\\]]|\(FormatSyntax.escape)|\(expression))*"
    }()
}
