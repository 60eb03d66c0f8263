import BatchEngine
import OperatingSystem

import struct Synchronization.Atomic

/// A writer with its cache for one vocabulary, replaced when it is too large. Safe to use from several threads: no lock
/// is held while a mask is made.
final class GrammarWriter: Sendable {
    let writer: any AnswerWriter
    private let tokens: TokenTrie
    private let masks: Mutex<MaskCache>
    private let forcedTokens = Memo<Int32, (tokens: [Int32], bytes: Int)>()
    private let replayedBytes = Atomic<Int>(0)
    /// The writer before this one, whose states can be adopted.
    private let former: (any AnswerWriter)?

    /// - Parameter former: of the same constraint.
    init(_ writer: any AnswerWriter, tokens: TokenTrie, former: (any AnswerWriter)? = nil) {
        self.writer = writer
        self.tokens = tokens
        self.former = former
        masks = Mutex(MaskCache(most: ConstraintLimits.maskBytes / 2 / (tokens.count / 8 + 100)))
    }

    /// Bytes of the writer for texts that another writer had begun, which every new one needs.
    var replayed: Int { replayedBytes.load(ordering: .relaxed) }

    /// Whether a new one should replace it.
    var isLarge: Bool { writer.bytes > ConstraintLimits.writerBytes + 2 * replayed }

    // MARK: Texts

    /// Returns the state after an accepted text.
    /// - Parameters:
    ///   - formerState: after the same text.
    ///   - isFormer: whether that is of the writer before this one; else it is invalid here.
    func state(after text: [UInt8], formerState: Int32, isFormer: Bool) -> Int32 {
        let before = writer.bytes
        defer { replayedBytes.wrappingAdd(writer.bytes - before, ordering: .relaxed) }
        if isFormer, let former, let state = writer.adopt(formerState, of: former, text) { return state }
        guard let state = writer.state(after: text[...], from: writer.start, []) else {
            preconditionFailure("a text that was accepted is accepted again")
        }
        return state
    }

    // MARK: Masks

    /// - Parameter left: number of tokens left; nil if it doesn't matter.
    func mask(_ state: Int32, isStart: Bool, left: Int? = nil) -> StateMask {
        guard left == nil else { return writer.mask(state, tokens, isStart: isStart, left: left) }
        // No state has this number.
        let key = isStart ? -1 : state
        if let known = masks.withLock({ $0.known(key) }) { return known }
        let mask = writer.mask(state, tokens, isStart: isStart, left: nil)
        masks.withLock { $0.keep(mask, for: key) }
        return mask
    }

    /// The number of tokens left from which space limits no mask of this state.
    func mostSafe(_ state: Int32) -> Int {
        guard let growth = writer.mostGrowth else { return .max }
        let (most, isLarge) = (tokens.longest + 1).multipliedReportingOverflow(by: growth)
        return isLarge ? .max : most + writer.fewestBytes(state)
    }

    // MARK: Ways to the end

    func plan(_ state: Int32) -> [Int32]? { writer.plan(state, tokens) }

    /// The rest of a state's shortest way after its first token.
    func planTail(_ state: Int32, after token: Int32) -> ArraySlice<Int32> {
        guard let plan = plan(state), plan.first == token else { return [] }
        return plan.dropFirst()
    }

    /// Whether the text can end within so many tokens by the shortest way from here.
    func fits(_ state: Int32, _ left: Int) -> Bool {
        writer.fewestBytes(state) <= left || (plan(state)?.count ?? .max) <= left
    }

    // MARK: Forced text

    /// The canonical tokens of the forced text, without the last two, which depend on what follows.
    func forced(_ state: Int32) -> (tokens: [Int32], bytes: Int) {
        forcedTokens.value(of: state) { findForced(state) }
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

/// The masks of the last states, and those before them, which are dropped when there are many.
private struct MaskCache {
    let most: Int
    private var masks: [Int32: StateMask] = [:]
    private var older: [Int32: StateMask] = [:]

    init(most: Int) { self.most = most }

    mutating func known(_ state: Int32) -> StateMask? {
        if let known = masks[state] { return known }
        guard let known = older.removeValue(forKey: state) else { return nil }
        keep(known, for: state)
        return known
    }

    mutating func keep(_ mask: StateMask, for state: Int32) {
        if masks.count >= most {
            older = masks
            masks = [:]
        }
        masks[state] = mask
    }
}
