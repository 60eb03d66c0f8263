/// Lets a model reason up to a limit, and then constrains its answer if that has a constraint.
struct ReasoningConstraint: Constraint {
    private let reasoning: ReasoningPlan
    /// Makes the answer's constraint for the tokens that are left; nil if there is none.
    private let form: (@Sendable (Int) -> any Constraint)?
    private let anything: TokenMask
    private var stream: any TextStream
    private var reader: ReasoningReader
    /// Forced tokens that come next.
    private var certain: ArraySlice<Int32>
    private var answer: (any Constraint)?
    private var left: Int
    /// Whether the limit ended the reasoning.
    private(set) var isCut = false

    init(
        _ reasoning: ReasoningPlan, maxTokens: Int, text: any TextStream,
        form: (@Sendable (Int) -> any Constraint)?
    ) {
        self.reasoning = reasoning
        self.form = form
        var mask = TokenMask(0..<Int32(reasoning.vocabularySize), count: reasoning.vocabularySize)
        if form != nil {
            for token in reasoning.ends where token >= 0 && Int(token) < mask.count { mask[token] = false }
        }
        anything = mask
        stream = text
        reader = ReasoningReader(reasoning)
        left = maxTokens
        // Empty reasoning has its tags too: they tell the model to answer.
        let opening = reasoning.limit == 0 && !reasoning.isOpen ? reasoning.opening : []
        certain = (form == nil ? opening : reasoning.opening)[...]
        if reasoning.limit == 0 { certain += reasoning.closing }
    }

    func allowed() -> TokenMask {
        if let token = certain.first { return TokenMask([token], count: anything.count) }
        return answer?.allowed() ?? anything
    }

    mutating func accept(_ token: Int32) -> Bool {
        if let next = certain.first {
            guard token == next else { return false }
            certain.removeFirst()
        } else if answer != nil {
            return answer?.accept(token) ?? false
        } else {
            guard anything[token] else { return false }
        }
        left -= 1
        guard !reader.isOver || reader.gapLeft > 0 else { return true }
        _ = reader.append(stream.append(token), of: token)
        if reader.isOver {
            certain = reasoning.gap.suffix(reader.gapLeft)
            if certain.isEmpty { answer = form?(left) }
        } else if let limit = reasoning.limit, limit > 0, !isCut, certain.isEmpty, reader.isInside,
            reader.tokens >= limit
        {
            isCut = true
            certain = reasoning.closing[...]
        }
        return true
    }

    var isComplete: Bool { answer?.isComplete ?? false }
    var isSteered: Bool { answer?.isSteered ?? false }
    var forced: ArraySlice<Int32> { certain.isEmpty ? answer?.forced ?? [] : certain }
}
