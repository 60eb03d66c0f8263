import FoundationShim
import OperatingSystem

/// All files that the jobs of a run read and write. Two names of one file, of which one is written, are found before
/// any is opened; links are followed, also those to files not there yet.
package struct FileNames {
    private struct Entry {
        var path: String
        /// As in "the output".
        var what: String
        /// Nil if it is only read.
        var setting: String?
        /// The job's number; nil for the whole run.
        var job: Int?
        /// Its place and its identity.
        var keys: [AnyHashable]
    }

    private var known: [AnyHashable: Entry] = [:]
    private var written: [Entry] = []
    private var patterns: [(pattern: String, job: Int)] = []
    private var jobs = 0

    package init() {}

    /// - Throws: `UserError` if a file of the job's has the name of another one, or the output's place can't be
    ///   examined.
    package mutating func add(_ job: JobSettings) throws {
        for entry in try entries(of: job) { try add(entry) }
        for pattern in job.inputPatterns where JobSettings.isPattern(pattern) {
            for entry in written { try Self.check(pattern, of: jobs, entry) }
            patterns.append((pattern, jobs))
        }
        jobs += 1
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
        func file(_ path: String, _ what: String, _ setting: String? = nil) -> Entry {
            entry(path, what, setting: setting, job: jobs)
        }
        var entries = job.input.map { file($0, "the input") } + job.sources.map { file($0.path, $0.what) }
        entries.append(file(job.output, "the output", "output"))
        if job.output != "-" {
            entries += try OutputPaths(output: job.output).own.map {
                file($0.path, "a file kept beside the output (\($0.use.rawValue))", "output")
            }
            if job.provenance {
                entries.append(
                    file(OutputPaths.manifest(of: job.output), "the manifest of the output", "output"))
            }
        }
        if let errors = job.errors {
            entries.append(file(errors, "the file of failed lines", "file as errors"))
        }
        return entries
    }

    private func entry(_ path: String, _ what: String, setting: String?, job: Int?) -> Entry {
        var entry = Entry(path: path, what: what, setting: setting, job: job, keys: [])
        if path == "-" {
            // A terminal may be both.
            if let status = try? FileInfo(of: setting == nil ? 0 : 1), status.kind == .regular {
                entry.keys = [status.identity]
            }
            entry.path = setting == nil ? "stdin" : "stdout"
            return entry
        }
        entry.keys = [Files.destination(of: path).pathBytes]
        if Files.kind(of: path) == .regular, let identity = Files.identity(of: path) {
            entry.keys.append(identity)
        }
        return entry
    }

    // MARK: Conflicts

    private static func check(_ new: Entry, _ old: Entry) throws {
        let (write, other) = new.setting != nil ? (new, old) : (old, new)
        guard let setting = write.setting else { return }
        let owner = write.job == other.job || write.job == nil || other.job == nil ? "" : ofAnotherJob
        throw UserError(
            .badJob, at: other.path,
            "\(write.what) would overwrite \(other.what)\(owner). Name another \(setting).")
    }

    private static let ofAnotherJob = " of another job of this run"

    /// A job's pattern excludes only its own files.
    private static func check(_ pattern: String, of job: Int, _ entry: Entry) throws {
        guard let setting = entry.setting, entry.job != job, Files.pattern(pattern, fits: entry.path) else {
            return
        }
        let owner = entry.job == nil ? "" : ofAnotherJob
        throw UserError(
            .badJob, at: pattern,
            "the pattern of the input fits \(entry.path), which is \(entry.what)\(owner). Name another \(setting), or a narrower pattern."
        )
    }
}
