/// State of a request as an earlier run left it.
package enum StoredState: Sendable, Equatable {
    case new
    case inFlight(InFlightRecord)
    /// Result that is kept. A failed one is kept once its job was complete; before, it counts as new.
    case done(failed: Bool)
}

/// End of the input.
package struct InputEnd: Sendable, Equatable {
    package var lines: Int
    /// Half a line came last, which was left for the next run.
    package var isCut = false
    /// Some lines have no id of their own, and are known by their number.
    package var hasNumbered = false
    /// All of it, those included that are not this run's; nil where nobody has read it.
    package var seen: InputSeen?
}

/// Store of finished results. `LogStore` is the real one; tests use one in memory.
///
/// The runner calls `claim` once for each piece of work in input order (position 0, 1, 2, ...), then
/// `append` for those that were not done, in any order, and `finish` at the end.
/// All calls come from one thread at a time.
///
/// A result is handed over as what came of the work; where it stands in an output, and how it looks there, is the
/// store's. So a kept result fits wherever an edit of the input has moved its line.
package protocol ResultStore: AnyObject {
    /// Its calls may have to wait for a disk, and nobody waits for single results.
    var isOnDisk: Bool { get }
    /// By which schemes lines are known in what an earlier run left, but for the run's own.
    var earlierSchemes: [LineScheme] { get }
    /// The content hashes under which an earlier run left something of a key's id and sample.
    func filedHashes(of key: ResultKey) throws -> [UInt64]
    /// A line is known by one of `earlierSchemes`.
    func note(earlierScheme: LineScheme)
    /// Notes that `key` stands at `position` of the input, and says what is known of it.
    /// The same key may come again (a duplicate id): that is another piece of work.
    func claim(_ key: ResultKey, position: Int) throws -> StoredState
    /// The result of a position that was claimed, and is done; nil if it can't be read again.
    func result(at position: Int) throws -> GenerationResult?
    /// The result of a key in an output that is verified by this run; nil if none is.
    func verified(_ key: ResultKey) throws -> GenerationResult?
    /// The steps of runs whose jobs had other ones, and nothing else that was other: as their fingerprints have them, by the
    /// runs' digests.
    var earlierSteps: [String: String] { get }
    /// The result that such a run has of a key; nil if it has none.
    func earlierRow(of key: ResultKey, run: String) throws -> GenerationResult?
    /// Positions from here on are not needed, as enough is accepted before; nothing is appended there from now on.
    func endsEarly(at count: Int)
    /// Takes one finished result. On return it is handed over; it is durable after the next `sync` (which the store
    /// also does by itself, in groups). A later result of the same position replaces an earlier one.
    func append(_ result: GenerationResult, key: ResultKey, position: Int) throws
    /// Replaces the saved set of in-flight completions. Those of an earlier run that were not taken up
    /// yet are kept.
    func saveInFlight(_ records: [InFlightRecord]) throws
    func sync() throws
    /// Whether the lines claimed so far leave it open if too many results of an earlier run would be lost: then
    /// a look at the lines to come, before the work on them, may save that work.
    var needsLookAhead: Bool { get }
    /// A line to come has this key. What is seen so counts up to the next claim.
    func lookAhead(at key: ResultKey) throws
    /// All lines are claimed or looked at.
    /// - Throws: what `finish` would, if results of an earlier run would be lost.
    func inputEnds(_ end: InputEnd) throws
    /// All positions 0 ..< count are claimed and done: puts the output in place, in input order.
    func finish(count: Int) throws
    /// Leaves everything resumable (syncs, releases the lock). Called instead of `finish`, also after an
    /// error; then it doesn't throw again.
    func suspend() throws
    /// Positions from here on should not be started now, so that what must be held back in memory stays
    /// bounded. Always more than the lowest position that isn't done.
    var positionLimit: Int { get }
}

extension ResultStore {
    package var isOnDisk: Bool { false }
    package var earlierSchemes: [LineScheme] { [] }
    package func filedHashes(of key: ResultKey) throws -> [UInt64] { [] }
    package func note(earlierScheme: LineScheme) {}
    package func result(at position: Int) throws -> GenerationResult? { nil }
    package func verified(_ key: ResultKey) throws -> GenerationResult? { nil }
    package var earlierSteps: [String: String] { [:] }
    package func earlierRow(of key: ResultKey, run: String) throws -> GenerationResult? { nil }
    package func endsEarly(at count: Int) {}
    package var needsLookAhead: Bool { false }
    package func lookAhead(at key: ResultKey) throws {}
    package func inputEnds(_ end: InputEnd) throws {}
    package var positionLimit: Int { .max }
}
