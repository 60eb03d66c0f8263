import BatchEngine
import Jobs
import Logging
import OperatingSystem
import PhiModel

/// A job and the options of its run.
///
/// ```swift
/// let run = try BatchJob(file: "jobs/demo.yaml").run()
/// for try await progress in run { print(progress.done, "of", progress.lines) }
/// let outcome = try await run.outcome
/// ```
public struct BatchJob: Sendable {
    public var settings: JobSettings
    /// Begins again instead of resuming; the earlier output and log are kept.
    public var restarts = false
    /// Action if earlier results were made with another model or other settings.
    public var ifChanged = SettingsChange.refuse
    /// Allows any number of results to be removed whose lines are gone from the input.
    public var prunes = false
    /// Waits for another run that writes the output instead of throwing.
    public var waits = false
    /// Results of the finished output to make again, with the next seed.
    package var redo: RedoChoice?
    /// Cache of packed weights and of hashes of model files. Off by default: a library writes no files on its own.
    public var cache = WeightCacheLocation.off
    /// Output to compare the job's results with; lines are identified as they are there.
    var verified: String?
    /// Receives messages for a person; discards them by default.
    public var log = Logger(label: "phibatch") { _ in SwiftLogNoOpLogHandler() }

    /// Creates a job from settings in code.
    /// - Throws: `UserError` naming the setting, or a file that the job names.
    public init(_ settings: JobSettings) throws {
        try settings.check(file: nil)
        try settings.checkValues()
        if let problem = settings.engine.problem { throw UserError(.badJob, problem) }
        self.settings = settings
        self.settings.chooseOutputFormat()
        try self.settings.checkOutputFormat(file: nil)
        try self.settings.checkFiles()
    }

    /// Reads a job file (YAML or JSON). Relative paths in it start at its folder.
    /// - Throws: `UserError` naming the file, line and key, or a file that the job names.
    public init(file: String) throws { try self.init(JobSettings.load(file: file)) }

    /// Returns warnings about settings that are valid but probably not intended.
    package func warnings() throws -> [String] {
        settings.engine.fallbacks + (try settings.warnings())
    }

    /// Runs the job with its own model, which is loaded when the first line needs it.
    ///
    /// It begins at once. Errors of model, input or output are thrown by progress and outcome.
    public func run() -> RunningJob {
        RunningJob { run in
            run.end(.success(try self.run(stopFlag: run.stopFlag, progress: run.publish)))
        }
    }

    /// Runs the job on a loaded model. Its lines share the steps with the model's other requests.
    ///
    /// The job must not set `threads` and `kv_budget`, which the model has already. While the finished output is put in
    /// place, the model's other requests wait.
    public func run(on model: ModelContainer) -> RunningJob {
        RunningJob { run in
            try checkFit(model)
            let engine = model.engine
            let models = ModelLoader(identity: { engine.identity }) {
                LoadedModel(engine: engine, text: engine.text)
            }
            nonisolated(unsafe) let source: any RequestSource = try open(
                on: models, stopFlag: run.stopFlag, progress: run.publish, ended: run.end)
            do { try model.join(source) } catch { source.abandoned([], error: error) }
        }
    }

    private func checkFit(_ model: ModelContainer) throws {
        func place(_ path: String?) -> FileInfo.Identity?? { path.map { Files.identity(of: $0) } }
        let (engine, entry) = (settings.engine, settings.engine.kind.entry)
        guard let folder = model.folder, Files.identity(of: folder) == Files.identity(of: settings.model),
            place(settings.adapter) == place(model.adapter), entry.kind == model.kind,
            try engine.kvPrecision == nil
                || engine.identity(cache: .off).elementsEqual(model.engine.identity, by: ==)
        else {
            let adapter = model.adapter.map { " with the adapter \($0)" } ?? ""
            throw UserError(
                .badJob,
                "model, adapter, engine and kv must be those of the loaded model: \(model.folder ?? "?")\(adapter), engine: \(model.kind.rawValue)."
            )
        }
        guard engine.threads == nil, engine.kvBudget == nil else {
            throw UserError(
                .badJob,
                "threads and kv_budget belong to a model that is loaded already; leave them out of the job.")
        }
    }
}
