/// State of a request as an earlier run left it.
package enum StoredState: Sendable, Equatable {
    case new
    case inFlight(InFlightRecord)
    /// Result that is kept. A failed one is kept once its job was complete; before, it counts as new.
    case done(failed: Bool)
}

/// Lines of the input that a run has read.
package struct ReadLines: Sendable, Equatable {
    /// Number of lines that it takes up.
    package var count = 0
    /// Lines passed over, as they carry the error of an earlier step.
    package var passedOver = 0
    /// Half lines at the end of the input, or of one of its files, left for the next run. They count nowhere else.
    package var unfinished: [UnfinishedLine] = []
    /// Whether some lines have no id of their own, and are known by their number.
    package var hasNumbered = false
    /// All of it, those included that are not this run's; nil where nobody has read it.
    package var seen: InputSeen?
}

/// Results of a run, by their positions: in a log beside the output, on their way into a stream, or of one request.
///
/// A run calls `claim` once for each piece of work in input order (position 0, 1, 2, ...), then `append` for those that
/// were not done, in any order, and `finish` at the end. All calls come from one thread at a time.
///
/// A result is handed over as what came of the work; where it stands in an output, and how it looks there, is the
/// store's. So a kept result fits wherever an edit of the input has moved its line.
package protocol ResultStore: AnyObject {
    /// The log that keeps them, and what an earlier run left in it; nil, the default, if nothing is kept.
    var log: LogStore? { get }
    /// Notes that `key` stands at `position` of the input, and says what is known of it.
    /// The same key may come again (a duplicate id): that is another piece of work.
    func claim(_ key: ResultKey, position: Int) throws -> StoredState
    /// The result of a position that was claimed, and is done; nil, the default, if it can't be read again.
    func result(at position: Int) throws -> GenerationResult?
    /// Takes one finished result. In a log it is durable after the next sync, which comes by itself. A later result of the
    /// same position replaces an earlier one.
    func append(_ result: GenerationResult, key: ResultKey, position: Int) throws
    /// Replaces the saved set of in-flight completions. Those of an earlier run that were not taken up
    /// yet are kept. By default nothing is saved.
    func saveInFlight(_ records: [InFlightRecord]) throws
    /// Positions from here on are not needed, as enough is accepted before; nothing is appended there from now on.
    func endsEarly(at count: Int)
    /// Positions from here on should not be started now, so that what must be held back in memory stays
    /// bounded. Always more than the lowest position that isn't done. By default there is no limit. Nil if results go to
    /// a disk: calls may have to wait for that, and nobody waits for single results.
    var positionLimit: Int? { get }
    /// All positions 0 ..< count are claimed and done: puts the output in place, in input order.
    func finish(count: Int) throws
    /// Leaves everything resumable (syncs, releases the lock). Called instead of `finish`, also after an
    /// error; then it doesn't throw again.
    func suspend() throws
}

extension ResultStore {
    package var log: LogStore? { nil }
    package func result(at position: Int) throws -> GenerationResult? { nil }
    package func saveInFlight(_ records: [InFlightRecord]) throws {}
    package func endsEarly(at count: Int) {}
    package var positionLimit: Int? { .max }
}
