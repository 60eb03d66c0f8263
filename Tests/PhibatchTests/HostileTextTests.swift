import Foundation
import Testing

/// Whatever comes from outside reaches people with escapes: it can neither steer a terminal nor forge a line.
/// Each case puts the same text into another place, and goes through another message.
@Suite(.tags(.slow), .enabled(if: DemoJob.canRun, "the demo model is not there; make test fetches it"))
struct HostileTextTests {
    /// Begins a line that looks like ours, clears the screen, hides text, turns its direction.
    private static let text =
        "a\nphibatch: FORGED\r\u{1B}[2J\u{9B}8m\u{7F}\t\u{202E}\u{2066}\u{200F}\u{2028}b"

    private static let steering: Set<Unicode.Scalar> = Set(
        ((0..<0x20).filter { $0 != 0x0A } + Array(0x7F..<0xA0) + [0x061C, 0x200E, 0x200F, 0x2028, 0x2029]
            + Array(0x202A...0x202E) + Array(0x2066...0x2069)).compactMap(Unicode.Scalar.init))

    /// A case: what is run in the job's folder.
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        /// May change the folder.
        var prepare: @Sendable (DemoJob) throws -> Void = { _ in }
        let arguments: @Sendable (DemoJob) -> [String]
        var environment: [String: String] = [:]

        var testDescription: String { name }
    }

    /// In ASCII, as YAML reads it, too.
    private static func json(_ value: Any) -> String {
        let data = (try? JSONSerialization.data(withJSONObject: value)) ?? Data()
        return String(decoding: data, as: UTF8.self).unicodeScalars.map {
            (0x20..<0x7F).contains($0.value)
                ? String($0)
                : "\\u" + (String(repeating: "0", count: 4) + String($0.value, radix: 16)).suffix(4)
        }.joined()
    }

    /// A job of these lines.
    private static func lines(_ name: String, _ lines: [String], _ more: [String] = []) -> Case {
        Case(
            name: name,
            prepare: {
                try Data(lines.joined(separator: "\n").utf8).write(to: URL(filePath: $0.folder + "/in.jsonl"))
            }, arguments: { ["run"] + $0.arguments(more) })
    }

    private static func options(_ name: String, _ more: [String]) -> Case {
        Case(name: name, arguments: { ["run"] + $0.arguments(more) })
    }

    private static func jobFile(_ name: String, _ content: String, at path: String = "job.yaml") -> Case {
        Case(
            name: name, prepare: { try Data(content.utf8).write(to: URL(filePath: $0.folder + "/" + path)) },
            arguments: { _ in ["run", path] })
    }

    /// A model folder with this name, and with these files instead of the demo model's.
    private static func model(_ name: String, folder: String = "model", _ files: [String: String] = [:])
        -> Case
    {
        Case(
            name: name,
            prepare: { job in
                let path = job.folder + "/" + folder
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
                for file in try FileManager.default.contentsOfDirectory(atPath: job.model)
                where files[file] == nil {
                    try DemoJob.link("\(job.model)/\(file)", at: "\(path)/\(file)")
                }
                for (file, content) in files {
                    try Data(content.utf8).write(to: URL(filePath: "\(path)/\(file)"))
                }
            },
            arguments: { job in
                var job = job
                job.model = folder
                return ["run"] + job.arguments()
            })
    }

    private static func command(_ arguments: [String]) -> Case {
        Case(name: "command \(arguments.filter { !$0.contains("FORGED") })", arguments: { _ in arguments })
    }

    static let cases: [Case] = {
        let key = json([text: 1])
        let doubled = String(key.dropLast()) + "," + key.dropFirst()
        return [
            lines("doubled id", [json(["id": text]), json(["id": text])]),
            lines("doubled id, quiet", [json(["id": text]), json(["id": text])], ["--quiet"]),
            lines("JSON key", [json(["prompt": 1, text: 2])]),
            lines("doubled JSON key", [doubled, "{}"]),
            lines("unknown role", [json(["messages": [["role": text, "content": text]]])]),
            lines("token ids", [json(["prompt": [text]])]),
            lines("template field", ["{\"x\":1}"], ["--prompt", "{{ x['\(text)'].y.z }}"]),
            options("template", ["--prompt", "{{ \(text) }}"]),
            options("filter", ["--prompt", "{{ x | \(text) }}"]),
            options("unknown option", ["--" + text, "1"]),
            options("short option", ["-" + text]),
            options("value", ["--seed", text]),
            options("word", ["--kv", text]),
            options("second job file", [text, text + text]),
            Case(
                name: "input",
                arguments: { ["run", "--model", $0.model, "--input", text, "--output", "out"] }),
            Case(
                name: "output",
                arguments: { ["run", "--model", $0.model, "--input", "in.jsonl"] + ["--output", text] }),
            Case(
                name: "output in no folder",
                prepare: { try Data().write(to: URL(filePath: $0.folder + "/" + text)) },
                arguments: {
                    ["run", "--model", $0.model, "--input", "in.jsonl", "--output", text + "/out.jsonl"]
                }),
            Case(
                name: "status",
                arguments: { ["status", "--model", $0.model, "--input", "in.jsonl", "--output", text] }),
            Case(
                name: "kernels", arguments: { ["run"] + $0.arguments() },
                environment: ["PHIBATCH_KERNELS": text]),
            Case(
                name: "cache", prepare: { try Data().write(to: URL(filePath: $0.folder + "/" + text)) },
                arguments: { ["run"] + $0.arguments() }, environment: ["PHIBATCH_CACHE": text + "/cache"]),
            jobFile("job key", "\(json([text: 1]))"),
            jobFile("job value", json(["temperature": text])),
            jobFile("job path", "seed: x", at: text),
            jobFile("YAML", "model: [\"\(text)"),
            jobFile("doubled job key", doubled),
            Case(name: "no job file", arguments: { _ in ["run", text] }),
            Case(
                name: "no model",
                arguments: { _ in ["run", "--model", text, "--input", "in.jsonl", "--output", "out"] }),
            model("model folder's name", folder: text, ["config.json": "{"]),
            model("model type", ["config.json": json(["model_type": text])]),
            model(
                "configuration key",
                ["config.json": "{\"model_type\":\"phi3\",\"hidden_size\":\(json([text]))}"]),
            model("chat template", ["tokenizer_config.json": json(["chat_template": "{% \(text) %}"])]),
            model("tokenizer", ["tokenizer.json": json(["model": ["type": text]])]),
            model("tokenizer key", ["tokenizer.json": doubled]),
            Case(
                name: "tokenize",
                prepare: { try Data(doubled.utf8).write(to: URL(filePath: $0.folder + "/" + text)) },
                arguments: { ["tokenize", "--model", $0.model, text] }),
            Case(
                name: "tokenize role",
                prepare: {
                    try Data(json(["messages": text]).utf8).write(to: URL(filePath: $0.folder + "/" + text))
                }, arguments: { ["tokenize", "--model", $0.model, text] }),
            command(["convert", text, "folder"]), command(["quantize", text, "folder"]),
            command(["quantize", "x", "y", "--layer", text]), command(["inspect", text]),
            command(["tokenize", "--model", "x", "--" + text]),
            command(["bench", "--prefill", text]),
            command(["bench", text, "--model", "x"]),
            command([text, "x"]),
        ]
    }()

    /// Cases whose message says without it what is wrong.
    private static let unshown: Set = [
        "JSON key", "unknown role", "token ids", "template", "filter", "YAML", "configuration key",
        "chat template", "tokenizer", "tokenize role",
    ]

    @Test(arguments: cases) func nothingSteersOrForges(example: Case) throws {
        let job = try DemoJob(["{\"prompt\":\"one\"}"], ["--max-tokens", "1"])
        defer { job.remove() }
        try example.prepare(job)
        let result = try RunningProgram(
            example.arguments(job), environment: example.environment, folder: job.folder
        ).end()
        // What goes to people; `tokenize` alone has results on stdout here.
        let shown = result.errors + (example.name.hasPrefix("tokenize") ? "" : result.output)
        #expect(!shown.unicodeScalars.contains { Self.steering.contains($0) }, "\(shown.debugDescription)")
        #expect(!shown.contains("\nphibatch: FORGED"), "\(shown.debugDescription)")
        if !Self.unshown.contains(example.name) {
            #expect(shown.contains("FORGED"), "the text is shown: \(shown.debugDescription)")
        }
        #expect(result.status < 128 && result.status >= 0, "\(shown.debugDescription)")
    }

    /// A lock file may hold anything; who has it is said by `run` and by `status`.
    @Test func aLockFilesContentIsShownEscaped() throws {
        let job = try DemoJob(
            ["{\"prompt\":\"one\"}"], ["--max-tokens", "4000", "--ignore-eos", "--speculate", "off"])
        defer { job.remove() }
        let first = try job.start()
        defer { first.send(SIGKILL) }
        let lock = job.folder + "/out.jsonl.lock"
        try first.wait(for: "a journal") {
            FileManager.default.fileExists(atPath: job.folder + "/out.jsonl.journal")
        }
        // In place: it is the file that is locked.
        let file = try #require(FileHandle(forWritingAtPath: lock))
        try file.truncate(atOffset: 0)
        try file.write(
            contentsOf: Data(Self.json(["pid": 1, "host": Self.text, "started": Self.text]).utf8))
        let second = try job.run()
        let status = try RunningProgram(["status"] + job.arguments(), folder: job.folder).end()
        #expect(second.status == 75 && status.status == 11)
        for shown in [second.errors, status.output] {
            #expect(
                shown.contains("FORGED") && !shown.contains("\nphibatch: FORGED"), "\(shown.debugDescription)"
            )
            #expect(
                !shown.unicodeScalars.contains { Self.steering.contains($0) }, "\(shown.debugDescription)")
        }
    }
}
