import BatchEngine

/// A writer with what is kept beside it for one vocabulary. When it has grown too large a new one takes its place.
final class GrammarWriter {
    let writer: Writer
    private let tokens: TokenTrie
    /// Those of the last states, and those before them: when there are many of the first, they take the others' place.
    private var masks: [Int32: StateMask] = [:]
    private var olderMasks: [Int32: StateMask] = [:]
    private var startMask: StateMask?
    private var forcedTokens: [Int32: (tokens: [Int32], bytes: Int)] = [:]
    /// The most bytes that a value of the grammar takes at least.
    private let largest: Int
    /// The writer before this one, whose states can be taken over.
    private let former: Writer?

    /// - Parameter former: of the same shape and layout.
    init(_ shape: AnswerShape, layout: AnswerGrammar.Layout, tokens: TokenTrie, former: Writer? = nil) {
        writer = Writer(shape, layout: layout)
        self.tokens = tokens
        self.former = former
        largest = shape.goals.reduce(0) { max($0, $1.fewestBytes) }
    }

    /// Those of the writer's bytes that texts needed which another writer had begun. They would be needed again and again.
    private(set) var replayed = 0

    /// Whether a new one should take its place.
    var isLarge: Bool { writer.bytes > ConstraintLimits.writerBytes + 2 * replayed }

    // MARK: Texts

    /// The state after a text that was accepted before.
    /// - Parameters:
    ///   - formerState: after the same text.
    ///   - isFormer: whether that is of the writer before this one; else it means nothing here.
    func state(after text: [UInt8], formerState: Int32, isFormer: Bool) -> Int32 {
        let before = writer.bytes
        defer { replayed += writer.bytes - before }
        if isFormer, let former {
            let name = former.hasFreeName(formerState) ? Self.lastName(of: text) : []
            return writer.adopt(formerState, of: former, name: name)
        }
        guard let state = state(after: text[...], from: writer.start, []) else {
            preconditionFailure("a text that was accepted is accepted again")
        }
        return state
    }

    /// - Parameter text: all that came before.
    /// - Returns: nil if no answer goes on with these bytes.
    func state(after bytes: ArraySlice<UInt8>, from state: Int32, _ text: [UInt8]) -> Int32? {
        var state = state
        for (place, byte) in zip(bytes.indices, bytes) {
            if byte == UInt8(ascii: "\""), writer.hasFreeName(state) {
                let before = text + bytes[..<place]
                state = writer.next(state, byte, name: Self.lastName(of: before))
            } else {
                state = writer.next(state, byte)
            }
            if state < 0 { return nil }
        }
        return state
    }

    /// What stands after the last quote that is none of a name's own characters.
    private static func lastName(of text: [UInt8]) -> [UInt8] {
        var place = text.count
        while place > 0 {
            place -= 1
            guard text[place] == UInt8(ascii: "\"") else { continue }
            let escapes = text[..<place].reversed().prefix { $0 == UInt8(ascii: "\\") }.count
            if escapes % 2 == 0 { return Array(text[(place + 1)...]) }
        }
        return text
    }

    // MARK: Masks

    /// - Parameter left: how many tokens are left; nil if that plays no role.
    func mask(_ state: Int32, isStart: Bool, left: Int? = nil) -> StateMask {
        if left == nil, let known = isStart ? startMask : known(state) { return known }
        var maker = MaskMaker(writer, tokens, left: left)
        let mask = maker.mask(of: state, isStart: isStart)
        if left == nil {
            if isStart { startMask = mask } else { keep(mask, for: state) }
        }
        return mask
    }

    private func known(_ state: Int32) -> StateMask? {
        if let known = masks[state] { return known }
        guard let known = olderMasks.removeValue(forKey: state) else { return nil }
        keep(known, for: state)
        return known
    }

    private func keep(_ mask: StateMask, for state: Int32) {
        if masks.count >= ConstraintLimits.maskBytes / 2 / (tokens.count / 8 + 100) {
            olderMasks = masks
            masks = [:]
        }
        masks[state] = mask
    }

    /// With so many tokens left no mask of this state is narrower for want of room.
    func mostSafe(_ state: Int32) -> Int {
        let (most, isLarge) = (tokens.longest + 1).multipliedReportingOverflow(by: largest + 16)
        return isLarge ? .max : most + writer.fewestBytes(state)
    }

    // MARK: Ways to the end

    func plan(_ state: Int32) -> [Int32]? { writer.plan(state, tokens) }

    /// What is left of a state's shortest way after its first token.
    func planTail(_ state: Int32, after token: Int32) -> ArraySlice<Int32> {
        guard let plan = plan(state), plan.first == token else { return [] }
        return plan.dropFirst()
    }

    /// Whether the text can be brought to an end with so many tokens by the shortest way from here.
    func fits(_ state: Int32, _ left: Int) -> Bool {
        writer.fewestBytes(state) <= left || (plan(state)?.count ?? .max) <= left
    }

    /// Whether so much is open that nothing more may be opened.
    func isDeep(_ state: Int32) -> Bool { writer.stateFacts[Int(state)].depth > ConstraintLimits.depth }

    // MARK: What must come

    /// The canonical tokens of what must be written next, all but the last two: those may look different with
    /// what follows.
    func forced(_ state: Int32) -> (tokens: [Int32], bytes: Int) {
        if let known = forcedTokens[state] { return known }
        let forced = findForced(state)
        forcedTokens[state] = forced
        return forced
    }

    private func findForced(_ state: Int32) -> (tokens: [Int32], bytes: Int) {
        let bytes = writer.onlyBytes(from: state, atMost: ConstraintLimits.forcedBytes)
        guard bytes.count > 2, let text = String(validating: bytes, as: UTF8.self) else { return ([], 0) }
        let all = tokens.encode(text)
        guard all.count > 2, all.flatMap({ tokens.text(of: $0) }) == bytes else { return ([], 0) }
        let some = Array(all.dropLast(2))
        return (some, some.reduce(0) { $0 + tokens.text(of: $1).count })
    }
}
