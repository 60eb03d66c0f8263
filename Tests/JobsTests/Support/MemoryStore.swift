import JSON

@testable import BatchPipeline
@testable import Jobs

/// What a journal does, in memory: survives a run and serves the next one.
final class MemoryStore: ResultStore {
    private struct Slot: Hashable {
        var key: ResultKey
        var repetition: Int
    }

    private var results: [Slot: GenerationResult] = [:]
    private var saved: [ResultKey: InFlightRecord] = [:]
    private var slots: [Slot] = []
    private var repetitions: [ResultKey: Int] = [:]
    private(set) var output: [String]?
    private var end: Int?
    private(set) var suspensions = 0
    private(set) var savings = 0
    private(set) var appended = 0
    var samples = 1
    var positionLimit: Int? = .max
    /// Replaces what is known of a key.
    var known: ((ResultKey) -> StoredState)?
    var atFinish: () -> Void = {}
    /// Asked before each append, with how many there were.
    var failAppend: ((Int) -> (any Error)?)?

    var savedRecords: [InFlightRecord] { Array(saved.values) }

    func claim(_ key: ResultKey, position: Int) throws -> StoredState {
        precondition(position == slots.count)
        let slot = Slot(key: key, repetition: repetitions[key, default: 0])
        repetitions[key, default: 0] += 1
        slots.append(slot)
        if let known { return known(key) }
        if let result = results[slot], !result.isFailed || output != nil {
            return .done(failed: result.isFailed)
        }
        return saved[key].map { .inFlight($0) } ?? .new
    }

    func append(_ result: GenerationResult, key: ResultKey, position: Int) throws {
        output = nil
        if let error = failAppend?(appended) { throw error }
        appended += 1
        precondition(slots[position].key == key)
        saved[key] = nil
        results[slots[position]] = result
    }

    func saveInFlight(_ records: [InFlightRecord]) throws {
        savings += 1
        for record in records { saved[record.key] = record }
    }

    func result(at position: Int) throws -> GenerationResult? { results[slots[position]] }

    func endsEarly(at count: Int) { end = count }

    func finish(count: Int) throws {
        atFinish()
        if let end { slots.removeSubrange(end...) }
        precondition(count == slots.count)
        output = slots.enumerated().map { position, slot in
            guard let result = results[slot] else { preconditionFailure("position \(position) is not done") }
            var writer = JSONWriter()
            writer.object { writer in
                writer.key("id")
                writer.string(slot.key.id)
                writer.key("index")
                writer.int(position / samples)
                result.write(to: &writer)
            }
            return writer.text
        }
        beginAgain()
    }

    func suspend() throws {
        suspensions += 1
        beginAgain()
    }

    private func beginAgain() {
        slots = []
        repetitions = [:]
        end = nil
    }
}
