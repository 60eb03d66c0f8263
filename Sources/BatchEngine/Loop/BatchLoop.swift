/// Runs requests of any number of sources together: takes them, sends their rows to the engine, and returns their
/// results. Knows nothing of files.
///
/// Everything runs on the thread that calls `run`. Sequences take KV blocks as they grow. When none are left, the
/// youngest sequence is preempted: it returns to the head of the queue and is later computed again from all its tokens.
/// So the oldest always finishes, and in turn every other one.
package final class BatchLoop {
    private let load: () throws -> any Engine
    private(set) var loaded: (any Engine)?
    var scheduler: Scheduler
    /// Oldest first, both.
    var running: [TokenSequence] = []
    var waiting: [TokenSequence] = []
    private(set) var slots: [SourceSlot] = []
    /// Index of the source that is asked next.
    var turn = 0
    var nextID = 0
    /// Measured costs of passes, which say whether draft tokens are worth their rows.
    var gate = DraftGate()
    /// The first waiting sequence doesn't fit: asking again is useless until a running one ends.
    var isShortOfRoom = false
    /// Number of preemptions.
    package private(set) var preemptions = 0
    /// Seconds to wait for a request if there is nothing else to do.
    static let patience = 0.1

    /// - Parameters:
    ///   - scheduler: its `workers` limits the requests of all sources that run together.
    ///   - load: called once there is a request.
    package init(scheduler: Scheduler, load: @escaping () throws -> any Engine) {
        self.scheduler = scheduler
        self.load = load
    }

    package convenience init(engine: any Engine, workers: Int, prefillChunk: Int) {
        self.init(scheduler: Scheduler(workers: workers, prefillChunk: prefillChunk)) { engine }
    }

    /// Number of sources that have not ended.
    package var sourceCount: Int { slots.count }

    package func add(_ source: any RequestSource) { slots.append(SourceSlot(source)) }

    /// Runs until every source has ended. An error of the engine ends all sources, and is reported to each.
    /// - Parameter newcomers: called before each pass for sources that join.
    package func run(joining newcomers: () -> [any RequestSource] = { [] }) {
        do {
            repeat {
                for source in newcomers() { add(source) }
            } while try pass()
        } catch {
            for slot in slots { slot.failure = slot.failure ?? error }
            settle()
        }
    }

    /// - Returns: false once every source has ended.
    package func pass() throws -> Bool {
        settle()
        guard !slots.isEmpty else { return false }
        for slot in slots { slot.report = PassReport() }
        try admit()
        if !running.isEmpty { try advance(engine()) }
        return true
    }

    /// Returns a source's requests in the loop, oldest first.
    package func live(of source: any RequestSource) -> [TokenSequence] {
        let own = (running + waiting).filter { $0.slot.source === source }.map { $0.whole?.whole ?? $0 }
        return Dictionary(own.map { ($0.id, $0) }) { whole, _ in whole }.values.sorted { $0.id < $1.id }
    }

    func engine() throws -> any Engine {
        if let loaded { return loaded }
        let engine = try load()
        loaded = engine
        return engine
    }

    // MARK: Sources

    /// Removes sources that have ended.
    private func settle() {
        for slot in slots where slot.source.drops { drop(of: slot) }
        for slot in slots {
            if slot.failure != nil || slot.source.isCancelled {
                abandon(slot)
            } else if slot.isDone {
                slot.source.completed()
            } else {
                continue
            }
            slots.removeAll { $0 === slot }
        }
    }

    /// Removes requests whose results nobody waits for.
    private func drop(of slot: SourceSlot) {
        let out = Set(live(of: slot.source).filter { slot.source.drops($0.request) }.map(\.id))
        remove { out.contains($0.wholeID) }
        isShortOfRoom = false
    }

    private func abandon(_ slot: SourceSlot) {
        let live = live(of: slot.source)
        remove { $0.slot === slot }
        isShortOfRoom = false
        slot.source.abandoned(live, error: slot.failure)
    }

    // MARK: Forward passes

    private func advance(_ engine: any Engine) throws {
        let timesBefore = engine.times
        // Forced tokens may complete a request before any pass.
        retire(engine)
        if !running.isEmpty { try computeRows(engine) }
        for slot in slots where slot.failure == nil {
            slot.report.timesBefore = timesBefore
            slot.report.times = engine.times
            slot.report.running = (slot.load + TokenSequence.wholeLoad - 1) / TokenSequence.wholeLoad
            slot.attempt { try slot.source.passed(slot.report, in: self) }
        }
    }

    private func computeRows(_ engine: any Engine) throws {
        try makeRoom(engine)
        // By index: reading an element would copy a whole sequence.
        let open = running.indices.map { running[$0].open }
        let step = scheduler.nextStep(open)
        let drafts = drafts(after: open, step, engine)
        let places = step.indices.filter { step[$0] > 0 }
        var inputs: [PassInput] = []
        inputs.reserveCapacity(places.count)
        for place in places { inputs.append(running[place].send(step[place], draft: drafts[place])) }
        let start = ContinuousClock.now
        let answers = try engine.forward(inputs)
        let seconds = (.now - start).seconds
        let rows = inputs.reduce(0) { $0 + $1.tokens.count }
        scheduler.passTook(seconds)
        precondition(answers.count == inputs.count, "a pass answers each of its inputs")
        gate.note(rows: rows, seconds: seconds)
        for slot in slots {
            slot.report.passRows = rows
            slot.report.seconds = seconds
        }
        for (number, place) in places.enumerated() {
            precondition(answers[number].answers(inputs[number]), "a pass answers what is asked")
            running[place].slot.report.count(inputs[number], decodes: open[place].decodes)
        }
        // The inputs share storage with the sequences, which would be copied on the next write.
        inputs = []
        for (place, answer) in zip(places, answers) {
            if let draft = drafts[place] { running[place].slot.drafts.learn(draft, answer.choices) }
            tell(running[place].take(answer), at: place)
        }
        retire(engine)
    }

    /// Makes room for each sequence's next rows, oldest first; the youngest are preempted if need be.
    private func makeRoom(_ engine: any Engine) throws {
        var place = 0
        while place < running.count {
            let count = running[place].count
            if count <= running[place].cache.room || engine.extend(running[place].cache, to: count) {
                place += 1
            } else if running.count > 1 {
                preemptYoungest(engine)
            } else {
                throw UserError.noRoom
            }
        }
    }

    private func preemptYoungest(_ engine: any Engine) {
        let sequence = running.removeLast()
        engine.release(sequence.cache, keeping: Array(sequence.allTokens.prefix(sequence.cacheable)))
        sequence.slot.load -= sequence.load
        sequence.slot.waiting += 1
        sequence.slot.report.preempted += 1
        waiting.insert(sequence, at: waiting.firstIndex { $0.id > sequence.id } ?? waiting.count)
        scheduler.gaveWay()
        preemptions += 1
    }

    /// Passes on new text that is certain.
    func tell(_ outcome: PassOutcome, at place: Int) {
        if outcome.text.reasoning.isEmpty, outcome.text.answer.isEmpty { return }
        running[place].slot.source.received(outcome.text, of: running[place])
    }

    /// Removes finished sequences and passes on their results.
    private func retire(_ engine: any Engine) {
        guard running.indices.contains(where: { running[$0].isDone }) else { return }
        let finished = running.filter(\.isDone)
        running.removeAll(where: \.isDone)
        isShortOfRoom = false
        for sequence in finished {
            if sequence.slot.source.speculation != .off {
                sequence.slot.drafts.learn(sequence.decoding.sampled, after: sequence.request.prompt)
            }
            let provenance = engine.provenance(of: sequence.cache)
            engine.release(sequence.cache, keeping: nil)
            scheduler.finished()
            let slot = sequence.slot
            slot.load -= sequence.load
            guard let sequence = self.finished(sequence) else { continue }
            slot.attempt {
                if let fault = sequence.decoding.fault {
                    try slot.source.failed(sequence, fault)
                } else {
                    try slot.source.finished(sequence, provenance: provenance)
                }
            }
        }
    }
}

extension SourceSlot {
    /// Runs an action that concerns this source alone. Its first error ends the source.
    func attempt(_ body: () throws -> Void) {
        guard failure == nil else { return }
        do { try body() } catch { failure = error }
    }
}

extension UserError {
    /// Thrown when the engine reports no room although no other sequence is running.
    static let noRoom = UserError(
        .resources, "the engine has no room for a request although nothing else runs.")
}
