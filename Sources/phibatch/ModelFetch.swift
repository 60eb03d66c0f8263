import Essentials
import Faults
import ModelHub
import OperatingSystem
import PhiModel
import Synchronization

/// Finds the folder of a model that a person named, and fetches what is missing.
struct ModelFetch {
    let console: Console
    let settings: HubSettings

    /// - Parameter isOffline: nothing may be fetched, whatever the environment says.
    init(console: Console, isOffline: Bool) {
        self.console = console
        var settings = HubSettings()
        if isOffline { settings.isOffline = true }
        self.settings = settings
    }

    /// The folder of a model that can run: one that other programs publish is converted into the cache first, once.
    /// - Parameter path: the name as a path.
    /// - Throws: `HubError`; `ModelError` for a model that can't be converted.
    func folder(_ name: String, path: String) throws -> String {
        let folder = try source(name, path: path)
        guard let model = try PublishedModel(folder) else { return folder }
        return try model.folder(
            cache: .standard(),
            begins: { console.say("converting \(model.path), \(model.kind), once; it is kept in \($0)") },
            progress: { console.progress("\($0.layersDone) of \($0.layerCount) layers") },
            ends: { console.say(losses: $0) })
    }

    /// The folder or file of a model as it is published.
    /// - Parameter path: the name as a path.
    /// - Throws: `HubError`.
    func source(_ name: String, path: String) throws -> String {
        let model = try ModelName(name, path: path)
        // A model that is here needs no task: its threads may not be had where processes or memory are limited.
        if let folder = model.folder(in: HubCache(folder: settings.cacheFolder)) { return folder }
        return try fetched { try await model.fetchedFolder(settings, report: $0) }
    }

    /// For the commands besides `run`: of a name, or a path from the working directory on.
    /// - Throws: as `folder(_:path:)`.
    static func folder(_ name: String) throws -> String {
        try ModelFetch(console: Console(isQuiet: false), isOffline: false).folder(name, path: name)
    }

    /// Fetches a repository, or what of it is missing or has changed.
    /// - Throws: `HubError`.
    func fetch(_ id: RepositoryID) throws -> String {
        try fetched { try await ModelDownload(settings: settings).fetch(id, report: $0) }
    }

    /// Reads all files of a model that was fetched, and fetches those again that are not as they were published.
    /// - Throws: `HubError`, `ModelError`.
    func verify(_ id: RepositoryID, in folder: String) throws -> VerifyReport {
        let report = try VerifyReport(folder: folder, console: console)
        guard !report.damaged.isEmpty, !settings.isOffline else { return report }
        for fault in report.faults { console.warn(fault) }
        try HubCache(folder: settings.cacheFolder).removeBlobs(of: report.damaged, in: folder, id)
        return try VerifyReport(folder: fetch(id), console: console)
    }

    /// Says on the console what a fetch reports.
    func fetched<Value: Sendable>(
        _ body: @escaping @Sendable (@escaping @Sendable (ModelDownload.Event) -> Void) async throws -> Value
    ) throws -> Value {
        let console = console
        // Files that are fetched together fail together.
        let lastPause = Mutex<Message>("")
        return try Blocking.result {
            try await body { event in
                switch event {
                case .asks(let endpoint): console.progress("asking \(endpoint)")
                case .begins(_, _, 0): break
                case .begins(let id, let files, let missing):
                    console.say("fetching \(id): \(Self.size(missing)) of \(files) files")
                case .progress(let progress): console.progress(Self.line(progress))
                case .pauses(let reason, let seconds):
                    let text: Message = "\(reason); trying again in \(Self.time(seconds))"
                    let isNew = lastPause.withLock { last in
                        defer { last = text }
                        return last != text
                    }
                    if isNew { console.say(text) }
                case .waits(let file): console.say("waiting for another process that is fetching \(file)")
                }
            }
        }
    }

    static func line(_ progress: DownloadProgress) -> Message {
        var line: Message = "\(size(progress.done)) of \(size(progress.total))"
        line += ", \(size(Int(progress.bytesPerSecond)))/s"
        if let left = progress.secondsLeft, progress.done < progress.total { line += ", \(time(left)) left" }
        return line
    }

    static func size(_ bytes: Int) -> String {
        bytes >= 1_000_000_000
            ? (Double(bytes) / 1e9).text(decimals: 2) + " GB"
            : (Double(bytes) / 1e6).text(decimals: bytes < 10_000_000 ? 1 : 0) + " MB"
    }

    private static func time(_ seconds: Double) -> String {
        let whole = Int(min(seconds, 1e6).rounded(.up))
        return whole < 60 ? "\(whole) s" : "\(whole / 60) min \(whole % 60) s"
    }
}

/// For a program that has nothing else to do meanwhile.
enum Blocking {
    /// Waits on this thread for what a task brings.
    static func result<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) throws -> Value
    {
        let done = Monitor<Result<Value, any Error>?>(nil)
        Task {
            let result: Result<Value, any Error>
            do { result = .success(try await body()) } catch { result = .failure(error) }
            done.change { $0 = result }
        }
        return try done.wait { $0 }.get()
    }
}

extension Console {
    /// Tells of losses of a conversion.
    func say(losses summary: ConversionSummary) {
        for loss in summary.losses {
            let percent = (loss.relativeError * 1e5).rounded() / 1000
            say(
                "\(loss.matrices) matrices of \(loss.type) are now \(loss.bits) bits, and off by \(percent) % "
                    + "(root mean square); all others keep their exact values")
        }
    }
}
