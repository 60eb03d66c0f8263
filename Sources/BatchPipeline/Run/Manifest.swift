import Foundations
import PhiModel

/// What a finished output came from, as a JSON file beside it: so that who has the dataset knows what made it, and
/// `verify` can tell whether all of it is still the same.
package struct Manifest: Sendable {
    /// The output's name with this after it.
    package static let nameEnd = ".manifest.json"
    private static let start = "{\n  \"phibatch_manifest\": "
    private static let version = 1

    private let json: JSONValue

    // MARK: Writing

    /// - Parameters:
    ///   - job: of the output, with the folder of its model.
    ///   - cache: where hashes of large files are kept.
    /// - Throws: `StoreError` or `JobError` if the output is not there or not complete, or a file can't be read.
    package init(_ job: JobSettings, cache: WeightCacheLocation) throws {
        let format = job.outputFormat.format
        let system = POSIXFileSystem()
        let paths = try OutputPaths(output: job.output, format: format, in: system)
        let status = try JobStatus.read(output: job.output, format: format, scratch: cache.scratch)
        guard status.state == .complete, let settings = try OutputSettings.read(at: paths, in: system) else {
            throw JobError(.badJob, at: job.output, "is not there, or not complete; run the job first.")
        }
        var members: [(String, JSONValue)] = [
            ("phibatch_manifest", .int(Self.version)),
            ("program", .string("phibatch \(ProgramVersion.current)")),
            ("run", .string(settings.fingerprint.digest)),
            ("output", try Self.file(job.output)),
        ]
        if let errors = job.errors { members.append(("errors", try Self.file(errors))) }
        members += [
            (
                "input",
                .array(try job.input.map { $0 == "-" ? ["file": "-"] : try Self.file($0) })
            ),
            ("model", Self.model(job)),
            ("made_with", Self.parts(settings.fingerprint)),
        ]
        let kept = settings.kept.compactMap { $0.fingerprint.map(Self.parts) }
        if !kept.isEmpty { members.append(("some_results_made_with", .array(kept))) }
        members.append(
            (
                "counts",
                [
                    "results": .int(status.done), "failed": .int(status.failed),
                    "completion_tokens": .int(status.completionTokens),
                ]
            ))
        json = .object(JSONObject(members))
    }

    /// Puts it beside the output, unless it is there.
    /// - Returns: its path.
    /// - Throws: `JobError` or `StoreError` naming the path.
    @discardableResult package func put(besideOutput output: String) throws -> String {
        let path = output + Self.nameEnd
        let file = try ReplacedFile(path, start: Self.start, what: "manifest")
        let bytes = Array(json.indentedText.utf8)
        if (try? Files.contents(of: path)) != bytes { try file.replace(with: bytes) }
        return path
    }

    private static func file(_ path: String) throws -> JSONValue {
        let (size, sha256) = try hash(path)
        return [
            "file": .string(Paths.name(of: path)), "bytes": .int(size), "sha256": .string(sha256),
        ]
    }

    private static func hash(_ path: String) throws -> (size: Int, sha256: String) {
        do throws(FileFault) {
            let hash = try FileHash(of: OpenFile.at(path))
            return (hash.state.size, hash.sha256)
        } catch {
            throw JobError(.inputOutput, at: path, "\(error.reason).")
        }
    }

    /// Its name, and where it comes from Hugging Face's cache, its repository and commit.
    private static func model(_ job: JobSettings) -> JSONValue {
        var members: [(String, JSONValue)] = [
            ("name", .string(job.modelName ?? Paths.name(of: job.model)))
        ]
        let parts = (Files.canonicalPath(job.model) ?? job.model).split(separator: "/").map(String.init)
        if let place = parts.lastIndex(of: "snapshots"), place > 0, place + 1 < parts.count,
            parts[place - 1].hasPrefix("models--")
        {
            let repository = parts[place - 1].dropFirst("models--".count).replacing("--", with: "/")
            members.append(("repository", .string(String(repository))))
            members.append(("revision", .string(parts[place + 1])))
        }
        if let adapter = job.adapter { members.append(("adapter", .string(Paths.name(of: adapter)))) }
        return .object(JSONObject(members))
    }

    /// By group: `model.config.json` is `config.json` in `model`.
    private static func parts(_ fingerprint: RunFingerprint) -> JSONValue {
        var groups: [(name: String, members: [(String, JSONValue)])] = []
        for (name, value) in fingerprint.parts {
            let group = String(name.prefix { $0 != "." })
            let member = (String(name.dropFirst(group.count + 1)), JSONValue.string(value))
            if let known = groups.firstIndex(where: { $0.name == group }) {
                groups[known].members.append(member)
            } else {
                groups.append((group, [member]))
            }
        }
        return .object(JSONObject(groups.map { ($0.name, .object(JSONObject($0.members))) }))
    }

    // MARK: Comparing

    /// - Returns: nil if the output has none.
    /// - Throws: `JobError` if there is one that can't be read.
    package init?(ofOutput output: String) throws {
        let path = output + Self.nameEnd
        guard Files.kind(of: path) == .regular else { return nil }
        let bytes = try ByteSource(path: path).readAll(limit: 1 << 24)
        guard let json = try? JSONValue(parsing: bytes, limits: .file),
            json.int("phibatch_manifest") == Self.version
        else { throw JobError(.badJob, at: path, "is no manifest that can be read.") }
        self.json = json
    }

    /// What is not as it was: the output, the input, the model, the settings.
    /// - Parameter output: which the manifest is of.
    /// - Throws: as a run, if a file can't be read.
    package func differences(
        from job: JobSettings, output: String, cache: WeightCacheLocation
    ) throws -> [Message] {
        var differences: [Message] = []
        func compare(_ path: String, _ file: JSONValue?) throws {
            guard let sha256 = file?.string("sha256"), path != "-" else { return }
            if try Self.hash(path).sha256 != sha256 {
                differences.append("\(path) is not as it was when the output was made (SHA-256)")
            }
        }
        try compare(output, json["output"])
        if case .array(let files)? = json["input"] {
            if files.count != job.input.count {
                differences.append("the input had \(files.count) files, and has \(job.input.count)")
            }
            for (path, file) in zip(job.input, files) { try compare(path, file) }
        }
        guard let now = try job.runFingerprint(cache: cache) else { return differences }
        let (before, after) = (Self.values(json["made_with"]), Self.values(Self.parts(now)))
        for (name, value) in after where before[name] != value {
            differences.append("\(name) was \(before[name] ?? "not set"), and is \(value)")
        }
        for (name, value) in before where after[name] == nil {
            differences.append("\(name) was \(value), and is not set")
        }
        return differences.sorted { $0.text < $1.text }
    }

    private static func values(_ parts: JSONValue?) -> [String: String] {
        guard case .object(let groups)? = parts else { return [:] }
        var values: [String: String] = [:]
        for group in groups {
            guard case .object(let members) = group.value else { continue }
            for member in members {
                guard case .string(let text) = member.value else { continue }
                values["\(group.name).\(member.name)"] = text
            }
        }
        return values
    }
}
