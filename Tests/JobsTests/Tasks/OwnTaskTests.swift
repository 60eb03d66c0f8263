import BatchEngine
import JSON
import PhiModel
import TestSupport
import Testing

@testable import Jobs

/// A task is a type that conforms and its name in a list: here is one more, with members, columns and a place in reports
/// of its own. Nothing else knows of it.
@Suite struct OwnTaskTests {
    private static let task = JobTask("surprise", [SurpriseTask.self])

    private func job(_ path: String, _ change: (inout JobSettings) -> Void = { _ in }) -> JobSettings {
        .test(input: [path]) { job in
            (job.task, job.chat) = (Self.task, false)
            job.maxFailures = .percent(100)
            change(&job)
        }
    }

    /// The least likely token of a text.
    private func expected(_ text: String) -> Surprise {
        let (model, ids) = (ScriptedModel(), text.utf8.map { Int32($0) })
        let logprobs = (1..<ids.count).map { model.logprob(of: ids[$0], after: ids[..<$0]) }
        let place = logprobs.indices.reduce(0) { logprobs[$1] < logprobs[$0] ? $1 : $0 }
        return Surprise(
            promptTokens: ids.count, place: place + 1, bits: -Double(logprobs[place]) * 1.4426950408889634)
    }

    @Test func itsLinesRunAsThoseOfOthers() throws {
        let folder = try TemporaryFolder()
        let texts = (0..<30).map { String(repeating: "word \($0) ", count: 1 + $0 * 7 % 23) }
        let path = try folder.write(
            texts.map { "{\"prompt\":\"\($0)\",\"topic\":1}\n" }.joined() + "{\"prompt\":\"a\"}\n",
            to: "in.jsonl")
        let keeping = job(path) { $0.keep = .fields([.init("topic")]) }
        try ScriptedRun.inManyWays(keeping) { outcome, lines, _ in
            #expect(outcome.status == .complete && outcome.statistics.done == 30)
            #expect(outcome.statistics.errors == [.badPrompt: 1])
            for (line, text) in zip(lines, texts) {
                var writer = JSONWriter()
                writer.object { ResultCoding.write(GenerationResult(expected(text)), to: &$0) }
                #expect(line.contains(writer.text.dropFirst().dropLast() + ",\"topic\":1"))
            }
        }
    }

    @Test func itsResultsAreInTablesAndReports() {
        let job = job("in.jsonl")
        let result = GenerationResult(Surprise(promptTokens: 3, place: 2, bits: 0.5))
        let table = DelimitedResults.csv.keeping([], columns: job.task.columns(of: job))
        #expect(table.problem(with: job) == nil && OpenAIResults().problem(with: job) != nil)
        var encoder = table.makeEncoder(for: ResultRun(digest: "", samples: 1))
        var bytes: [UInt8] = []
        let key = WorkKey(id: "a", contentHash: 1)
        encoder.begin(&bytes)
        encoder.append(result, at: ResultPlace(key: key, index: 0), to: &bytes)
        #expect(
            String(decoding: bytes, as: UTF8.self)
                == "id,sample,place,bits,prompt_tokens,error,error_message\na,0,2,0.5,3,,\n")
        let reported = ReportedResult(result, key, index: 0, run: nil)
        #expect(reported.status == "surprised" && reported.text == "2: 0.5 bits")
        #expect(reported.promptTokens == 3)
        let keeping = KeptFields.fields([.init("bits")])
        #expect(keeping.problem(for: job.task) != nil && keeping.problem(for: .generate) == nil)
    }
}

/// Which token of a line's text the model expects least.
private struct SurpriseTask: LineTask {
    typealias Made = Surprise

    private let job: JobSettings
    private let builder: PromptBuilder

    init(_ job: JobSettings, _ builder: PromptBuilder) { (self.job, self.builder) = (job, builder) }

    func prepare(
        _ record: PromptRecord, for model: () throws -> LinePreparer.Model
    ) throws -> any PreparedLine {
        let content = try builder.prompt(for: record)
        let encoder = LineEncoder(record, job, try model())
        let tokens = try encoder.tokens(of: content, below: encoder.limits.contextLength)
        guard tokens.count > 1 else { throw LineError(.badPrompt, "One token is no surprise.") }
        return SurpriseLine(prompt: tokens, isCovered: encoder.isCovered)
    }
}

private struct SurpriseLine: PreparedLine {
    let prompt: [Int32]
    let isCovered: Bool
    var lengths: [(prompt: Int, completion: Int)] { [(1, prompt.count - 1)] }

    func work(_ label: WorkLabel, saved: InFlightRecord?, _ maker: RequestMaker) -> [Work] {
        let goal = Scoring(Array(prompt.dropFirst()))
        return [.request(maker.request([prompt[0]], goal, for: SurprisePart(label: label)))]
    }
}

private struct SurprisePart: WorkPart {
    var label: WorkLabel

    func outcome(
        of sequence: TokenSequence, _ provenance: [String: String], in job: JobSettings
    ) -> WorkOutcome {
        let logprobs = sequence.outcome(ScoringCourse.self).logprobs
        let place = logprobs.indices.reduce(0) { logprobs[$1] < logprobs[$0] ? $1 : $0 }
        let result = Surprise(
            promptTokens: logprobs.count + 1, place: place + 1,
            bits: -Double(logprobs[place]) * 1.4426950408889634)
        return .made(
            result, .init(sequence, label, made: logprobs.count, end: .now), isOwn: sequence.isOwn(label))
    }
}

private struct Surprise: TaskResult {
    static var reader: any ResultReader.Type { SurpriseReader.self }
    static let names: Set = ["place", "bits"]
    static let columns: [String]? = ["place", "bits", "prompt_tokens"]
    static let isAnswer = false

    let promptTokens: Int
    let place: Int
    let bits: Double
    var completionTokens: Int { 0 }

    func write(to writer: inout JSONWriter) {
        writer.int("place", place)
        writer.number("bits", bits)
        ResultCoding.writeUsage(of: self, &writer)
    }

    func cell(_ column: String) -> String? {
        switch column {
        case "place": "\(place)"
        case "bits": "\(bits)"
        default: countCell(column)
        }
    }

    func describe(in report: inout ReportedResult) {
        report.status = "surprised"
        report.text = "\(place): \(bits) bits"
    }
}

private struct SurpriseReader: ResultReader {
    private var place: Int?
    private var bits: Double?
    private var usage: ResultCoding.Usage?

    init?(first name: UnsafeBufferPointer<UInt8>, keeps: Bool) {
        guard name.spells("place") else { return nil }
    }

    mutating func take(
        _ name: UnsafeBufferPointer<UInt8>, from scanner: inout JSONScanner
    ) throws -> Bool {
        if name.spells("place") {
            place = try scanner.integer()
        } else if name.spells("bits") {
            bits = try scanner.number()
        } else if name.spells("usage") {
            usage = try ResultCoding.Usage(&scanner)
        } else {
            return false
        }
        return true
    }

    var result: (any TaskResult)? {
        guard let place, let bits, let usage else { return nil }
        return Surprise(promptTokens: usage.prompt, place: place, bits: bits)
    }
}
