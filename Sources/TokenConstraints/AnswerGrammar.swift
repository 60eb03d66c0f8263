import BatchEngine
import JSONSchema
import OperatingSystem

// Callers catch it.
@_exported import struct Errors.ConstraintFault

/// A constraint compiled for one vocabulary. Requests share it, each with a constraint state of its own; masks are made
/// on the threads of their callers.
package final class AnswerGrammar: Sendable {
    /// Layout of JSON, and its members.
    package struct Layout: Hashable, Sendable {
        /// Spaces by which each member and item is indented on a line of its own, as in Python's `json.dumps(value,
        /// indent: n)`. Nil for no white space at all.
        package var indent: Int?
        package var others = OtherMembers.asAllowed

        package init(indent: Int? = nil, others: OtherMembers = .asAllowed) {
            (self.indent, self.others) = (indent, others)
        }

        package static let compact = Layout()
        package static func indented(_ spaces: Int) -> Layout { Layout(indent: spaces) }
    }

    /// Keywords that masks decide partly or not at all: they are validated on the finished answer.
    package var validated: [SchemaMention] { schemaShape?.validated ?? [] }
    /// The least max_tokens that allows an answer.
    package let leastTokens: Int
    let tokens: TokenTrie
    /// Objects of a schema that may have unnamed members.
    package var openObjects: [SchemaMention] { schemaShape?.openObjects ?? [] }
    /// Nil if there is no schema.
    let schemaShape: SchemaShape?
    private let makeWriter: @Sendable () -> any AnswerWriter
    /// The writer of new answers.
    private let current: Mutex<GrammarWriter>

    /// JSON values that a schema accepts.
    /// - Throws: `ConstraintFault`.
    package convenience init(
        _ schema: Schema, layout: Layout = .compact, tokens: TokenTrie
    ) throws(ConstraintFault) {
        let shape = try SchemaShape(schema, others: layout.others)
        try self.init(shape.shape, layout: layout, tokens: tokens, schemaShape: shape)
    }

    /// Texts that a regular expression matches as a whole.
    /// - Throws: `ConstraintFault`.
    package convenience init(regex: String, tokens: TokenTrie) throws(ConstraintFault) {
        let text = try MachineText(whole: regex)
        let target = MaskTarget(shapes: [.text(text)], fewestBytes: text.fewestBytes(text.start))
        try self.init(
            AnswerShape(targets: [target], root: 0), layout: .compact, tokens: tokens)
    }

    /// Texts of a context-free grammar.
    /// - Throws: `ConstraintFault` with the line.
    package convenience init(
        _ source: GrammarSource, tokens: TokenTrie, effort: CompileEffort = CompileEffort()
    ) throws(ConstraintFault) {
        let productions = try ProductionBuilder.productions(of: source, effort)
        try self.init(tokens: tokens, schemaShape: nil) { Pushdown(productions) }
    }

    convenience init(
        _ shape: AnswerShape, layout: Layout, tokens: TokenTrie, schemaShape: SchemaShape? = nil
    ) throws(ConstraintFault) {
        try self.init(tokens: tokens, schemaShape: schemaShape) { JSONAutomaton(shape, layout: layout) }
    }

    private init(
        tokens: TokenTrie, schemaShape: SchemaShape?, makeWriter: @escaping @Sendable () -> any AnswerWriter
    ) throws(ConstraintFault) {
        self.schemaShape = schemaShape
        self.tokens = tokens
        self.makeWriter = makeWriter
        let writer = GrammarWriter(makeWriter(), tokens: tokens)
        current = Mutex(writer)
        guard let plan = writer.plan(writer.writer.start) else {
            throw ConstraintFault(.unsatisfiable, "the model's vocabulary has no tokens to write it with")
        }
        leastTokens = max(1, plan.count)
    }

    /// Returns the state before the first token of a completion.
    /// - Parameter maxTokens: of the completion without its end of sequence; at least `leastTokens`.
    package func constraint(maxTokens: Int) -> any Constraint {
        GrammarConstraint(self, maxTokens: maxTokens)
    }

    /// Returns the writer for a new answer, which keeps it. A large one goes with its last answer.
    func currentWriter() -> GrammarWriter {
        let known = current.withLock { $0 }
        guard known.isLarge else { return known }
        let new = GrammarWriter(makeWriter(), tokens: tokens)
        return current.withLock { current in
            // Unless another thread was first.
            if current === known { current = new }
            return current
        }
    }
}
