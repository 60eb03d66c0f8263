import BatchEngine
import Foundation
import JSON
import PhiModel
import Synchronization
import TestSupport
import Testing

@testable import BatchPipeline
@testable import Jobs

@Suite struct RunnerTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    @Test func resultsDependOnNothingButTheLine() throws {
        let path = try folder.write(ScriptedRun.prompts(60), to: "in.jsonl")
        let (outcome, expected) = try ScriptedRun.run(ScriptedRun.job(path) { $0.engine.workers = 1 })
        #expect(outcome.status == .complete && expected.count == 60 && outcome.statistics.done == 60)
        let reasons = ["stop", "length"]
        for reason in reasons {
            #expect(expected.contains { $0.contains("\"finish_reason\":\"\(reason)\"") }, "\(reason)")
        }
        #expect(expected.allSatisfy { !$0.contains("STOP\",") || $0.contains("\"token\":\"STOP\"") })
        var preemptions = 0
        for (workers, chunk, room, cached) in [
            (2, 512, Int.max, 0), (7, 13, .max, 9), (32, 64, .max, 0), (32, 1, .max, 3), (16, 512, 900, 0),
            (5, 7, 450, 4), (32, 64, 700, 0),
        ] {
            let model = ScriptedModel()
            model.room = room
            model.looksAhead = false
            model.cachedTokens = cached
            let (_, lines) = try ScriptedRun.run(
                ScriptedRun.job(path) {
                    $0.engine.workers = workers
                    $0.engine.prefillChunk = chunk
                    $0.engine.speculation = workers == 5 || workers == 7 ? .tokens(workers) : .off
                }, model)
            #expect(lines == expected)
            #expect(model.largestBatch <= workers && model.largestStep <= workers + chunk)
            if room == .max { #expect(model.largestBatch == workers) }
            preemptions += model.preemptions
            if room == .max { #expect(preemptions == 0) }
        }
        #expect(preemptions > 0)
    }

    @Test func theModelIsLoadedOnlyIfALineNeedsIt() throws {
        let path = try folder.write(ScriptedRun.prompts(5) + "not JSON\n", to: "in.jsonl")
        let store = MemoryStore()
        let loads = Atomic(0)
        var loadCount: Int { loads.load(ordering: .relaxed) }
        func run(_ path: String) throws -> RunOutcome {
            let job = ScriptedRun.job(path) { $0.maxFailures = .count(1) }
            return try Runner(job: job, store: store) {
                loads.add(1, ordering: .relaxed)
                return ScriptedModel().loaded
            }.run()
        }
        #expect(try run(path).statistics.done == 5 && loadCount == 1)
        let again = try run(path)
        #expect(again.status == .complete && again.statistics.done == 0 && again.statistics.skipped == 5)
        #expect(loadCount == 1, "not for a line that fails without it, either")
        let longer = try folder.write(ScriptedRun.prompts(6), to: "longer.jsonl")
        #expect(try run(longer).statistics.done == 1 && loadCount == 2)
    }

    @Test func samplesDifferAndEachHasItsPlace() throws {
        let path = try folder.write(ScriptedRun.prompts(6) + "oops\n", to: "in.jsonl")
        let job = ScriptedRun.job(path) {
            $0.samples = 3
            $0.maxFailures = .count(1)
        }
        let (outcome, lines) = try ScriptedRun.run(job)
        #expect(outcome.status == .complete && lines.count == 21 && outcome.statistics.failed == 1)
        #expect(Set(lines[..<18].map { $0.drop { $0 != "," } }).count == 18)
        let (_, single) = try ScriptedRun.run(ScriptedRun.job(path) { $0.maxFailures = .count(1) })
        #expect(Array(single[..<6]) == stride(from: 0, to: 18, by: 3).map { lines[$0] })
    }

    @Test func whatTheJobSetsItEnforces() throws {
        let lines = [
            #"{"prompt":"a","max_tokens":50}"#, #"{"prompt":"b","max_tokens":3}"#, #"{"prompt":"c"}"#,
            #"{"prompt":"d","max_tokens":3000}"#,
        ]
        let path = try folder.write(lines.joined(separator: "\n"), to: "in.jsonl")
        func counts(_ change: (inout JobSettings) -> Void) throws -> [Int] {
            let model = ScriptedModel(contextLength: 1000)
            model.endOdds = .max
            let store = MemoryStore()
            _ = try Runner(job: .test(input: [path], change), model: model, store: store).run()
            return try (store.output ?? []).map { line in
                guard
                    case .int(let count)? = try JSONValue(parsing: Array(line.utf8), limits: .line)["usage"]?[
                        "completion_tokens"]
                else { return -1 }
                return count
            }
        }
        #expect(try counts { $0.maxTokens = 10 } == [10, 3, 10, 10])
        // Without a ceiling: the line's wish, the default, the end of the context.
        #expect(try counts { _ in } == [50, 3, 256, 1000 - "<user>d<assistant>".utf8.count])
    }

    @Test func ignoringTheEndOfSequenceGoesOnToTheLimit() throws {
        let path = try folder.write(ScriptedRun.prompts(10), to: "in.jsonl")
        let job = JobSettings.test(input: [path]) {
            $0.ignoreEndOfSequence = true
            $0.maxTokens = 40
        }
        let model = ScriptedModel()
        model.endOdds = 3
        let (_, lines) = try ScriptedRun.run(job, model)
        #expect(
            lines.contains {
                $0.contains("\"completion_tokens\":40") && $0.contains("\"finish_reason\":\"length\"")
            })
        #expect(lines.allSatisfy { !$0.contains("\"finish_reason\":\"stop\"") })
    }

    @Test func emptyInputIsACompleteJob() throws {
        let (outcome, lines) = try ScriptedRun.run(ScriptedRun.job(try folder.write("\n \n", to: "in.jsonl")))
        #expect(outcome.status == .complete && lines.isEmpty)
    }

    /// The pipeline alone, with a model that answers at once: what it costs for each line.
    @Test func fiftyThousandLinesAreQuick() async throws {
        // In a process of its own, where the threads of no other test compute.
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            let folder = try TestFolder()
            let text = (0..<50_000).map {
                "{\"id\":\"line-\($0)\",\"prompt\":\"What is \($0) plus one, and why?\"}\n"
            }.joined()
            let path = try folder.write(text, to: "in.jsonl")
            let job = JobSettings.test(input: [path]) {
                $0.maxTokens = 2
                $0.engine.workers = 64
                $0.checkpointInterval = 15
            }
            let (model, store) = (ScriptedModel(), MemoryStore())
            let seconds = try processorSeconds(CLOCK_PROCESS_CPUTIME_ID) {
                let outcome = try Runner(job: job, model: model, store: store).run()
                precondition(outcome.status == .complete && store.output?.count == 50_000)
            }
            print("50,000 lines through a model that answers at once: \(seconds) s of processor time")
            precondition(model.faults.isEmpty && model.liveSequences == 0)
            // A Zen 3 takes 9.5 s alone, twice a Zen 4's time. What grew with the square would take minutes.
            precondition(seconds < 30 * patience)
        }
        print(String(decoding: result?.standardOutputContent ?? [], as: UTF8.self))
    }
}
