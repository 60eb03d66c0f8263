import BatchPipeline
import Essentials
import Faults
import JSON
import OperatingSystem

/// The README of a dataset that is pushed, with the head that the hub reads: filled by what the manifest says.
struct DatasetCard {
    let manifest: JSONValue
    /// `org/name`.
    let repository: String
    /// Within the repository.
    let data: String
    /// The job file's name there; nil if none is pushed.
    let job: String?

    var text: String {
        """
        ---
        configs:
        - config_name: default
          data_files:
          - split: train
            path: \(quoted(data))
        size_categories:
        - \(Self.size(results))
        tags:
        - synthetic
        - phibatch
        ---

        # \(repository)

        \(counted(results, "result")), made with \(model) by \(string("program") ?? "phibatch") from \(input).

        | | |
        |---|---|
        \(rows.map { "| \($0) | \(Self.cell($1)) |" }.joined(separator: "\n"))

        ## Settings

        \(settings)

        ## How to verify

        The same job gives the same bytes on any machine. With `\(job ?? "the job file")`\(inputs.isEmpty ? "" : " and its input") at hand, this makes some \
        of the results again and compares them byte for byte:

            phibatch verify \(data) \(job ?? "job.yaml") --sample 5%

        `\(manifestName)` has the SHA-256 of the data, of the input and of the model's files.

        No license is set here; add `license:` to the head of this page.

        """
    }

    private var manifestName: String { OutputPaths.manifest(of: data) }

    /// Where the hub puts datasets of so many rows.
    static func size(_ rows: Int) -> String {
        let steps = [
            (1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"),
            (10_000_000, "1M<n<10M"), (100_000_000, "10M<n<100M"), (1_000_000_000, "100M<n<1B"),
        ]
        return steps.first { rows < $0.0 }?.1 ?? "n>1B"
    }

    private func string(_ name: String) -> String? {
        if case .string(let text)? = manifest[name] { text } else { nil }
    }

    private func count(_ name: String) -> Int {
        if case .int(let count)? = manifest["counts"]?[name] { count } else { 0 }
    }

    private var results: Int { count("results") }

    private func text(_ value: JSONValue?) -> String? {
        switch value {
        case .string(let text)?: text
        case nil, .null?: nil
        case let other?: JSONWriter.text(of: other)
        }
    }

    private var model: String {
        let model = manifest["model"]
        let name = text(model?["repository"]) ?? Paths.name(of: text(model?["name"]) ?? "a model")
        let page = model?["repository"] == nil ? name : "[\(name)](https://huggingface.co/\(name))"
        let adapter = text(model?["adapter"]).map { " with the adapter \($0)" } ?? ""
        return page + (text(model?["revision"]).map { " at \($0)" } ?? "") + adapter
    }

    private var inputs: [JSONValue] {
        if case .array(let inputs)? = manifest["input"] { inputs } else { [] }
    }

    private var input: String {
        let names = inputs.map { input -> String in
            if let rows = text(input["rows"]) { return "\(rows) rows that the job makes" }
            return Self.code(text(input["source"]) ?? text(input["file"]) ?? "?")
        }
        return names.count > 5 ? "\(names.count) files" : names.joined(separator: ", ")
    }

    private var rows: [(String, String)] {
        let data = manifest["output"]
        return [
            ("Results", "\(results), of which \(count("failed")) failed"),
            ("Tokens generated", "\(count("completion_tokens"))"),
            ("Run", string("run") ?? "?"),
            ("SHA-256 of the output", text(data?["sha256"]) ?? "?"),
        ]
            + inputs.compactMap { input in
                text(input["sha256"]).map { ("SHA-256 of \(text(input["file"]) ?? "the input")", $0) }
            }
    }

    private var settings: String {
        guard case .object(let groups)? = manifest["made_with"] else { return "Unknown." }
        let lines = groups.flatMap { group -> [String] in
            guard ["job", "engine"].contains(group.name), case .object(let members) = group.value else {
                return []
            }
            // What is not set is a dash.
            return members.compactMap { member in
                text(member.value).flatMap { $0 == "-" ? nil : "- `\(member.name)`: \(Self.code($0))" }
            }
        }
        return lines.joined(separator: "\n")
    }

    /// A text within a line, whatever it holds.
    static func code(_ text: String) -> String {
        let line = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).joined(
            separator: " ")
        let short = line.count > 300 ? "\(line.prefix(300))..." : line
        let longest = short.unicodeScalars.split { $0 != "`" }.map(\.count).max() ?? 0
        let fence = String(repeating: "`", count: longest + 1)
        return longest == 0 ? "`\(short)`" : "\(fence) \(short) \(fence)"
    }

    private static func cell(_ text: String) -> String { text.replacing(each: "|", with: "\\|") }

    private func quoted(_ text: String) -> String { JSONWriter.text(of: .string(text)) }
}
