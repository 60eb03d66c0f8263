/// Follows a text byte by byte under one type of constraint.
///
/// A state is a number that stands for all that matters of the text so far. Safe to use from several threads. Results
/// depend only on the text, not on earlier calls.
protocol AnswerWriter: AnyObject, Sendable {
    /// The state before the first byte.
    var start: Int32 { get }
    var tables: StateTables { get }
    /// The approximate bytes of all tables.
    var bytes: Int { get }
    /// The most bytes by which a byte may lengthen the shortest way to an end; nil for no bound.
    var mostGrowth: Int? { get }

    /// Returns the state after one more byte; -1 if no answer continues so.
    func next(_ state: Int32, _ byte: UInt8) -> Int32
    /// Returns the state after more bytes; nil if no answer continues so.
    /// - Parameter text: the whole text before them.
    func state(after bytes: ArraySlice<UInt8>, from state: Int32, _ text: [UInt8]) -> Int32?

    /// Whether the text may end here.
    func isFinal(_ state: Int32) -> Bool
    /// Whether the text ends here.
    func isComplete(_ state: Int32) -> Bool
    /// Whether the text must end the shortest way, as too much is open.
    func isDeep(_ state: Int32) -> Bool
    /// The only byte that can come next; nil if there are several, or the text may end.
    func onlyByte(_ state: Int32) -> UInt8?

    /// Bytes of the shortest way to the end of the text.
    func fewestBytes(_ state: Int32) -> Int
    func shortestEnd(_ state: Int32) -> [UInt8]
    /// A way to the end of the text with few tokens; nil if the vocabulary can't write one.
    func plan(_ state: Int32, _ tokens: TokenTrie) -> [Int32]?

    /// Returns the allowed tokens.
    /// - Parameters:
    ///   - isStart: whether no token has come yet.
    ///   - left: number of tokens left; nil if it doesn't matter.
    func mask(_ state: Int32, _ tokens: TokenTrie, isStart: Bool, left: Int?) -> StateMask
}

extension AnswerWriter {
    /// Returns the only byte that can come next, found anew.
    func findOnlyByte(_ state: Int32) -> UInt8? {
        if isFinal(state) { return nil }
        var only: UInt8?
        for byte in UInt8.min...UInt8.max where next(state, byte) >= 0 {
            if only != nil { return nil }
            only = byte
        }
        return only
    }

    /// The classes of bytes that all lead from a state back to it.
    func loops(_ state: Int32) -> UInt64 {
        tables.loops(state) {
            var loops = UInt64.max
            for byte in UInt8.min...UInt8.max {
                let own: UInt64 = 1 << UInt64(ByteClass.of(byte))
                if loops & own != 0, next(state, byte) != state { loops &= ~own }
            }
            return loops
        }
    }
}
