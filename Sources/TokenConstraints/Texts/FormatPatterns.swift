import JSONSchema
import Regex

/// Formats as regular expressions. Each accepts all usual texts, and none that `Formats` refuses.
enum FormatPatterns {
    /// Usual texts where `FormatSyntax` has more: no quotes, no rare addresses.
    private static let usual: [String: String] = [
        "time": time,
        "date-time": "(?:\(FormatSyntax.date))[Tt](?:\(time))",
        "email":
            "\(FormatSyntax.dotted(other: ""))@(?:\(FormatSyntax.hostname(other: ""))|\\[\(FormatSyntax.ipv4)\\])",
        "uri": FormatSyntax.uri(other: "", address: address),
    ]
    /// Rare formats with large automata.
    private static let validated: Set = [
        "idn-email", "iri", "iri-reference", "uri-reference", "uri-template",
    ]
    private static let patterns = FormatSyntax.patterns.filter { !validated.contains($0.key) }
        .merging(usual) { $1 }
    /// Scalars of a text. A whole address of at most 254 leaves no host name that is too long.
    private static let maxLengths = ["hostname": 253, "email": 254]

    static let names: Set<String> = Set(patterns.keys)

    private static let machines = Memo<String, ByteMachine?>()

    /// The expression for a whole text; nil for a format that needs more.
    static func node(_ format: String) -> (node: RegexNode, maxLength: Int?)? {
        patterns[format].flatMap { try? RegexParser.parse("^(?:\($0))$") }.map { ($0, maxLengths[format]) }
    }

    /// The automaton for a format alone. Made once.
    static func machine(_ format: String) -> (machine: ByteMachine, maxLength: Int?)? {
        let machine = machines.value(of: format) {
            guard let node = node(format)?.node, let program = try? RegexProgram([node]) else { return nil }
            let alphabet = ScalarAlphabet(program.classifier, .json)
            return ScalarAutomaton(program, 0, isUsable: alphabet.isUsable, CompileEffort())
                .flatMap { ByteMachine($0, alphabet) }
        }
        return machine.map { ($0, maxLengths[format]) }
    }

    private static let time =
        #"(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,12})?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)"#
        + #"|23:59:60(?:\.\d{1,12})?[Zz]"#

    /// IPv6 addresses with all groups, or with a gap between at most four and at most three: all of them would make
    /// this ten times as large.
    private static let address: String = {
        let group = "[0-9A-Fa-f]{1,4}"
        return "(?:(?:\(group):){7}\(group)|(?:\(group)(?::\(group)){0,3})?::(?:\(group)(?::\(group)){0,2})?)"
    }()
}
