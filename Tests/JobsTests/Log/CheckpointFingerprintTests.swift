import Foundation
import PhiModel
import Testing

@testable import BatchPipeline
@testable import Jobs

@Suite struct CheckpointFingerprintTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private let lines = TestLine.make(4)
    private let other = RunFingerprint([
        ("model.config.json", "7 bytes"), ("job.seed", "18"), ("job.stop", "x"),
    ])

    @Test func anotherSettingIsRefusedByName() throws {
        try TestRun(lines: lines, limit: 2).stop(openStore(folder))
        let before = try folder.bytes("out.jsonl.log")
        let error = #expect(throws: UserError.self) { try openStore(folder, fingerprint: other) }
        #expect(error?.kind == .mismatch)
        let text = error?.description ?? ""
        for part in [
            "job.seed: 17 -> 18", "job.samples: 1 -> (not set)", "job.stop: (not set) -> x", "--restart",
        ] {
            #expect(text.contains(part), "\(text)")
        }
        #expect(!text.contains("model.config"))
        #expect(try folder.bytes("out.jsonl.log") == before)
        #expect(!folder.has("out.jsonl.lock"))
    }

    @Test func aRestartIsRememberedAndTheOldOutputStays() throws {
        try TestRun(lines: lines).run(openStore(folder))
        let old = try folder.bytes("out.jsonl")
        try openStore(folder, fingerprint: other, restart: true).suspend()
        #expect(try folder.bytes("out.jsonl") == old)
        let store = try openStore(folder, fingerprint: other)
        #expect(try TestRun(lines: lines).run(store) == 4)
        #expect(try folder.runs() == Array(repeating: other.digest, count: 4))
        // The same answers are the same file.
        #expect(try folder.names == ["out.jsonl"] && folder.bytes("out.jsonl") == old)
    }

    @Test func aDamagedHeaderDoesNotLetAnotherRunIn() throws {
        try TestRun(lines: lines, limit: 2).stop(openStore(folder))
        var bytes = try folder.bytes("out.jsonl.log")
        bytes[40] ^= 1
        try folder.write(bytes, to: "out.jsonl.log")
        let error = #expect(throws: UserError.self) { try openStore(folder, fingerprint: other) }
        #expect(error?.kind == .mismatch)
        #expect(try TestRun(lines: lines).run(openStore(folder)) == 2)
    }

    @Test func digestsSeparateNamesFromValues() {
        let digests = [
            RunFingerprint([("a.b", "c")]), RunFingerprint([("a.bc", "")]), RunFingerprint([("a.b", "d")]),
            RunFingerprint([("a.b", "c"), ("a.c", "")]), RunFingerprint([("a.b", "c"), ("b.c", "")]),
        ].map(\.digest)
        #expect(Set(digests).count == digests.count)
        #expect(digests[0].utf8.count == 8 && digests[4].utf8.count == 17)
    }

    @Test func modelFilesCountByContent() throws {
        func model(_ change: (inout [String: [UInt8]]) -> Void = { _ in }) throws -> [(String, String)] {
            let header = Array(#"{"t":{"dtype":"U8","shape":[1000000],"data_offsets":[0,1000000]}}"#.utf8)
            var files: [String: [UInt8]] = [
                "config.json": Array("{}".utf8), "tokenizer.json": Array("{\"a\":1}".utf8),
                "chat_template.jinja": Array("x".utf8), "README.md": Array("hello".utf8),
                "model.safetensors": [UInt8(header.count), 0, 0, 0, 0, 0, 0, 0] + header
                    + [UInt8](repeating: 3, count: 1_000_000),
            ]
            change(&files)
            let folder = try TestFolder()
            for (name, bytes) in files { try folder.write(bytes, to: name) }
            return try ModelFingerprint.parts(folder: folder.url.path)
        }
        let base = RunFingerprint(try model())
        #expect(RunFingerprint(try model { $0["README.md"] = [] }) == base)
        let changes: [(String, (inout [String: [UInt8]]) -> Void)] = [
            ("model.config.json", { $0["config.json"] = Array("{ }".utf8) }),
            ("tokenizer.tokenizer.json", { $0["tokenizer.json"]?[5] = 0x32 }),
            ("tokenizer.chat_template.jinja", { $0["chat_template.jinja"] = nil }),
            ("model.generation_config.json", { $0["generation_config.json"] = [] }),
            ("model.model.safetensors", { $0["model.safetensors"]?[20] = 0x78 }),
            ("model.model.safetensors", { $0["model.safetensors"]?.removeLast() }),
            ("model.model.safetensors", { $0["model.safetensors"]?[1_000_000] = 4 }),
            // Between what was sampled once.
            ("model.model.safetensors", { $0["model.safetensors"]?[500_003] = 4 }),
        ]
        for (name, change) in changes {
            let lines = RunFingerprint(try model(change)).changes(from: base)
            #expect(lines.count == 1)
            #expect(lines.first?.hasPrefix(name + ":") == true, "\(lines)")
        }
        #expect(throws: UserError.self) { try model { $0["model.safetensors"] = nil } }
        let error = #expect(throws: UserError.self) {
            try ModelFingerprint.parts(folder: "/no/such/folder")
        }
        #expect(
            error?.description
                == "/no/such/folder: the model folder can't be read: No such file or directory.")
    }
}
