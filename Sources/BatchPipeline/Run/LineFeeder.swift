import BatchEngine
import Foundation
import Foundations
import PhiModel

/// Reads lines ahead of the model, on a thread of its own: parses them, passes over those that are done,
/// and turns the others into token ids.
final class LineFeeder: @unchecked Sendable {
    /// What the feeder has seen so far.
    struct Count: Sendable {
        var lines = 0
        /// Pieces of work: lines times samples.
        var positions = 0
        /// Pieces of work that an earlier run has done.
        var done = 0
        /// Lines passed over, as they carry the error of an earlier step.
        var passedOver = 0
        /// Lines in which texts of control tokens are taken as text.
        var covered = 0
        /// Half lines at the end of the input, or of one of its files.
        var unfinished: [UnfinishedLine] = []
        /// Whether `lines` is all there are.
        var isWhole = false
    }

    private let job: JobSettings
    private let models: ModelLoader
    private let store: SharedStore
    private let queue: WorkQueue
    private let builder: PromptBuilder
    private let jobStops: StopSet
    // NSLock and not Mutex, which the thread sanitizer on Linux doesn't see.
    private let lock = NSLock()
    private var counted = Count()
    // Used by the feeder's thread alone.
    private var reader: InputReader
    private var seen: SeenIDs
    private var hasLookedAhead = false

    /// - Throws: `JobError` if a template of the job is malformed.
    init(job: JobSettings, models: ModelLoader, store: SharedStore, queue: WorkQueue) throws {
        self.job = job
        self.models = models
        self.store = store
        self.queue = queue
        builder = try PromptBuilder(job)
        jobStops = StopSet(job.stop)
        reader = InputReader(paths: job.input, format: job.inputFormat.format)
        seen = SeenIDs(store.use { $0.idScratch })
    }

    var count: Count { lock.withLock { counted } }

    /// - Throws: `ModelError` of kind `resources` if there can be no thread.
    func start() throws {
        do throws(WorkerThread.CannotStart) {
            try WorkerThread.start("lines") { self.run() }
        } catch {
            throw ModelError(
                .resources,
                "the thread that reads the input can't be made: \(error.reason). "
                    + "Raise the limit on processes (ulimit -u, or pids.max of the control group).")
        }
    }

    private func run() {
        do {
            while var line = try reader.next() {
                if reader.isHalf(line) {
                    let half = UnfinishedLine(file: line.file, line: line.number, bytes: line.bytes.count)
                    lock.withLock { counted.unfinished.append(half) }
                    continue
                }
                guard try feed(&line) else { return }
            }
            lock.withLock { counted.isWhole = true }
            let end = InputEnd(lines: count.lines, isCut: !count.unfinished.isEmpty)
            try store.use { try $0.inputEnds(end) }
            queue.finish()
        } catch let error as StoreError where error.kind == .wouldLose {
            queue.fail(error)
        } catch {
            queue.finish(error)
        }
    }

    /// - Returns: false if the run is over.
    private func feed(_ line: inout InputRecord) throws -> Bool {
        guard let parsed = try identify(line) else {
            lock.withLock { counted.passedOver += 1 }
            return true
        }
        // A long line need not be in memory twice.
        line.bytes = []
        let kept = parsed.fields.map(job.keep.values) ?? []
        let index = count.lines
        lock.withLock { counted.lines += 1 }
        var prepared: Result<PreparedLine, LineError>?
        for sample in 0..<job.samples {
            var label = WorkLabel(
                position: index * job.samples + sample, index: index, sample: sample,
                key: WorkKey(id: parsed.id, sample: sample, contentHash: parsed.contentHash),
                file: line.file, lineNumber: line.number)
            label.kept = kept
            guard let state = try store.claim(label.key, position: label.position) else { return false }
            lock.withLock { counted.positions += 1 }
            // A failed piece is tried again: perhaps what made it fail has been mended.
            if case .done(failed: false) = state {
                lock.withLock { counted.done += 1 }
                continue
            }
            if !hasLookedAhead {
                hasLookedAhead = true
                try LookAhead(job: job, store: store).look(past: line.overallNumber, lines: index + 1)
            }
            let line = try prepared ?? prepare(parsed.record)
            prepared = line
            let work: Work
            switch line {
            case .success(let line):
                var saved: InFlightRecord?
                if case .inFlight(let record) = state { saved = record }
                work = .request(try request(label, line, saved: saved))
            case .failure(let error): work = .failure(label, error)
            }
            guard queue.push(work) else { return false }
        }
        return true
    }

    // MARK: From bytes to a record

    /// An id that has come before belongs to the line that came first.
    /// - Returns: nil for a line that is passed over.
    private func identify(_ line: InputRecord) throws -> LineIdentity? {
        var identity = LineIdentity(line, by: reader, idField: job.idField)
        if let error = identity.carriedError {
            if job.errorLines == .skip { return nil }
            identity.record = .failure(error)
        }
        if try !seen.insert(identity.id) {
            identity.record = .failure(LineError(.duplicateID, "The id \"\(identity.id)\" has come before."))
        }
        return identity
    }

    // MARK: From a record to token ids

    private struct PreparedLine {
        var prompt: [Int32]
        var maxTokens: Int
        var sampling: SamplingParameters
        var seed: Int
        var stops: StopSet
    }

    private func prepare(_ record: Result<PromptRecord, LineError>) throws -> Result<PreparedLine, LineError>
    {
        do {
            return .success(try prepare(record.get()))
        } catch let error as LineError {
            return .failure(error)
        }
    }

    private func prepare(_ record: PromptRecord) throws -> PreparedLine {
        var content = try builder.prompt(for: record)
        let model = try models.loaded(for: job)
        let shield = job.controlTokens == .text ? model.text.shield(for: record.fields) : nil
        if let shield {
            content = try builder.prompt(for: record.covered(by: shield))
            if shield.holdsToken { lock.withLock { counted.covered += 1 } }
        }
        let tokens: [Int32]
        do {
            tokens = try model.text.tokens(
                for: content, contextLength: model.engine.limits.contextLength, shield: shield)
        } catch let error as ModelError {
            if error.kind == .promptTooLong { throw LineError(.promptTooLong, error.message) }
            switch content {
            case .messages, .continued: throw LineError(.templateError, error.message)
            case .text, .tokens: throw LineError(.badPrompt, error.message)
            }
        }
        let limits = model.engine.limits
        guard !tokens.isEmpty else { throw LineError(.missingPrompt, "The prompt has no tokens.") }
        if let wrong = tokens.first(where: { $0 < 0 || Int($0) >= limits.vocabularySize }) {
            throw LineError(
                .badPrompt,
                "The prompt has the token id \(wrong), but the model's ids end at \(limits.vocabularySize - 1)."
            )
        }
        guard tokens.count < limits.contextLength else {
            throw LineError(
                .promptTooLong,
                "The prompt has \(tokens.count) tokens, but the model's context holds \(limits.contextLength), completion included."
            )
        }
        let rules = LogitRules(
            bias: job.logitBias ?? record.logitBias ?? [:],
            presencePenalty: job.presencePenalty ?? record.presencePenalty ?? 0,
            frequencyPenalty: job.frequencyPenalty ?? record.frequencyPenalty ?? 0,
            repetitionPenalty: job.repetitionPenalty ?? record.repetitionPenalty ?? 1)
        if let problem = rules.problem(vocabularySize: limits.vocabularySize) {
            throw LineError(.badField, problem)
        }
        let wanted = record.maxTokens ?? job.maxTokens ?? JobSettings.defaultMaxTokens
        return PreparedLine(
            prompt: tokens,
            maxTokens: min(wanted, job.maxTokens ?? .max, limits.contextLength - tokens.count),
            sampling: SamplingParameters(
                temperature: job.temperature ?? record.temperature ?? 0,
                topP: job.topP ?? record.topP ?? 1,
                topK: job.topK ?? record.topK ?? 0,
                minP: job.minP ?? record.minP ?? 0,
                logprobs: job.logprobs,
                rules: rules),
            seed: record.seed ?? job.seed ?? 0,
            stops: record.stop.isEmpty ? jobStops : StopSet(job.stop + record.stop))
    }

    private func request(_ label: WorkLabel, _ line: PreparedLine, saved: InFlightRecord?) throws -> Request {
        let model = try models.loaded()
        var label = label
        label.seed = line.seed
        label.readyAt = .now
        return Request(
            prompt: line.prompt, maxTokens: line.maxTokens, sampling: line.sampling,
            stream: RandomStream.key(seed: line.seed, id: label.key.id, sample: label.sample),
            endOfSequence: job.ignoreEndOfSequence ? [] : model.engine.limits.endOfSequence,
            stops: line.stops, text: model.text.makeTextStream(),
            saved: saved.map { Request.Saved(tokens: $0.tokens, notes: $0.logprobs) }, label: label)
    }
}
