/// Follows a text that is being written, byte by byte: each kind of rule on answers has a type that does.
///
/// A state is a number, and stands for all that counts of the text so far. Several threads may ask at the same time. What
/// is said depends on the text alone, not on what was asked before, nor by whom.
protocol AnswerWriter: AnyObject, Sendable {
    /// The state before the first byte.
    var start: Int32 { get }
    /// About how many bytes the tables take.
    var bytes: Int { get }
    /// By how much the shortest way to an end grows at most with a byte; nil where there is no bound.
    var mostGrowth: Int? { get }

    /// The state after one more byte; -1 if no answer goes on that way.
    func next(_ state: Int32, _ byte: UInt8) -> Int32
    /// The state after more bytes; nil if no answer goes on with them.
    /// - Parameter text: all that came before.
    func state(after bytes: ArraySlice<UInt8>, from state: Int32, _ text: [UInt8]) -> Int32?
    /// The state that means the same here as one of another writer of the same kind; nil if the text must be read again.
    /// - Parameter text: all so far.
    func adopt(_ state: Int32, of former: any AnswerWriter, _ text: [UInt8]) -> Int32?

    /// Whether the text may end here.
    func isFinal(_ state: Int32) -> Bool
    /// Whether the text ends here.
    func isComplete(_ state: Int32) -> Bool
    /// Whether the text must be brought to an end the shortest way, as too much is open.
    func isDeep(_ state: Int32) -> Bool
    /// The only byte that can come next; nil if there are several, or the text may end.
    func onlyByte(_ state: Int32) -> UInt8?
    /// The classes of bytes all of which lead from a state back to it.
    func loops(_ state: Int32) -> UInt64

    /// Bytes of the shortest way to the end of the text.
    func fewestBytes(_ state: Int32) -> Int
    func shortestEnd(_ state: Int32) -> [UInt8]
    /// A way to the end of the text with few tokens; nil if the vocabulary can't write one.
    func plan(_ state: Int32, _ tokens: TokenTrie) -> [Int32]?

    /// The tokens that may come.
    /// - Parameters:
    ///   - isStart: whether no token has come yet.
    ///   - left: how many tokens are left; nil if that plays no role.
    func mask(_ state: Int32, _ tokens: TokenTrie, isStart: Bool, left: Int?) -> StateMask
}

extension AnswerWriter {
    /// The bytes that must come next, up to a length.
    func onlyBytes(from state: Int32, atMost limit: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        var state = state
        while bytes.count < limit, let byte = onlyByte(state) {
            let after = next(state, byte)
            guard after >= 0 else { break }
            bytes.append(byte)
            state = after
        }
        return bytes
    }

    /// What `loops` is, found anew.
    func findLoops(_ state: Int32) -> UInt64 {
        var loops = UInt64.max
        for byte in UInt8.min...UInt8.max {
            let own: UInt64 = 1 << UInt64(ByteClass.of(byte))
            if loops & own != 0, next(state, byte) != state { loops &= ~own }
        }
        return loops
    }
}
