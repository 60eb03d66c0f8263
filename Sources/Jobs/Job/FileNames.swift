import FoundationShim
import OperatingSystem

/// All files that the jobs of a run read and write. Two names of one file, of which one is written, are found before
/// any is opened; links are followed, also those to files not there yet.
package struct FileNames {
    private enum Key: Hashable {
        case place([UInt8])
        case identity(FileInfo.Identity)
    }

    private struct Entry {
        var path: String
        /// As in "the output".
        var what: String
        /// Nil if it is only read.
        var setting: String?
        /// The job's number; nil for the whole run.
        var job: Int?
        var keys: [Key]
    }

    private var known: [Key: Entry] = [:]
    private var written: [Entry] = []
    private var patterns: [(pattern: String, job: Int)] = []
    private var jobs = 0

    package init() {}

    /// - Throws: `UserError` if a file of the job's has the name of another one; then none is added.
    ///   `UserError` if the output's place can't be examined.
    package mutating func add(_ job: JobSettings) throws {
        var names = self
        for entry in try names.entries(of: job) { try names.add(entry) }
        for pattern in job.inputPatterns where JobSettings.isPattern(pattern) {
            for entry in written { try Self.check(pattern, of: names.jobs, entry) }
            names.patterns.append((pattern, names.jobs))
        }
        names.jobs += 1
        self = names
    }

    /// - Throws: `UserError` if the file of metrics has the name of another one.
    package mutating func add(metrics path: String) throws {
        try add(entry(path, "the metrics file", setting: "metrics file", job: nil))
    }

    private mutating func add(_ entry: Entry) throws {
        for key in entry.keys {
            if let other = known[key] {
                try Self.check(entry, other)
            } else {
                known[key] = entry
            }
        }
        guard entry.setting != nil else { return }
        written.append(entry)
        for (pattern, job) in patterns { try Self.check(pattern, of: job, entry) }
    }

    // MARK: Files of a job

    private func entries(of job: JobSettings) throws -> [Entry] {
        func read(_ path: String, _ what: String) -> Entry { entry(path, what, setting: nil, job: jobs) }
        func writes(_ path: String, _ what: String, _ setting: String) -> Entry {
            entry(path, what, setting: setting, job: jobs)
        }
        var entries = job.input.map { read($0, "the input") } + job.sources.map { read($0.path, $0.what) }
        entries.append(writes(job.output, "the output", "output"))
        if job.output != "-" {
            let paths = try OutputPaths(output: job.output, in: .real)
            entries += paths.own.map {
                writes($0.path, "a file kept beside the output (\($0.use.rawValue))", "output")
            }
            if job.provenance {
                entries.append(
                    writes(OutputPaths.manifest(of: job.output), "the manifest of the output", "output"))
            }
        }
        if let errors = job.errors {
            entries.append(writes(errors, "the file of failed lines", "file as errors"))
        }
        return entries
    }

    private func entry(_ path: String, _ what: String, setting: String?, job: Int?) -> Entry {
        var entry = Entry(path: path, what: what, setting: setting, job: job, keys: [])
        if path == "-" {
            // A terminal may be both.
            if let status = try? FileInfo(of: setting == nil ? 0 : 1), status.kind == .regular {
                entry.keys = [.identity(status.identity)]
            }
            entry.path = setting == nil ? "stdin" : "stdout"
            return entry
        }
        entry.keys = [.place(Files.destination(of: path).pathBytes)]
        if Files.kind(of: path) == .regular, let identity = Files.identity(of: path) {
            entry.keys.append(.identity(identity))
        }
        return entry
    }

    // MARK: Conflicts

    private static func check(_ new: Entry, _ old: Entry) throws {
        if let setting = new.setting, old.setting != nil {
            let owner = old.job == new.job || old.job == nil ? "the run" : "a job before it"
            throw UserError(
                .badJob, at: new.path,
                "is \(new.what), and \(owner) writes the same file as \(old.what). Name another \(setting).")
        }
        for (read, write) in [(new, old), (old, new)] {
            guard read.setting == nil, let setting = write.setting else { continue }
            let ofOther = read.job == write.job || write.job == nil ? "" : " of another job of this run"
            throw UserError(
                .badJob, at: read.path,
                "\(write.what)\(ofOther) would overwrite \(read.what). Name another \(setting).")
        }
    }

    /// A job's pattern excludes only its own files.
    private static func check(_ pattern: String, of job: Int, _ entry: Entry) throws {
        guard let setting = entry.setting, entry.job != job, Files.pattern(pattern, fits: entry.path) else {
            return
        }
        let owner = entry.job == nil ? "" : " of another job of this run"
        throw UserError(
            .badJob, at: pattern,
            "the pattern of the input fits \(entry.path), which is \(entry.what)\(owner). Name another \(setting), or a narrower pattern."
        )
    }
}
