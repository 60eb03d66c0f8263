import Errors
import JSON
import Jobs
import OperatingSystem
import PhiModel

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
        let status = try JobStatus.read(output: job.output)
        guard status.state == .complete, let settings = OutputLog.header(of: job.output) else {
            throw UserError(.badJob, at: job.output, "is not there, or not complete; run the job first.")
        }
        let parts = Parts(
            output: job.output, errors: job.errors, made: settings.fingerprint, kept: settings.kept,
            results: status.done, failed: status.failed, completionTokens: status.completionTokens)
        var members = try Self.members(job, parts)
        if let energy {
            members.append(("energy", ["joules_per_1000_tokens": .double((1000 * energy).rounded() / 1000)]))
        } else if let old = try? Manifest(ofOutput: job.output)?.json, let known = old["energy"],
            old["output"] == members.first(where: { $0.0 == "output" })?.1
        {
            // From the run that made it.
            members.append(("energy", known))
        }
        json = .object(JSONObject(members))
    }

    /// Its members besides the job.
    private struct Parts {
        var output: String
        var errors: String?
        /// Nil if the model is not on this machine.
        var made: RunFingerprint?
        /// Nil if unknown.
        var kept: [AcceptedRun]?
        var results: Int
        var failed: Int
        var completionTokens: Int
    }

    private static func members(_ job: JobSettings, _ parts: Parts) throws -> [(String, JSONValue)] {
        var members: [(String, JSONValue)] = [
            ("phibatch_manifest", .int(version)),
            ("program", .string(program)),
        ]
        if let made = parts.made { members.append(("run", .string(made.digest))) }
        members.append(("output", try file(parts.output)))
        if let errors = parts.errors { members.append(("errors", try file(errors))) }
        members += [
            ("input", .array(try input(job))),
            ("model", model(job)),
        ]
        if let made = parts.made { members.append(("made_with", Self.parts(made))) }
        let kept = parts.kept?.compactMap { $0.fingerprint.map(Self.parts) } ?? []
        if !kept.isEmpty { members.append(("some_results_made_with", .array(kept))) }
        members.append(
            (
                "counts",
                [
                    "results": .int(parts.results), "failed": .int(parts.failed),
                    "completion_tokens": .int(parts.completionTokens),
                ]
            ))
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
        var members: [(String, JSONValue)] = [("file", .string(Paths.name(of: path)))]
        if let origin { members.append(("source", .string(origin.source))) }
        if let version = origin?.version { members.append(("version", .string(version))) }
        return .object(JSONObject(members + [("bytes", .int(size)), ("sha256", .string(sha256))]))
    }

    private static func hash(_ path: String) throws -> (size: Int, sha256: String) {
        do throws(SystemError) {
            let hash = try FileHash(of: OpenFile.at(path))
            return (hash.state.size, hash.sha256)
        } catch {
            throw UserError(.io, error)
        }
    }

    /// Returns its name, and for a model from Hugging Face's cache its repository and commit.
    private static func model(_ job: JobSettings) -> JSONValue {
        var members: [(String, JSONValue)] = [
            ("name", .string(job.modelName ?? Paths.name(of: job.model)))
        ]
        let parts = (Files.canonicalPath(job.model) ?? job.model).split(at: "/").map(String.init)
        if let place = parts.lastIndex(of: "snapshots"), place > 0, place + 1 < parts.count,
            parts[place - 1].hasPrefix("models--")
        {
            let repository = parts[place - 1].dropFirst("models--".count).replacing(each: "--", with: "/")
            members.append(("repository", .string(String(repository))))
            members.append(("revision", .string(parts[place + 1])))
        }
        if let adapter = job.adapter { members.append(("adapter", .string(Paths.name(of: adapter)))) }
        return .object(JSONObject(members))
    }

    /// Groups values by prefix: `model.config.json` becomes `config.json` in `model`.
    private static func parts(_ fingerprint: RunFingerprint) -> JSONValue {
        var groups: [(name: String, members: [(String, JSONValue)])] = []
        for (name, value) in fingerprint.parts {
            let group = String(name.prefix(until: "."))
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

    package typealias Comparison = (differences: [Message], unseen: [Message])

    /// Compares each of its members with the present value.
    /// - Parameters:
    ///   - output: the manifest's output.
    ///   - errors: its file of failed lines, if any.
    ///   - check: the check of the output.
    /// - Returns: members that differ, and members without anything to compare.
    /// - Throws: the errors of a run, if a file can't be read.
    package func comparison(
        with job: JobSettings, output: String, errors: String?, check: OutputCheck, cache: WeightCacheLocation
    ) throws -> Comparison {
        let settings = OutputLog.header(of: output)
        let parts = Parts(
            output: output, errors: errors, made: try job.runFingerprint(cache: cache), kept: settings?.kept,
            results: check.results, failed: check.failed, completionTokens: check.completionTokens)
        let here = JSONValue.object(JSONObject(try Self.members(job, parts)))
        let (old, new) = (Self.values(in: json), Self.values(in: here))
        let now = Dictionary(new, uniquingKeysWith: { first, _ in first })
        let names = Set(old.map(\.0))
        var (differences, unseen): ([Message], [Message]) = ([], [])
        for (name, value) in old {
            guard let right = now[name] else {
                if name.hasPrefix("some_results_made_with"), settings?.kept.isEmpty == true {
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
