import BatchPipeline
import Errors
import FoundationShim
import JSON
import OperatingSystem

/// README of a dataset of results, with the hub's metadata, filled from the manifest. Untrusted values stand in blocks
/// of code, one a line.
struct DatasetCard {
    let manifest: JSONValue
    /// `org/name`.
    let repository: String
    /// Path within the repository.
    let data: String
    /// Name of the job file there; nil if none is pushed.
    let job: String?

    var text: String {
        """
        ---
        configs:
        - config_name: default
          data_files:
          - split: train
            path: \(JSONWriter.text(of: .string(data)))
        tags:
        - synthetic
        - phibatch
        ---

        # \(repository)

        \(block(facts))

        ## Settings

        \(block(settings))

        ## How to verify

        The same job gives the same bytes on any machine. With the job file and its input at hand, this makes some of the \
        results again and compares them byte for byte:

        \(block([("phibatch verify", .string("\(data) \(job ?? "JOB") --sample 5%"))], separator: " "))

        No license is set here; add `license:` to the head of this page.

        """
    }

    private var facts: [(String, JSONValue?)] {
        let (counts, model) = (manifest["counts"], manifest["model"])
        var inputs: [JSONValue] = []
        if case .array(let all)? = manifest["input"] { inputs = all }
        return [
            ("made by", manifest["program"]), ("run", manifest["run"]), ("results", counts?["results"]),
            ("failed", counts?["failed"]), ("tokens generated", counts?["completion_tokens"]),
            ("model", model?["repository"] ?? model?["name"]), ("revision", model?["revision"]),
            ("adapter", model?["adapter"]), ("SHA-256 of the output", manifest["output"]?["sha256"]),
        ]
            + inputs.flatMap { input in
                [
                    ("input", input["source"] ?? input["file"]), ("rows that the job makes", input["rows"]),
                    ("SHA-256 of the input", input["sha256"]),
                ]
            }
    }

    private var settings: [(String, JSONValue?)] {
        ["job", "engine"].flatMap { group -> [(String, JSONValue?)] in
            guard case .object(let members)? = manifest["made_with"]?[group] else { return [] }
            return members.map { ($0.name, $0.value) }
        }
    }

    private func block(_ rows: [(String, JSONValue?)], separator: String = ": ") -> String {
        rows.compactMap { name, value in
            // An unset setting is a dash.
            guard let value, value != .null, value != "-" else { return nil }
            var text = JSONWriter.text(of: value)
            if case .string(let plain) = value { text = plain }
            return "    \(name)\(separator)\(text.split(whereSeparator: \.isNewline).joined(separator: " "))"
        }.joined(separator: "\n")
    }
}
