import Errors
import JSON
import Jobs
import OperatingSystem

/// Origin of a finished output, as a JSON file beside it: for readers of the dataset, and for `verify`, which checks
/// that all of it still holds.
package struct Manifest: Sendable {
    private static let start = "{\n  \"phibatch_manifest\": "
    private static let version = 1

    package let json: JSONValue

    // MARK: Writing

    /// - Parameters:
    ///   - job: the output's job, with the folder of its model.
    ///   - cache: has hashes of large files.
    ///   - energy: joules for 1,000 tokens in the run that ends now; nil if unknown.
    /// - Throws: `UserError` if the output is missing or incomplete, or a file can't be read.
    package init(_ job: JobSettings, cache: WeightCacheLocation, energy: Double? = nil) throws {
        let status = try JobStatus(output: job.output)
        guard status.state == .complete, let header = status.log?.finished?.header else {
            throw UserError(.badJob, at: job.output, "is not there, or not complete; run the job first.")
        }
        var members = try Self.members(
            job, output: job.output, errors: job.errors, made: header.fingerprint, kept: header.kept,
            counts: (status.done, status.failed, status.completionTokens))
        if let energy {
            members["energy"] = ["joules_per_1000_tokens": .double((1000 * energy).rounded() / 1000)]
        } else if let old = try? Manifest(ofOutput: job.output)?.json, old["output"] == members["output"] {
            // From the run that made it.
            members["energy"] = old["energy"]
        }
        json = .object(members)
    }

    /// - Parameters:
    ///   - made: nil if the model is not on this machine.
    private static func members(
        _ job: JobSettings, output: String, errors: String?, made: RunFingerprint?, kept: [AcceptedRun],
        counts: (results: Int, failed: Int, completionTokens: Int)
    ) throws -> JSONObject {
        var members: JSONObject = ["phibatch_manifest": .int(version), "program": .string(program)]
        members["run"] = made.map { .string($0.digest) }
        members["output"] = try file(output)
        members["errors"] = try errors.map { try file($0) }
        members["input"] = .array(try input(job))
        members["model"] = model(job)
        members["made_with"] = made.map(parts)
        let others = kept.compactMap { $0.fingerprint.map(parts) }
        if !others.isEmpty { members["some_results_made_with"] = .array(others) }
        members["counts"] = [
            "results": .int(counts.results), "failed": .int(counts.failed),
            "completion_tokens": .int(counts.completionTokens),
        ]
        return members
    }

    private static func input(_ job: JobSettings) throws -> [JSONValue] {
        guard let rows = job.rows else {
            let distant = job.distant.flatMap(\.files)
            return try job.input.map { path in
                if path == "-" { return ["file": "-"] }
                return try file(path, from: distant.first { $0.path == path })
            }
        }
        let picks = try job.pick.map { ($0.name, try $0.shown { try file($0) }) }
        return [["rows": .int(rows), "pick": .object(JSONObject(picks))]]
    }

    private static var program: String { "phibatch \(ProgramVersion.current)" }

    /// Writes it beside the output, unless it exists.
    /// - Returns: its path.
    /// - Throws: `UserError` naming the path.
    @discardableResult package func put(besideOutput output: String) throws -> String {
        let path = OutputPaths.manifest(of: output)
        let file = try ReplacedFile(path, start: Self.start, what: "manifest")
        let bytes = Array(json.indentedText.utf8)
        if (try? Files.contents(of: path)) != bytes { try file.replace(with: bytes, isDurable: true) }
        return path
    }

    /// - Parameter origin: address of a downloaded file.
    private static func file(_ path: String, from origin: DistantInput.File? = nil) throws -> JSONValue {
        let (size, sha256) = try hash(path)
        var members: JSONObject = ["file": .string(Paths.name(of: path))]
        members["source"] = (origin?.source).map { .string($0) }
        members["version"] = (origin?.version).map { .string($0) }
        (members["bytes"], members["sha256"]) = (.int(size), .string(sha256))
        return .object(members)
    }

    private static func hash(_ path: String) throws -> (size: Int, sha256: String) {
        let hash = try FileHash(of: .regular(path))
        return (hash.state.size, hash.sha256)
    }

    /// Returns its name, and for a model from Hugging Face's cache its repository and commit.
    private static func model(_ job: JobSettings) -> JSONValue {
        var members: JSONObject = ["name": .string(job.modelName ?? Paths.name(of: job.model))]
        let parts = (Files.canonicalPath(job.model) ?? job.model).split(at: "/").map(String.init)
        if let place = parts.lastIndex(of: "snapshots"), place > 0, place + 1 < parts.count,
            parts[place - 1].hasPrefix("models--")
        {
            let repository = parts[place - 1].dropFirst("models--".count).replacing(each: "--", with: "/")
            members["repository"] = .string(String(repository))
            members["revision"] = .string(parts[place + 1])
        }
        members["adapter"] = job.adapter.map { .string(Paths.name(of: $0)) }
        return .object(members)
    }

    /// Groups values by prefix: `model.config.json` becomes `config.json` in `model`.
    private static func parts(_ fingerprint: RunFingerprint) -> JSONValue {
        var groups = JSONObject()
        for (name, value) in fingerprint.parts {
            let group = String(name.prefix(until: "."))
            var members = JSONObject()
            if case .object(let known)? = groups[group] { members = known }
            members[String(name.dropFirst(group.count + 1))] = .string(value)
            groups[group] = .object(members)
        }
        return .object(groups)
    }

    // MARK: Comparing

    /// - Returns: nil if the output has none.
    /// - Throws: `UserError` if it can't be read.
    package init?(ofOutput output: String) throws {
        let path = OutputPaths.manifest(of: output)
        guard Files.kind(of: path) == .regular else { return nil }
        let bytes = try ByteSource(path: path).readAll(limit: 1 << 24)
        guard let json = try? JSONValue(parsing: bytes, limits: .file),
            json.int("phibatch_manifest") == Self.version
        else { throw UserError(.badJob, at: path, "is no readable manifest.") }
        self.json = json
    }

    /// - Throws: `UserError` if the output has changed since this was made.
    package func check(_ output: String) throws {
        let (size, sha256) = try Self.hash(output)
        guard json["output"]?["sha256"] == .string(sha256), json["output"]?.int("bytes") == size else {
            throw UserError(
                .badJob, at: output,
                "is not as it was when its manifest was made; \"phibatch verify --manifest\" makes a new one."
            )
        }
    }

    typealias Comparison = (differences: [Message], unseen: [Message])

    /// Compares each of its members with the present value.
    /// - Parameters:
    ///   - check: the check of the manifest's output.
    ///   - made: the job's fingerprint; nil if its model is not on this machine.
    /// - Returns: members that differ, and members without anything to compare.
    /// - Throws: `UserError` if a file can't be read.
    func comparison(
        with job: JobSettings, _ check: OutputCheck, made: RunFingerprint?
    ) throws -> Comparison {
        let here = try Self.members(
            job, output: check.path, errors: check.errors, made: made, kept: check.header.kept,
            counts: (check.results, check.failed, check.completionTokens))
        let (old, new) = (Self.values(in: json), Self.values(in: .object(here)))
        let now = Dictionary(new, uniquingKeysWith: { first, _ in first })
        let names = Set(old.map(\.0))
        var (differences, unseen): ([Message], [Message]) = ([], [])
        for (name, value) in old {
            guard let right = now[name] else {
                if name.hasPrefix("some_results_made_with"), check.header.kept.isEmpty {
                    differences.append("\(name) is there, but no result was made so")
                } else {
                    unseen.append("\(name) (nothing here to compare it with)")
                }
                continue
            }
            guard value != right else { continue }
            if name == "program", case .string(let text) = value, text.hasPrefix("phibatch ") {
                // Another version makes the same results, or counts as another run.
                unseen.append("program (it says \(text), and this is \(right.shortText))")
            } else if name.hasSuffix(".sha256") {
                let file = now[String(name.dropLast("sha256".count)) + "file"]?.shortText ?? name
                differences.append(
                    "\(file) is not as it was when the output was made (\(name) was \(value.shortText))")
            } else {
                differences.append("\(name) was \(value.shortText), and is \(right.shortText)")
            }
        }
        // The origin of a model need not be known on this machine.
        for (name, value) in new where !names.contains(name) && !name.hasPrefix("model.") {
            differences.append("\(name) is missing; it is \(value.shortText)")
        }
        return (differences.sorted { $0.text < $1.text }, unseen)
    }

    /// Returns values that are neither objects nor arrays, and the lengths of arrays, each with its path.
    private static func values(in json: JSONValue, _ path: String = "") -> [(String, JSONValue)] {
        switch json {
        case .object(let members):
            members.flatMap { values(in: $0.value, path.isEmpty ? $0.name : "\(path).\($0.name)") }
        case .array(let elements):
            [("\(path).count", .int(elements.count))]
                + elements.enumerated().flatMap { values(in: $0.element, "\(path)[\($0.offset)]") }
        default: [(path, json)]
        }
    }
}

extension JSONValue {
    fileprivate var shortText: String {
        if case .string(let text) = self { return String(text.prefix(200)) }
        return String(JSONWriter.text(of: self).prefix(200))
    }
}
