import BatchEngine
import Essentials
import JSON
import Jobs
import OperatingSystem
import PhiModel

/// Answers requests that come one by one, in JSON lines: each has a line as a job's input has it, and the settings of
/// a job. All of them share one model and its steps, and each result is the one that such a job would have.
///
/// Requests of the same settings that are there together make one `JobRun`, of which `PipedLines` are the input and
/// the store.
package final class RequestPipe: Sendable {
    /// Runs that share the loop; more wait for their turn.
    private static let runLimit = 64
    private static let knownLimit = 256

    private let base: BatchJob
    private let models: ModelLoader
    private let engine: [(name: String, value: String)]
    private let stopFlag: StopFlag
    private let output: PipeOutput
    private let sources = Mailbox<JobRun>()
    /// What the reader's thread knows.
    private let known = Guarded(KnownSettings())

    /// By settings, as they are written.
    private struct KnownSettings {
        /// The lines that came last with them.
        var lines: [[UInt8]: PipedLines] = [:]
        /// What they make, and the digest of its fingerprint.
        var jobs: [[UInt8]: (settings: JobSettings, digest: String)] = [:]
    }

    /// - Parameters:
    ///   - base: what requests start from; its model is loaded now.
    ///   - stopFlag: once set, requests that are not done are told so, and the pipe ends.
    ///   - write: takes a message, without its line feed.
    /// - Throws: `JobError` or `ModelError` if there is no such model.
    package convenience init(
        _ base: BatchJob, stopFlag: StopFlag, write: @escaping @Sendable ([UInt8]) throws -> Void
    ) throws {
        try JobSession.checkModelFolder(base.settings)
        try self.init(
            base, models: base.makeModelLoader(),
            engine: base.settings.engine.identity(cache: base.cache), stopFlag: stopFlag, write: write)
    }

    init(
        _ base: BatchJob, models: ModelLoader, engine: [(name: String, value: String)], stopFlag: StopFlag,
        write: @escaping @Sendable ([UInt8]) throws -> Void
    ) throws {
        (self.base, self.models, self.engine, self.stopFlag) = (base, models, engine, stopFlag)
        output = PipeOutput(stopFlag: stopFlag, write: write)
        _ = try models.loaded(for: base.settings)
    }

    // MARK: The loop's thread

    /// Says what the model is, and answers until `close` is called and all is done, or until it is to stop.
    /// - Throws: what the engine can't recover from; what `write` throws.
    package func run() throws {
        let model = try models.loaded()
        output.greet(
            model: base.settings.modelName ?? base.settings.model, model.engine.limits,
            hasTokenizer: model.text.hasTokenizer)
        let engine = base.settings.engine
        let loop = BatchLoop(
            scheduler: Scheduler(
                workers: engine.workerCount, upTo: engine.mostWorkers, prefillChunk: engine.prefillChunk)
        ) { model.engine }
        while !stopFlag.isSet, let some = sources.wait(Self.runLimit, seconds: 0.1) {
            for source in some { loop.add(source) }
            loop.run { [sources] in sources.take(Self.runLimit - loop.sourceCount) }
        }
        while let source = sources.take(1).first { source.abandoned([], error: nil) }
        try output.end()
        if !stopFlag.isSet { _ = model.engine.keepPrefixes { [stopFlag] in stopFlag.isSet } }
    }

    // MARK: The reader's thread

    /// Takes messages from stdin to its end.
    package func readStandardInput() {
        do {
            let bytes = try InputBytes(ByteSource(path: "-"), chunkSize: 1 << 16)
            // Beside its line a message has settings.
            let limit = InputReader.defaultLimit + JobFile.sizeLimit
            while let line = try bytes.nextLine(limit: limit) {
                guard line.length <= limit else {
                    output.refuse(
                        PipeMessage.Problem(text: "The message is longer than \(limit) bytes."))
                    continue
                }
                if line.bytes.contains(where: { $0 > 0x20 }) { take(line.bytes) }
            }
        } catch {
            output.fail(error)
        }
        close()
    }

    /// Takes one message.
    package func take(_ message: [UInt8]) {
        do throws(PipeMessage.Problem) {
            switch try PipeMessage(message) {
            case .request(let line, let settings): try begin(line, settings)
            case .cancel(let request): _ = lines.values.contains { $0.cancel(request) }
            }
        } catch {
            output.refuse(error)
        }
    }

    /// No more messages will come.
    package func close() { sources.close() }

    private var lines: [[UInt8]: PipedLines] { known.withLock { $0.lines } }

    private func begin(_ line: PipedLines.Line, _ settings: [UInt8]) throws(PipeMessage.Problem) {
        guard !lines.values.contains(where: { $0.holds(line.request) }) else {
            throw PipeMessage.Problem(text: "The request \(line.request) is under way already.")
        }
        if lines[settings]?.put(line) == true { return }
        do {
            let (job, digest) = try job(settings)
            let fresh = PipedLines(job, digest: digest) { [output] in output.tell($0, $1) }
            _ = fresh.put(line)
            let run = try JobRun(
                job: job, models: models, store: fresh, stopFlag: StopFlag(of: stopFlag), piped: fresh,
                ended: { [output] result in
                    guard case .failure(let error) = result else { return fresh.end(nil) }
                    fresh.end(error)
                    if !(error is JobError) { output.fail(error) }
                })
            known.withLock { known in
                known.lines = known.lines.filter { !$0.value.hasEnded }
                known.lines[settings] = fresh
            }
            sources.put(run)
        } catch {
            output.tell(line.request, .failure(error))
        }
    }

    /// What a request's settings make, and the digest of its fingerprint.
    private func job(_ text: [UInt8]) throws -> (JobSettings, String) {
        if let known = known.withLock({ $0.jobs[text] }) { return known }
        var settings = base.settings
        if !text.isEmpty {
            try JobSettings.refuseWhatIsNoRequests(text)
            try JobFile.apply(text, name: "settings", folder: "", to: &settings)
            try settings.check(file: "settings")
        }
        var job = try BatchJob(settings)
        let digest = try RunFingerprint(job: job.settings, engine: engine, cache: base.cache).digest
        // A line is answered, whatever it carries; and each by itself, so that one can be cancelled.
        job.settings.errorLines = .pass
        job.settings.computesEqualsOnce = false
        let made = (job.settings, digest)
        known.withLock { known in
            if known.jobs.count >= Self.knownLimit { known.jobs = [:] }
            known.jobs[text] = made
        }
        return made
    }
}

extension JobSettings {
    /// What requests of a pipe start from.
    /// - Throws: `JobError` of kind `usage`, naming the option and what would be right.
    package static func pipe(model: String, name: String, options: [JobOption]) throws -> JobSettings {
        var settings = JobSettings()
        try settings.apply(options)
        (settings.model, settings.modelName) = (model, name)
        (settings.input, settings.output) = (["-"], "-")
        settings.inputFormat = FormatChoice(NativeLines())
        settings.outputFormat = FormatChoice(ResultFormats.standard)
        settings.outputFormatFollowsInput = false
        return settings
    }

    /// - Throws: `JobError` if a request's settings say what is the pipe's, or a whole job's.
    fileprivate static func refuseWhatIsNoRequests(_ text: [UInt8]) throws {
        let ofResults = ["tokens", "logprobs", "id", "keep"]
        let others =
            JobKey.files + JobKey.engine + JobKey.results.filter { !ofResults.contains($0.name) }
        guard case .object(let members) = try JSONValue(parsing: text, limits: .ownLine) else { return }
        for member in members where others.contains(where: { $0.name == member.name }) {
            throw JobError(.badJob, at: "settings", "\(member.name) is no request's to set.")
        }
    }
}
