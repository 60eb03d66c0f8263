import JSON

/// Reads tokens into statements and expressions; this file has what both need.
struct TemplateParser {
    let tokens: [TemplateToken]
    let limits: TemplateLimits
    var at = 0
    private(set) var names: [String] = []
    private var symbols: [ExactText: Int] = [:]
    private var nesting = 0
    /// Loops around the current tag that `break` can leave.
    var loops = 0
    var macros = 0
    var assigned: Set<Int> = []
    /// The names that are read, and those that are called.
    private var reads: Set<Int> = []
    private var calls: [(symbol: Int, line: Int)] = []
    /// Members of variables that are read: the names that lead to each, the variable's first.
    private var members: Set<[String]> = []

    init(_ tokens: [TemplateToken], limits: TemplateLimits) {
        self.tokens = tokens
        self.limits = limits
    }

    // MARK: Tokens and names

    // These are not inlined, nor are most of the functions that recurse: the parser's depth is bounded by a
    // count, and small stack frames make that count worth something on threads with small stacks.

    var current: TemplateToken {
        @inline(never) get { tokens[at] }
    }

    var following: TemplateToken { tokens[min(at + 1, tokens.count - 1)] }

    var currentLine: Int {
        @inline(never) get { tokens[at].line }
    }

    @inline(never)
    mutating func advance() { at = min(at + 1, tokens.count - 1) }

    @inline(never)
    func isName(_ name: String) -> Bool { current.kind == .name(name) }
    @inline(never)
    func isSign(_ sign: String) -> Bool { current.kind == .sign(sign) }

    @inline(never)
    mutating func skip(name: String) -> Bool {
        guard isName(name) else { return false }
        advance()
        return true
    }

    @inline(never)
    mutating func skip(sign: String) -> Bool {
        guard isSign(sign) else { return false }
        advance()
        return true
    }

    @inline(never)
    mutating func expect(sign: String) throws {
        guard skip(sign: sign) else { throw unexpected("'\(sign)'") }
    }

    @inline(never)
    mutating func expect(_ kind: TemplateToken.Kind, _ spelling: String) throws {
        guard current.kind == kind else { throw unexpected(spelling) }
        advance()
    }

    @inline(never)
    mutating func expectName() throws -> String {
        guard case .name(let name) = current.kind else { throw unexpected("a name") }
        advance()
        return name
    }

    @inline(never)
    func malformed(_ message: String, _ line: Int? = nil) -> TemplateFault {
        TemplateFault(kind: .malformed, line: line ?? currentLine, message: message)
    }

    @inline(never)
    func unsupported(_ message: String, _ line: Int? = nil) -> TemplateFault {
        TemplateFault(kind: .unsupported, line: line ?? currentLine, message: message)
    }

    @inline(never)
    func unexpected(_ wanted: String) -> TemplateFault {
        malformed("\(current.spelling) stands where \(wanted) should")
    }

    mutating func symbol(_ name: String) -> Int {
        if let known = symbols[ExactText(name)] { return known }
        names.append(name)
        symbols[ExactText(name)] = names.count - 1
        return names.count - 1
    }

    mutating func noteRead(_ symbol: Int, line: Int) {
        reads.insert(symbol)
        if macros > 0, names[symbol] == "varargs" || names[symbol] == "kwargs" {
            calls.append((symbol, line))
        }
    }

    mutating func noteCall(_ symbol: Int, line: Int) { calls.append((symbol, line)) }

    /// Takes note of the member that an expression begins with, such as `question.text` in `question.text.upper()`.
    @inline(never)
    mutating func noteMember(in expression: Expression) {
        var names: [String] = []
        var part = expression
        while true {
            switch part.kind {
            case .name(let symbol):
                if !names.isEmpty { members.insert([self.names[symbol]] + names.reversed()) }
                return
            case .attribute(let base, let name):
                // A dict's method goes before its member.
                if MethodName(rawValue: name)?.isOfDicts == true { names = [] } else { names.append(name) }
                part = base
            case .item(let base, let key):
                if case .string(let name) = key.kind { names.append(name) } else { names = [] }
                part = base
            case .call(let callee, _):
                guard case .attribute(let base, _) = callee.kind else { return }
                (names, part) = ([], base)
            case .slice(let base, _, _, _): (names, part) = ([], base)
            default: return
            }
        }
    }

    /// The members that are read of these variables.
    func members(of variables: Set<String>) -> Set<[String]> { members.filter { variables.contains($0[0]) } }

    /// Runs `body` one level deeper, within the limit.
    mutating func nested<T>(_ body: (inout Self) throws -> T) throws -> T {
        nesting += 1
        defer { nesting -= 1 }
        guard nesting <= limits.nesting else {
            throw unsupported("the template is nested more than \(limits.nesting) levels deep")
        }
        return try body(&self)
    }

    /// Refuses calls of what is no function here.
    /// - Returns: The names read and never assigned, functions aside.
    func checkNames() throws -> Set<String> {
        for (symbol, line) in calls where !assigned.contains(symbol) {
            let name = names[symbol]
            if let reason = refusedNames[name] { throw unsupported(reason, line) }
            switch name {
            case "loop": throw unsupported("recursive loops ('loop(...)') are not supported", line)
            case "varargs", "kwargs":
                throw unsupported("a macro's '\(name)' is not supported", line)
            default:
                if FunctionName(rawValue: name) == nil {
                    throw unsupported("the function '\(name)' is not supported", line)
                }
            }
        }
        let called = Set(calls.map(\.symbol))
        return Set(
            reads.filter { !assigned.contains($0) && !called.contains($0) }.map { names[$0] }
                .filter { $0 != "loop" })
    }
}
