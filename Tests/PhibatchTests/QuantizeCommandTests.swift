import Foundation
import Testing

/// `phibatch quantize`, and what `run` says of a model that is not quantized.
@Suite(.enabled(if: Program.path != nil, "the phibatch program is not beside the tests"))
struct QuantizeCommandTests {
    private func withModel(_ model: PlainModel = PlainModel(), _ body: (_ folder: String) throws -> Void)
        throws
    {
        let scratch = try ScratchFolder()
        try model.write(to: scratch.path + "/plain")
        try body(scratch.path)
    }

    @Test func quantizesAndRuns() throws {
        try withModel { folder in
            let made = try Program.run(
                ["quantize", "plain", "made", "--embedding-bits", "6", "--layer", "*.down_proj=8:32"],
                folder: folder)
            #expect(made.status == 0, "\(made.errors)")
            #expect(
                made.errors.contains("4 matrices of 4 bits, 1 matrix of 6 bits, 1 matrix of 8 bits")
                    && made.errors.contains("token ids only"), "\(made.errors)")
            let lines = "{\"prompt\":[1,5,9]}\n{\"prompt\":[7]}\n"
            for (model, isPlain) in [("plain", true), ("made", false)] {
                let result = try Program.run(
                    [
                        "run", "--model", model, "--input", "-", "--output", "\(model).jsonl", "--max-tokens",
                        "4",
                        "--ignore-eos",
                    ], input: lines, folder: folder)
                #expect(result.status == 0, "\(result.errors)")
                let note = result.errors.split(separator: "\n").filter { $0.contains("is not quantized") }
                #expect(note.count == (isPlain ? 1 : 0), "\(result.errors)")
                #expect(note.allSatisfy { $0.contains("phibatch quantize MODEL OUT") })
            }
        }
    }

    @Test(arguments: [
        (["--bits", "7"], "--bits must be"), (["--group-size", "16"], "--group-size must be"),
        (["--embedding-bits", "1"], "--embedding-bits must be"), (["--layer", "lm_head"], "--layer"),
        (["--layer", "lm_head=4:63"], "groups of 32, 64 or 128"),
    ])
    func wrongUsage(options: [String], words: String) throws {
        let result = try Program.run(["quantize", "plain", "made"] + options)
        #expect(result.status == 64 && result.errors.contains(words), "\(result.errors)")
    }

    #if os(Linux)
        /// The largest matrix has 410 MB of floats; the process may have far less of all its memory.
        @Test(.enabled(if: ProcessInfo.processInfo.activeProcessorCount <= 16, "threads take too much here"))
        func memoryIsBounded() throws {
            let model = PlainModel(vocabulary: 50_000, hidden: 2048, intermediate: 256, isHollow: true)
            try withModel(model) { folder in
                let script = "ulimit -d 300000; exec \"$0\" quantize plain made --bits 8"
                let result = try RunningProgram(
                    ["-c", script, Program.path ?? ""], folder: folder, program: "/bin/sh"
                ).end()
                #expect(result.status == 0, "\(result.errors)")
                // And a file in place of it: what there is no room for is left whole.
                let small = "ulimit -f 1000; exec \"$0\" quantize plain small"
                let full = try RunningProgram(
                    ["-c", small, Program.path ?? ""], folder: folder, program: "/bin/sh"
                ).end()
                #expect(full.status == 69 && full.errors.contains("can't be written"), "\(full.errors)")
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder + "/small").isEmpty)
            }
        }
    #endif
}
