import Jobs
import Logging
import OperatingSystem
import PhiModel

/// A job and how it is run.
///
/// ```swift
/// let run = try BatchJob(file: "jobs/demo.yaml").run()
/// for try await progress in run { print(progress.done, "of", progress.lines) }
/// let outcome = try await run.outcome
/// ```
public struct BatchJob: Sendable {
    public var settings: JobSettings
    /// Begin again instead of going on where an earlier run stopped; its journal and output are kept aside.
    public var restarts = false
    /// What to do if earlier results were made with another model or other settings.
    public var ifChanged = SettingsChange.refuse
    /// Let any number of results go whose lines are no longer in the input.
    public var prunes = false
    /// If another run is writing the output, wait for its end instead of throwing.
    public var waits = false
    /// Results of the finished output that are made again, with the next seed.
    package var redo: RedoChoice?
    /// Where packed weights and the hashes of a model's files are kept from one start to the next. Off unless a program
    /// asks for it: a library writes no files of its own accord.
    public var cache = WeightCacheLocation.off
    /// The output with which the job's results are to be compared: lines are known as they are there.
    var verified: String?
    /// Takes what a person may want to know on the way; by default nobody does.
    public var log = Logger(label: "phibatch") { _ in SwiftLogNoOpLogHandler() }

    /// A job whose settings are given in code.
    /// - Throws: `JobError` naming the setting, or a file that the job names.
    public init(_ settings: JobSettings) throws {
        try settings.check(file: nil)
        try settings.checkValues()
        if let problem = settings.engine.problem { throw JobError(.badJob, problem) }
        self.settings = settings
        self.settings.chooseOutputFormat()
        try self.settings.checkOutputFormat(file: nil)
        try self.settings.checkFiles()
    }

    /// A job file (YAML or JSON). Relative paths in it start at its folder.
    /// - Throws: `JobError` naming the file, line and key, or a file that the job names.
    public init(file: String) throws { try self.init(JobSettings.load(file: file)) }

    /// What is hardly meant, but no error.
    package func warnings() throws -> [String] {
        settings.engine.fallbacks + (try settings.warnings())
    }

    /// Runs the job with a model of its own, loaded when the first line needs it: never, if all lines are done.
    ///
    /// It begins at once. What is wrong with model, input or output shows when progress or outcome are read.
    public func run() -> RunningJob {
        RunningJob { run in
            let session = try JobSession(self, stopFlag: run.stopFlag)
            run.end(Result { try session.run(stopFlag: run.stopFlag, progress: run.publish) })
        }
    }

    /// Runs the job on a model that is loaded. Its lines share the steps with whatever else the model does.
    ///
    /// The job's `threads` and `kv_budget` must be left to the model, which has them already. While the finished
    /// output is put in place, the model's other requests wait.
    public func run(on model: ModelContainer) -> RunningJob {
        RunningJob { run in
            try checkFit(model)
            let session = try JobSession(self, engine: model.engine.identity, stopFlag: run.stopFlag)
            try session.join(model, run)
        }
    }

    private func checkFit(_ model: ModelContainer) throws {
        func check(_ name: String, _ own: String?, _ loaded: String?, _ isSame: Bool) throws {
            guard !isSame else { return }
            throw JobError(
                .badJob,
                "\(name) is \(own ?? "none"), but the model was loaded with \(loaded ?? "none").")
        }
        func place(_ path: String?) -> Files.Identity?? { path.map { Files.identity(of: $0) } }
        guard let folder = model.folder, Files.identity(of: folder) == Files.identity(of: settings.model)
        else {
            throw JobError(
                .badJob,
                "model is \(settings.model), but the job is to run on the model of \(model.folder ?? "?").")
        }
        try check("adapter", settings.adapter, model.adapter, place(settings.adapter) == place(model.adapter))
        let entry = settings.engine.kind.entry
        try check(
            "engine", settings.engine.kind.rawValue, model.kind.rawValue, entry.kind == model.kind)
        guard settings.engine.threads == .auto, settings.engine.kvBudget == .auto else {
            throw JobError(
                .badJob,
                "threads and kv_budget belong to a model that is loaded already; leave them out of the job.")
        }
        let precision = settings.engine.kvPrecision
        let wanted = try entry.identity(EngineOptions(kvPrecision: precision.engineValue))
        try check(
            "kv", precision.rawValue, "another precision",
            precision == .auto || wanted.elementsEqual(model.engine.identity, by: ==))
    }
}
