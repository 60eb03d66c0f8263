/// An expression of a template. Immutable, so that a compiled template can be shared between threads.
final class Expression: Sendable {
    indirect enum Kind: Sendable {
        case none
        case bool(Bool)
        case int(Int)
        case double(Double)
        case string(String)
        /// A variable, as an index into the template's names.
        case name(Int)
        case list([Expression])
        case tuple([Expression])
        case dict([(key: Expression, value: Expression)])
        case attribute(Expression, String)
        case item(Expression, Expression)
        case slice(Expression, start: Expression?, stop: Expression?, step: Expression?)
        case call(Expression, Arguments)
        case filter(Expression, FilterCall)
        case test(Expression, TestName, Arguments)
        case not(Expression)
        case negate(Expression)
        case binary(BinaryOperator, Expression, Expression)
        case and(Expression, Expression)
        case or(Expression, Expression)
        case compare(Expression, [(CompareOperator, Expression)])
        case concat([Expression])
        case conditional(test: Expression, then: Expression, otherwise: Expression?)
    }

    let kind: Kind
    let line: Int
    /// Height of this expression's tree: evaluating and freeing it recurse that deep.
    let height: Int

    init(_ kind: Kind, line: Int) {
        self.kind = kind
        self.line = line
        var tallest = 0
        Expression.eachChild(of: kind) { tallest = max(tallest, $0.height) }
        height = tallest + 1
    }

    var isMarkedSafe: Bool {
        if case .filter(_, let call) = kind { return call.name == .safe }
        return false
    }

    static func eachChild(of kind: Kind, _ body: (Expression) -> Void) {
        switch kind {
        case .none, .bool, .int, .double, .string, .name: break
        case .list(let items), .tuple(let items), .concat(let items): items.forEach(body)
        case .dict(let pairs):
            for pair in pairs {
                body(pair.key)
                body(pair.value)
            }
        case .attribute(let base, _), .not(let base), .negate(let base): body(base)
        case .item(let a, let b), .binary(_, let a, let b), .and(let a, let b), .or(let a, let b):
            body(a)
            body(b)
        case .slice(let base, let start, let stop, let step):
            body(base)
            for bound in [start, stop, step] { bound.map(body) }
        case .call(let base, let arguments), .test(let base, _, let arguments):
            body(base)
            arguments.each(body)
        case .filter(let base, let call):
            body(base)
            call.arguments.each(body)
        case .compare(let first, let rest):
            body(first)
            for (_, operand) in rest { body(operand) }
        case .conditional(let test, let then, let otherwise):
            body(test)
            body(then)
            otherwise.map(body)
        }
    }
}

enum BinaryOperator: String, Sendable {
    case add = "+"
    case subtract = "-"
    case multiply = "*"
    case divide = "/"
    case floorDivide = "//"
    case modulo = "%"
}

enum CompareOperator: String, Sendable {
    case equal = "=="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
    case isIn = "in"
    case notIn = "not in"
}

/// The arguments of a call, filter or test.
struct Arguments: Sendable {
    var positional: [Expression] = []
    var named: [(name: String, value: Expression)] = []

    func each(_ body: (Expression) -> Void) {
        positional.forEach(body)
        for (_, value) in named { body(value) }
    }
}

struct FilterCall: Sendable {
    var name: FilterName
    var arguments: Arguments
    var line: Int
}

/// Target that `set` and `for` assign to.
indirect enum Target: Sendable {
    case name(Int)
    case tuple([Target])
    case member(namespace: Int, name: String)
}

struct Statement: Sendable {
    indirect enum Kind: Sendable {
        case text(String)
        case output(Expression)
        case branch([(test: Expression, body: [Statement])], otherwise: [Statement])
        case loop(ForLoop)
        case set(Target, Expression)
        case setBlock(Target, [Statement])
        case macro(MacroDefinition)
        /// The block `generation`, with variables of its own.
        case scope([Statement])
        case breakLoop
        case continueLoop
    }

    let kind: Kind
    let line: Int
}

struct ForLoop: Sendable {
    var target: Target
    var items: Expression
    var condition: Expression?
    var body: [Statement]
    var otherwise: [Statement]
    /// The name `loop` as an index.
    var loopSymbol: Int
}

struct MacroDefinition: Sendable {
    var name: Int
    var parameters: [(name: Int, fallback: Expression?)]
    var body: [Statement]
}
