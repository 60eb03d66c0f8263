import BatchEngine
import OperatingSystem

/// A writer with its cache for one vocabulary; answers begin with a new one when it is too large. Safe to use from several
/// threads: no lock is held while a mask is made.
final class GrammarWriter: Sendable {
    let writer: any AnswerWriter
    private let tokens: TokenTrie
    private let masks = Mutex<[Int32: StateMask]>([:])
    private let mostMasks: Int
    private let forcedTokens = Memo<Int32, (tokens: [Int32], bytes: Int)>()

    init(_ writer: any AnswerWriter, tokens: TokenTrie) {
        self.writer = writer
        self.tokens = tokens
        mostMasks = ConstraintLimits.maskBytes / (tokens.count / 8 + 100)
    }

    deinit {
        // Freeing its tables takes milliseconds, too long for a step. Without a thread it is done here.
        guard isLarge else { return }
        try? WorkerThread.start("phibatch frees", givesWay: true) { [writer] in
            withExtendedLifetime(writer) {}
        }
    }

    /// Whether new answers should have another one.
    var isLarge: Bool { writer.bytes > ConstraintLimits.writerBytes }

    // MARK: Masks

    /// - Parameter left: number of tokens left; nil if it doesn't matter.
    func mask(_ state: Int32, isStart: Bool, left: Int? = nil) -> StateMask {
        guard left == nil else { return writer.mask(state, tokens, isStart: isStart, left: left) }
        // No state has this number.
        let key = isStart ? -1 : state
        if let known = masks.withLock({ $0[key] }) { return known }
        let mask = writer.mask(state, tokens, isStart: isStart, left: nil)
        masks.withLock { masks in
            if masks.count >= mostMasks { masks = [:] }
            masks[key] = mask
        }
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
        forcedTokens.value(of: state) { findForced(from: state) }
    }

    private func findForced(from state: Int32) -> (tokens: [Int32], bytes: Int) {
        var bytes: [UInt8] = []
        var state = state
        while bytes.count < ConstraintLimits.forcedBytes, let byte = writer.onlyByte(state) {
            let after = writer.next(state, byte)
            guard after >= 0 else { break }
            bytes.append(byte)
            state = after
        }
        guard bytes.count > 2, let text = String(validating: bytes, as: UTF8.self) else { return ([], 0) }
        let all = tokens.encode(text)
        guard all.count > 2, all.flatMap({ tokens.text(of: $0) }) == bytes else { return ([], 0) }
        let some = Array(all.dropLast(2))
        return (some, some.reduce(0) { $0 + tokens.text(of: $1).count })
    }
}
