import Foundation
import Testing

@testable import BatchPipeline
@testable import Jobs

/// The sums in an output, and what they show.
@Suite struct OutputCheckTests {
    private let folder: TestFolder
    private let lines: [String]

    init() throws {
        folder = try TestFolder()
        let store = try openStore(folder)
        var all = TestLine.make(6)
        all[4].fails = true
        try TestRun(lines: all).run(store)
        lines = try folder.text("out.jsonl").split(separator: "\n").map(String.init)
    }

    private func check(_ lines: [String]) throws -> OutputCheck {
        try folder.write(lines.map { $0 + "\n" }.joined().utf8, to: "edited.jsonl")
        return try #require(try OutputCheck.read(output: folder.path("edited.jsonl")))
    }

    @Test func eachSumIsOfAllLinesSoFar() throws {
        var text = ""
        for line in lines {
            let sum = try #require(line.firstMatch(of: /,"sum":"([0-9a-f]{16})"}$/))
            text += line[..<sum.range.lowerBound]
            let expected = Array(text.utf8).withUnsafeBytes { Checksum.crc64($0) }
            #expect(UInt64(sum.1, radix: 16) == expected)
        }
        #expect(try check(lines) == OutputCheck(lines: 6))
        #expect(try OutputCheck.read(output: folder.path("none.jsonl")) == nil)
    }

    @Test func everyEditShows() throws {
        var edited = lines
        edited[2] = edited[2].replacing("re: prompt 2", with: "re: prompt 3")
        #expect(try check(edited) == OutputCheck(lines: 6, different: 1, firstDifferent: 3))
        edited[5] = "{}"
        #expect(try check(edited) == OutputCheck(lines: 6, different: 2, firstDifferent: 3))
        for number in 0..<5 {
            var without = lines
            without.remove(at: number)
            #expect(try check(without) == OutputCheck(lines: 5, different: 1, firstDifferent: number + 1))
            var twice = lines
            twice.insert(lines[number], at: number)
            #expect(try check(twice) == OutputCheck(lines: 7, different: 1, firstDifferent: number + 2))
        }
        var moved = lines
        moved.swapAt(1, 2)
        #expect(try check(moved).firstDifferent == 2)
        let more = try check(lines + [""])
        #expect(more == OutputCheck(lines: 7, different: 1, firstDifferent: 7))
        // What is missing at the end only the input tells.
        #expect(try check(lines.dropLast()) == OutputCheck(lines: 5))
        try folder.write(lines.joined(separator: "\n").utf8, to: "edited.jsonl")
        #expect(
            try OutputCheck.read(output: folder.path("edited.jsonl"))
                == OutputCheck(lines: 6, different: 1, firstDifferent: 6))
    }

    @Test func everyByteCounts() throws {
        let whole = try folder.bytes("out.jsonl")
        for position in whole.indices {
            var bytes = whole
            bytes[position] ^= 1
            try folder.write(bytes, to: "edited.jsonl")
            let check = try #require(try OutputCheck.read(output: folder.path("edited.jsonl")))
            let line = whole[..<position].count { $0 == 0x0a } + 1
            // One in a line's sum shows in the next line too; one in a line feed joins two.
            #expect(check.different > 0 && check.firstDifferent == line, "byte \(position)")
        }
    }

    @Test func theTimeAResultTookDoesNotCount() throws {
        func sums(_ seconds: Double) throws -> [String] {
            let folder = try TestFolder()
            let store = try openStore(folder)
            let line = TestLine.make(1)[0]
            _ = try store.claim(line.key, position: 0)
            let result = GenerationResult(
                GeneratedResult(text: "a \"timing\":{}", promptTokens: 1, completionTokens: 1, seed: 1),
                timing: .init(queued: seconds, prefill: 0, decode: 2, tokensPerSecond: 1))
            try store.append(result, key: line.key, position: 0)
            try store.finish(count: 1)
            #expect(try OutputCheck.read(output: folder.path("out.jsonl")) == OutputCheck(lines: 1))
            let text = try folder.text("out.jsonl")
            try folder.write(text.replacing("\"seed\":1", with: "\"seed\":2").utf8, to: "out.jsonl")
            #expect(try OutputCheck.read(output: folder.path("out.jsonl"))?.firstDifferent == 1)
            return text.matches(of: /"sum":"([0-9a-f]*)"/).map { String($0.1) }
        }
        let first = try sums(0.25)
        #expect(try first == sums(12.5) && first.count == 1)
    }

    @Test func linesWithoutSumsAreNoResults() throws {
        let stripped = lines.map { $0.replacing(/,"sum":"[0-9a-f]{16}"/, with: "") }
        #expect(try check(stripped) == OutputCheck(lines: 6, different: 6, firstDifferent: 1))
        #expect(
            // The sum after it counts on from the line before.
            try check(Array(lines[..<3]) + [stripped[3]] + lines[4...])
                == OutputCheck(lines: 6, different: 2, firstDifferent: 4))
    }

    @Test func resultsThatWereEditedAreTakenAsTheyStand() throws {
        var edited = lines
        edited[2] = edited[2].replacing("re: prompt 2", with: "by hand")
        try folder.write(edited.map { $0 + "\n" }.joined().utf8, to: "out.jsonl")
        var all = TestLine.make(7)
        all[4].fails = true
        #expect(try TestRun(lines: all).run(openStore(folder)) == 2)
        #expect(try folder.text("out.jsonl").contains("by hand"))
        #expect(try OutputCheck.read(output: folder.path("out.jsonl")) == OutputCheck(lines: 7))
    }
}
