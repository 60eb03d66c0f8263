import FoundationShim
import JSON

/// Runs a template once. Nothing of it outlives the call.
final class Evaluator {
    let program: TextTemplate
    let limits: TemplateLimits
    /// Fields of a line. If set, a missing value can only be tested, as by `if`: any other use, or printing a null, is
    /// an error.
    private let fields: [String: JSONValue]?
    var strict: Bool { fields != nil }
    /// The line being evaluated, for messages.
    var line = 1
    private(set) var steps = 0
    /// Part of `steps` that is due to the length of texts.
    private var textSteps = 0
    private var depth = 0
    private var output = ""
    private var scope: Scope
    /// Namespaces and scopes held by macros, which may form cycles, and chains too long to free by recursion; emptying
    /// each at the end resolves both.
    private var namespaces: [Namespace] = []
    private var macroScopes: [Scope] = []

    private enum Flow {
        case next
        case leaveLoop
        case nextRound
    }

    private init(_ program: TextTemplate, _ fields: [String: JSONValue]?) {
        (self.program, limits, self.fields) = (program, program.limits, fields)
        scope = Scope(parent: nil)
    }

    /// - Throws: `UserError` of kind `badRequest` for errors at run time.
    static func render(
        _ program: TextTemplate, fields: [String: JSONValue]?, context: (String) -> JSONValue?
    ) throws -> String {
        let evaluator = Evaluator(program, fields)
        defer { evaluator.release() }
        for (symbol, name) in program.names.enumerated() {
            guard let value = context(name) else { continue }
            evaluator.scope.variables[symbol] = try evaluator.convert(value, depth: 1)
        }
        evaluator.scope = Scope(parent: evaluator.scope)
        _ = try evaluator.run(program.body)
        return evaluator.output
    }

    private func release() {
        for namespace in namespaces { namespace.members = OrderedMembers() }
        for scope in macroScopes { scope.variables = [:] }
    }

    private func convert(_ value: JSONValue, depth: Int) throws -> Value {
        guard depth <= limits.valueDepth else { throw tooDeep() }
        switch value {
        case .null: return .none
        case .bool(let value): return .bool(value)
        case .int(let value): return .int(value)
        case .number(let number): return .written(number)
        case .string(var text):
            text.makeContiguousUTF8()
            return .string(text)
        case .array(let items):
            return .list(ListValue(try items.map { try convert($0, depth: depth + 1) }, .list))
        case .object(let members):
            var result = OrderedMembers()
            for member in members { result.set(member.name, try convert(member.value, depth: depth + 1)) }
            return .dict(DictValue(result))
        }
    }

    // MARK: Faults and limits

    func fault(_ message: String) -> any Error {
        templateFault(.badRequest, line: line, message)
    }

    private func tooDeep() -> any Error {
        fault("lists and dicts are nested more than \(limits.valueDepth) levels deep")
    }

    func spend(_ count: Int) throws {
        // Counts are sizes in memory, far from overflow.
        steps += count
        if steps > limits.steps {
            let reason =
                textSteps > steps / 2
                ? "nearly all for the length of its texts; the line's fields are too long for it"
                : "it seems to run without end"
            throw fault("the template takes more than \(limits.steps) steps, \(reason)")
        }
    }

    /// Counts the work of handling a text of so many bytes.
    func spend(bytes: Int, per step: Int) throws {
        textSteps += 1 + bytes / step
        try spend(1 + bytes / step)
    }

    /// Refuses a text of this size if it is too large.
    func checkText(_ bytes: Int) throws {
        guard bytes <= limits.textBytes else {
            throw fault("a text grows beyond \(limits.textBytes) bytes")
        }
    }

    func made(_ items: [Value], _ kind: ListValue.ListType = .list) throws -> Value {
        let list = ListValue(items, kind)
        guard list.depth <= limits.valueDepth else { throw tooDeep() }
        try spend(1 + 4 * items.count)
        return .list(list)
    }

    func made(_ members: OrderedMembers) throws -> Value {
        let dict = DictValue(members)
        guard dict.depth <= limits.valueDepth else { throw tooDeep() }
        try spend(1 + 8 * members.count)
        return .dict(dict)
    }

    /// Runs `body` one level deeper, within the limit.
    func deeper<T>(_ body: () throws -> T) throws -> T {
        depth += 1
        defer { depth -= 1 }
        guard depth <= limits.depth else {
            throw fault("the template calls itself or is nested more than \(limits.depth) levels deep")
        }
        try spend(1)
        return try body()
    }

    // MARK: Variables

    func variable(_ symbol: Int) -> Value {
        if let value = scope.lookup(symbol) { return value }
        let name = program.names[symbol]
        if Self.functions.contains(name) { return .callable }
        guard let fields else { return .undefined("'\(name)' is undefined") }
        let known = fields.isEmpty ? "" : "; it has \(Self.list(fields.keys))"
        return .undefined("line has no field \"\(name)\"\(known)")
    }

    private static func list(_ names: some Collection<String>) -> String {
        names.sorted().prefix(20).map { String($0.prefix(64)) }.joined(separator: ", ")
            + (names.count > 20 ? ", ..." : "")
    }

    func refuseNull() throws {
        let nulls = (fields ?? [:]).filter { $0.value == .null }.map(\.key)
        throw fault(
            "a null would be written as None (null is: \(nulls.isEmpty ? "part of a field" : Self.list(nulls))). Ask for "
                + "it ({% if note %}), or give a default ({{ note or 'nothing' }})")
    }

    /// Records a scope that a macro holds, and its outer scopes.
    private func remember(_ scope: Scope) {
        var next: Scope? = scope
        while let current = next, !current.isRemembered {
            current.isRemembered = true
            macroScopes.append(current)
            next = current.parent
        }
    }

    private func set(_ target: Target, _ value: Value) throws {
        guard let member = target.member else {
            scope.variables[target.symbol] = value
            return
        }
        guard case .namespace(let namespace) = variable(target.symbol) else {
            throw fault("'\(program.names[target.symbol])' is no namespace, so '.\(member)' can't be set")
        }
        try spend(4)
        namespace.members.set(member, value)
    }

    /// Assigns an element to a loop's variables.
    private func assign(_ targets: [Int], _ value: Value) throws {
        let items = targets.count == 1 ? [value] : try iterate(value)
        guard items.count == targets.count else {
            throw fault("\(targets.count) values are wanted, and \(items.count) are given")
        }
        for (symbol, item) in zip(targets, items) { scope.variables[symbol] = item }
    }

    // MARK: Statements

    private func write(_ text: String) throws {
        try checkText(output.utf8.count + text.utf8.count)
        try spend(bytes: text.utf8.count, per: 128)
        // The first text is not copied.
        if output.isEmpty { output = text } else { output += text }
    }

    private func run(_ statements: [Statement]) throws -> Flow {
        try deeper {
            for statement in statements {
                line = statement.line
                let flow = try run(statement)
                if flow != .next { return flow }
            }
            return .next
        }
    }

    private func run(_ statement: Statement) throws -> Flow {
        try spend(1)
        switch statement.kind {
        case .text(let text): try write(text)
        case .output(let expression): try write(try string(try evaluate(expression)))
        case .branch(let branches, let otherwise): return try run(branches, otherwise)
        case .loop(let loop): return try run(loop, line: statement.line)
        case .set(let target, let expression): try set(target, try evaluate(expression))
        case .setBlock(let target, let body):
            let (text, flow) = try capture(body)
            if flow != .next { return flow }
            try set(target, .string(text))
        case .macro(let definition):
            try spend(50)
            remember(scope)
            scope.variables[definition.name] = .macro(definition, scope)
        case .scope(let body): return try inScope(Scope(parent: scope)) { try run(body) }
        case .breakLoop: return .leaveLoop
        case .continueLoop: return .nextRound
        }
        return .next
    }

    private func run(
        _ branches: [(test: Expression, body: [Statement])], _ otherwise: [Statement]
    ) throws -> Flow {
        for branch in branches where try isTrue(try evaluate(branch.test)) { return try run(branch.body) }
        return try run(otherwise)
    }

    private func run(_ loop: ForLoop, line: Int) throws -> Flow {
        var items = try iterate(try evaluate(loop.items))
        if let condition = loop.condition {
            items = try items.filter { item in
                try inScope(Scope(parent: scope)) {
                    try assign(loop.targets, item)
                    return try isTrue(try evaluate(condition))
                }
            }
        }
        if items.isEmpty { return try run(loop.otherwise) }
        let state = LoopState(items)
        for (i, item) in items.enumerated() {
            try spend(4)
            self.line = line
            state.index = i
            let flow = try inScope(Scope(parent: scope)) {
                scope.variables[loop.loopSymbol] = .loop(state)
                try assign(loop.targets, item)
                return try run(loop.body)
            }
            if flow == .leaveLoop { break }
        }
        return .next
    }

    private func inScope<T>(_ inner: Scope, _ body: () throws -> T) throws -> T {
        let outer = scope
        scope = inner
        defer { scope = outer }
        return try body()
    }

    /// Returns the text that the statements write, in a scope of their own.
    private func capture(_ body: [Statement]) throws -> (text: String, flow: Flow) {
        let outer = output
        output = ""
        defer { output = outer }
        let flow = try inScope(Scope(parent: scope)) { try run(body) }
        return (output, flow)
    }

    // MARK: Calls

    static let functions: Set = ["namespace", "raise_exception", "range"]

    /// Calls a macro or function by name.
    func call(_ symbol: Int, _ arguments: Arguments) throws -> Value {
        let callee = variable(symbol)
        let positional = try arguments.positional.map(evaluate)
        let named = try arguments.named.map { (name: $0.name, value: try evaluate($0.value)) }
        switch callee {
        case .undefined(let reason, _): throw fault(reason)
        case .macro(let macro, let scope): return try call(macro, in: scope, positional, named)
        case .callable: break
        default: throw fault("\(callee.typeName) can't be called")
        }
        switch program.names[symbol] {
        case "raise_exception" where positional.count + named.count == 1:
            let message = try string(positional.first ?? named[0].value)
            throw fault("the template refuses this input: \(message)")
        case "range" where named.isEmpty && (1...3).contains(positional.count): return try range(positional)
        case "namespace" where positional.isEmpty:
            try spend(50)
            let namespace = Namespace()
            namespaces.append(namespace)
            for (name, value) in named { namespace.members.set(name, value) }
            return .namespace(namespace)
        default:
            throw fault("calls are as in range(3), raise_exception('why') and namespace(a=1)")
        }
    }

    private func range(_ bounds: [Value]) throws -> Value {
        let numbers = try bounds.map { try integer($0, "range") }
        let (start, stop) = numbers.count > 1 ? (numbers[0], numbers[1]) : (0, numbers[0])
        let step = numbers.count > 2 ? numbers[2] : 1
        guard step != 0 else { throw fault("'range' can't have step 0") }
        let items = stride(from: start, to: stop, by: step).prefix(limits.rangeLength + 1).map(Value.int)
        guard items.count <= limits.rangeLength else {
            throw fault("'range' gives more than \(limits.rangeLength) numbers")
        }
        return try made(items, .range)
    }

    private func call(
        _ definition: MacroDefinition, in scope: Scope, _ positional: [Value],
        _ named: [(name: String, value: Value)]
    ) throws -> Value {
        let name = program.names[definition.name]
        guard positional.count <= definition.parameters.count else {
            throw fault(
                "the macro '\(name)' takes \(definition.parameters.count) arguments, not "
                    + "\(positional.count)")
        }
        let inner = Scope(parent: scope)
        var named = named
        for (i, parameter) in definition.parameters.enumerated() {
            let parameterName = program.names[parameter.name]
            let at = named.firstIndex { ExactText($0.name) == ExactText(parameterName) }
            if i < positional.count {
                inner.variables[parameter.name] = positional[i]
            } else if let at {
                inner.variables[parameter.name] = named.remove(at: at).value
            } else if let fallback = parameter.fallback {
                inner.variables[parameter.name] = try inScope(inner) { try evaluate(fallback) }
            } else {
                inner.variables[parameter.name] = .undefined("parameter '\(parameterName)' was not provided")
            }
        }
        if let extra = named.first {
            throw fault("the macro '\(name)' has no argument '\(extra.name)' to give")
        }
        return try inScope(inner) { .string(try capture(definition.body).text) }
    }
}
