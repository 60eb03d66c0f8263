/// Expression of a template. Immutable, so threads can share a compiled template.
final class Expression: Sendable {
    indirect enum Form: Sendable {
        case none
        case bool(Bool)
        case int(Int)
        case double(Double)
        case string(String)
        /// A variable, as an index into the template's names.
        case name(Int)
        case list([Expression], ListValue.ListType)
        case dict([(key: Expression, value: Expression)])
        case attribute(Expression, String)
        case item(Expression, Expression)
        case slice(Expression, start: Expression?, stop: Expression?, step: Expression?)
        /// A call of a macro or function by its name.
        case call(Int, Arguments)
        case method(Expression, name: String, Builtin, [Expression?])
        case filter(Expression, Builtin, [Expression?])
        case each(Expression, EachFilter)
        case not(Expression)
        case negate(Expression)
        case binary(BinaryOperator, Expression, Expression)
        case conditional(test: Expression, then: Expression, otherwise: Expression?)
    }

    let kind: Form
    let line: Int
    /// Height of this expression's tree: evaluating and freeing it recurse that deep.
    let height: Int
    /// Whether it is the result of the filter `safe`.
    let isMarkedSafe: Bool

    init(_ kind: Form, line: Int, parts: [Expression?], isMarkedSafe: Bool = false) {
        self.kind = kind
        self.line = line
        self.isMarkedSafe = isMarkedSafe
        height = 1 + parts.reduce(0) { max($0, $1?.height ?? 0) }
    }
}

enum BinaryOperator: String, Sendable {
    case or, and
    case equal = "=="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
    case isIn = "in"
    case notIn = "not in"
    case add = "+"
    case subtract = "-"
    case concat = "~"
    case multiply = "*"
    case modulo = "%"

    /// Precedence. `not` is between `and` and comparisons, at 3.
    var strength: Int {
        switch self {
        case .or: 1
        case .and: 2
        case .add, .subtract: 5
        case .concat: 6
        case .multiply, .modulo: 7
        default: 4
        }
    }
}

/// Arguments of a call.
struct Arguments: Sendable {
    var positional: [Expression] = []
    var named: [(name: String, value: Expression)] = []

    var all: [Expression] { positional + named.map(\.value) }
}

/// One of `map`, `select`, `reject`, `selectattr` and `rejectattr`, which apply a filter or test to each element.
struct EachFilter: Sendable {
    /// Attribute to use in place of the element.
    var attribute: Expression?
    var applied: Builtin?
    var arguments: [Expression?] = []
    /// Result for which an element is kept; nil for `map`, which returns the results.
    var wanted: Bool?
}

struct Statement: Sendable {
    indirect enum Form: Sendable {
        case text(String)
        case output(Expression)
        case branch([(test: Expression, body: [Statement])], otherwise: [Statement])
        case loop(ForLoop)
        case set(Target, Expression)
        case setBlock(Target, [Statement])
        case macro(MacroDefinition)
        /// The block `generation`, with its own scope.
        case scope([Statement])
        case breakLoop
        case continueLoop
    }

    let kind: Form
    let line: Int
}

/// Target of `set`: a variable or its member.
struct Target: Sendable {
    var symbol: Int
    var member: String?
}

struct ForLoop: Sendable {
    var targets: [Int]
    var items: Expression
    var condition: Expression?
    var body: [Statement]
    var otherwise: [Statement]
    /// Index of the name `loop`.
    var loopSymbol: Int
}

struct MacroDefinition: Sendable {
    var name: Int
    var parameters: [(name: Int, fallback: Expression?)]
    var body: [Statement]
}
