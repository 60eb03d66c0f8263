import BatchEngine
import Foundation
import Testing

@testable import BatchPipeline
@testable import Jobs

@Suite struct CheckpointResumeTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    @Test func anUndisturbedRunLeavesTheOutputAlone() throws {
        let store = try openStore(folder)
        #expect(try TestRun(lines: TestLine.make(3)).run(store) == 3)
        #expect(try folder.names == ["out.jsonl"])
        let second = try folder.text("out.jsonl").split(separator: "\n")[1]
        #expect(
            second == """
                {"id":"line-1","text":"re: prompt 1","finish_reason":null,\
                "usage":{"prompt_tokens":1,"completion_tokens":7}}
                """)
        #expect(store.didReplaceOutput)
    }

    @Test func aStoppedRunGoesOn() throws {
        let lines = TestLine.make(10)
        try TestRun(lines: lines, limit: 6).stop(openStore(folder))
        #expect(try folder.names == ["out.jsonl.log"])
        let second = try openStore(folder)
        #expect(try TestRun(lines: lines).run(second) == 4)
        #expect(second.report.kept == 6)
        #expect(second.notes.isEmpty)
        #expect(try folder.bytes("out.jsonl") == TestRun(lines: lines).expected())
        #expect(try folder.names == ["out.jsonl"])
    }

    @Test(arguments: [Int.max, 0, 1, 2]) func anEditedInputCostsOnlyItsEdits(limit: Int) throws {
        var lines = TestLine.make(20)
        try TestRun(lines: lines).run(openStore(folder))
        let old = try folder.bytes("out.jsonl")
        lines.edit()
        if limit < Int.max {
            // Broken off and taken up again; the old output is there until the new one replaces it.
            try TestRun(lines: lines, limit: limit).stop(openStore(folder))
            #expect(try folder.bytes("out.jsonl") == old)
        }
        let store = try openStore(folder)
        let made = try TestRun(lines: lines).run(store)
        #expect(made == 2 - min(limit, 2) || limit == Int.max && made == 2)
        if limit == Int.max {
            #expect(store.report == ResumeReport(kept: 18, changed: 1, new: 1, gone: 1))
        }
        #expect(store.report.gone == 1)
        #expect(try folder.bytes("out.jsonl") == TestRun(lines: lines).expected())
    }

    @Test func linesThatGoAreDroppedWithoutAnyNewResult() throws {
        try TestRun(lines: TestLine.make(5)).run(openStore(folder))
        for lines in [TestLine.make(4), TestLine.make(4).reversed(), TestLine.make(1)] {
            #expect(try TestRun(lines: lines).run(openStore(folder, prunes: true)) == 0)
            #expect(try folder.bytes("out.jsonl") == TestRun(lines: lines).expected())
        }
    }

    @Test func failedLinesCanBeDoneAgain() throws {
        var lines = TestLine.make(6)
        lines[1].fails = true
        lines[4].fails = true
        var store = try openStore(folder)
        try TestRun(lines: lines, limit: 6).run(store)
        try store.suspend()
        func results() throws -> Int { try folder.text("out.jsonl.log").matches(of: /"run":"/).count }
        let count = try results()
        store = try openStore(folder)
        #expect(try TestRun(lines: lines, limit: 2).run(store) == 2)
        #expect(store.report.keptFailed == 2)
        try store.suspend()
        #expect(try results() == count, "the same failure again adds nothing")
        lines[1].fails = false
        store = try openStore(folder)
        try TestRun(lines: lines).run(store)
        #expect(try folder.bytes("out.jsonl") == TestRun(lines: lines).expected())
        // All of a complete output is known as done.
        store = try openStore(folder)
        #expect(try TestRun(lines: lines, redoesFailed: false).run(store) == 0)
        #expect(!store.didReplaceOutput)
    }

    @Test func aRepeatedKeyIsAnotherPieceOfWork() throws {
        let lines = (0..<50).map { _ in TestLine(id: "same", content: "same") } + TestLine.make(3)
        try TestRun(lines: lines, limit: 20).stop(openStore(folder))
        #expect(try TestRun(lines: lines).run(openStore(folder)) == 33)
        #expect(try TestRun(lines: lines).run(openStore(folder)) == 0)
        #expect(try folder.bytes("out.jsonl") == TestRun(lines: lines).expected())
    }

    @Test func idsOfAnyKind() throws {
        let ids = [
            "", "\"", "\\", "\\\"", "a\nb", "é", "e\u{301}", "日本", "\u{0}", "\u{2028}", "}", ",\"index\":",
            "{\"sum\":\"",
        ]
        let lines = ids.map { TestLine(id: $0, content: "x") }
        try TestRun(lines: lines, limit: ids.count).stop(openStore(folder))
        #expect(try TestRun(lines: lines).run(openStore(folder)) == 0)
        let read = try folder.text("out.jsonl").split(separator: "\n").map { line in
            (try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])?["id"] as? String
                ?? "?"
        }
        #expect(read.map { Array($0.utf8) } == ids.map { Array($0.utf8) })
        #expect(try TestRun(lines: lines).run(openStore(folder)) == 0)
    }

    @Test func samplesShareTheirLinesIndex() throws {
        func run() throws -> LogStore {
            let store = try LogStore(
                output: folder.path("out.jsonl"), fingerprint: testFingerprint, samples: 2,
                system: FaultyFileSystem())
            for position in 0..<4 {
                let key = ResultKey(id: "l\(position / 2)", sample: position % 2, contentHash: 5)
                if try store.claim(key, position: position) == .new {
                    let result = TestLine(id: key.id, content: "x").result
                    try store.append(result, key: key, position: position)
                }
            }
            try store.finish(count: 4)
            return store
        }
        #expect(try run().report.new == 4)
        #expect(try folder.text("out.jsonl").contains(#"{"id":"l1","sample":1,"text":"re: x","#))
        let again = try run()
        #expect(again.report.kept == 4)
        #expect(!again.didReplaceOutput)
    }

    @Test func inFlightCompletionsSurviveUntilTakenUp() throws {
        let lines = TestLine.make(4)
        let token = #""token":"a\"","id":7,"logprob":-0.1,"bytes":[97,255]"#
        let entries = ["", "{\(token)}", "{\(token)},{\(token)}"].map {
            "{\(token),\"top_logprobs\":[\($0)]}"
        }
        let records = lines.enumerated().map {
            InFlightRecord(
                key: $1.key, saved: SavedDecoding(tokens: [5, -1, 7], notes: entries), attempt: $0 / 2)
        }
        var store = try openStore(folder)
        for (position, line) in lines.enumerated() { _ = try store.claim(line.key, position: position) }
        try store.saveInFlight(records)
        try store.append(lines[0].result, key: lines[0].key, position: 0)
        try store.suspend()
        // A run that only gets to the first two saves the others on.
        store = try openStore(folder)
        #expect(try store.claim(lines[0].key, position: 0) == .done(failed: false))
        #expect(try store.claim(lines[1].key, position: 1) == .inFlight(records[1]))
        try store.saveInFlight([InFlightRecord(key: lines[1].key, saved: SavedDecoding(tokens: [9]))])
        try store.suspend()
        store = try openStore(folder)
        _ = try store.claim(lines[0].key, position: 0)
        #expect(
            try store.claim(lines[1].key, position: 1)
                == .inFlight(InFlightRecord(key: lines[1].key, saved: SavedDecoding(tokens: [9]))))
        #expect(try store.claim(lines[2].key, position: 2) == .inFlight(records[2]))
        var changed = lines[3]
        changed.content = "other"
        #expect(try store.claim(changed.key, position: 3) == .new)
        #expect(store.report.resumed == 2)
    }

    @Test func aDamagedCompletionCostsOnlyItsHeadStart() throws {
        let lines = TestLine.make(3)
        let store = try openStore(folder)
        for (position, line) in lines.enumerated() { _ = try store.claim(line.key, position: position) }
        try store.saveInFlight(lines.map { InFlightRecord(key: $0.key, saved: SavedDecoding(tokens: [1])) })
        try store.suspend()
        let whole = try folder.bytes("out.jsonl.log")
        let header = try #require(whole.firstIndex(of: 0x0A)) + 1
        for position in stride(from: header, to: whole.count, by: 7) {
            var bytes = whole
            bytes[position] ^= 4
            try folder.write(bytes, to: "out.jsonl.log")
            let store = try openStore(folder)
            #expect(store.notes.count == 1)
            for (place, line) in lines.enumerated() {
                switch try store.claim(line.key, position: place) {
                case .inFlight(let record): #expect(record.saved.tokens == [1])
                case .new: break
                case .done: Issue.record("nothing is done")
                }
            }
            #expect(store.report.resumed >= 1)
            try store.suspend()
        }
    }
}
