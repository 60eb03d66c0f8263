import BatchEngine
import Foundation
import JSON
import OperatingSystem
import PhiModel
import TestSupport
import Testing

@testable import BatchPipeline
@testable import Jobs

/// Results of a job whose steps have changed: what the change doesn't concern is taken over.
@Suite struct StepChangeTests {
    let folder: TestFolder

    init() throws {
        folder = try TestFolder()
        try write(30)
    }

    func write(_ count: Int, _ change: (Int) -> String = { "t\($0 % 20)" }) throws {
        let lines = (0..<count).map { "{\"id\":\"l\($0)\",\"topic\":\"\(change($0))\",\"n\":\($0)}\n" }
        try folder.write(lines.joined().utf8, to: "in.jsonl")
    }

    /// Some rows are duplicates, some get no note, some are dropped by title or judge.
    static let steps = [
        step("question", "Ask about {{ topic }}.") {
            $0.settings.request.temperature = 0
            $0.distinct = Distinctness("question.text")
        },
        step("title", "{{ n }} {{ question.text }}") {
            $0.accept = "(title.text | length) % 2 == 0"
            $0.tries = 2
        },
        step("note", "{{ title.text }}? {{ n }}") { $0.condition = "(title.text | length) % 3 != 0" },
        step("answer", "{{ n }}: {{ question.text }}"),
        step("judge", "{{ answer.text }} {{ n }}") {
            $0.settings.choices = ["yes", "no", "perhaps"]
            $0.accept = "judge.text != 'no' or n % 3 == 0"
        },
        step("close", "{{ n }} so {{ question.text }}"),
    ]

    static func step(
        _ name: String, _ prompt: String, _ change: (inout JobStep) -> Void = { _ in }
    ) -> JobStep {
        .named(name) {
            $0.settings.prompt = prompt
            change(&$0)
        }
    }

    func job(
        _ steps: [JobStep] = Self.steps, to name: String = "out.jsonl",
        _ change: (inout JobSettings) -> Void = { _ in }
    ) throws -> JobSettings {
        try BatchJob(
            .test(input: [folder.path("in.jsonl")]) { job in
                (job.temperature, job.maxTokens, job.seed, job.steps) = (0.9, 16, 5, steps)
                (job.keep, job.output) = (.fields([.init("topic")]), folder.path(name))
                job.allowsEmpty = true
                (job.engine.workers, job.checkpointInterval) = (1, 60)
                change(&job)
            }
        ).settings
    }

    func fingerprint(_ job: JobSettings) -> RunFingerprint {
        RunFingerprint([("model.config", "c")] + job.resultSettings.map { ("job.\($0.name)", $0.value) })
    }

    func store(
        _ job: JobSettings, _ ifChanged: SettingsChange, restart: Bool = false,
        system: FileSystem = FaultyFileSystem()
    ) throws -> LogStore {
        try LogStore(
            job, fingerprint: fingerprint(job),
            StoreOptions(restart: restart, ifChanged: ifChanged, prunes: true), system: system)
    }

    /// - Returns: the model, which has counted the requests that it admitted.
    @discardableResult
    func run(
        _ job: JobSettings, _ ifChanged: SettingsChange = .restart, restart: Bool = false,
        on model: ScriptedModel = ScriptedModel(), _ flag: StopFlag = StopFlag(),
        system: FileSystem = FaultyFileSystem()
    ) throws -> (outcome: RunOutcome, model: ScriptedModel) {
        let store = try store(job, ifChanged, restart: restart, system: system)
        let outcome = try Runner(job: job, model: model, store: store, stopFlag: flag).run()
        #expect(model.faults.isEmpty, "\(model.faults)")
        return (outcome, model)
    }

    /// A model that crashes in some step.
    func stopping(at last: Int) -> ScriptedModel {
        let model = ScriptedModel()
        model.beforeStep = { if $0 == last { throw UserError(.resources, "out of luck") } }
        return model
    }

    /// Without times.
    func text(_ job: JobSettings) throws -> String {
        try String(contentsOfFile: job.output, encoding: .utf8).replacing(/,"timing":\{[^{}]*\}/, with: "")
    }

    /// A run from nothing.
    func fresh(_ job: JobSettings) throws -> (text: String, admissions: Int) {
        let folder = try TestFolder()
        var job = job
        job.output = folder.path("fresh." + (job.output.split(separator: ".").last ?? ""))
        let model = try run(job).model
        return (try text(job), model.admissions)
    }

    /// The names of the steps that each row has, by its id.
    func made(_ text: String) throws -> [String: [String]] {
        let rows = try text.split(separator: "\n").map { line in
            let row = try JSONValue(parsing: Array(line.utf8), limits: .line)
            return (row.string("id") ?? "", row["steps"]?.texts ?? [])
        }
        return Dictionary(rows) { $1 }
    }

    /// How many results of steps the first rows have that can't be taken of the others.
    func missing(_ rows: String, _ others: String, _ kept: Set<String>) throws -> Int {
        let others = try made(others)
        return try made(rows).reduce(0) { sum, row in
            let before = others[row.key] ?? []
            return sum + row.value.count { !kept.contains($0) || !before.contains($0) }
        }
    }

    func steps(_ name: String, _ change: (inout JobStep) -> Void) -> [JobStep] {
        Self.steps.map { step in
            var step = step
            if step.name == name { change(&step) }
            return step
        }
    }

    // MARK: What is kept

    /// What has changed, and the steps that the change doesn't concern.
    static let changes: [(name: String, kept: Set<String>)] = [
        ("close", ["question", "title", "note", "answer", "judge"]),
        ("judge", ["question", "title", "note", "answer", "close"]),
        ("accept", ["question", "title", "note", "answer", "judge", "close"]),
        ("answer", ["question", "title", "note", "close"]),
        ("where", ["question", "title", "note", "answer", "judge", "close"]),
        ("title", ["question", "answer", "judge", "close"]),
        ("distinct", ["question", "title", "note", "answer", "judge", "close"]),
        ("without note", ["question", "title", "answer", "judge", "close"]),
        ("another", ["question", "title", "note", "answer", "judge", "close"]),
        ("order", ["question", "title", "note", "answer", "judge", "close"]),
        ("first", []),
    ]

    func changed(_ name: String) -> [JobStep] {
        switch name {
        case "accept": steps("judge") { $0.accept = "judge.text != 'yes' or n % 3 == 0" }
        case "where": steps("note") { $0.condition = "(title.text | length) % 3 == 0" }
        case "distinct": steps("question") { $0.distinct = nil }
        case "without note": Self.steps.filter { $0.name != "note" }
        case "another":
            Array(Self.steps[..<3]) + [Self.step("more", "{{ n }} {{ title.text }}")] + Self.steps[3...]
        case "order": [0, 3, 1, 2, 5, 4].map { Self.steps[$0] }
        case "first":
            [Self.step("more", "{{ n }} {{ topic }}")] + steps("question") { $0.settings.prompt? += "!" }
        default: steps(name) { $0.settings.prompt? += "!" }
        }
    }

    @Test(arguments: changes) func onlyWhatTheChangeConcernsIsMade(name: String, kept: Set<String>) throws {
        let old = try job()
        try run(old)
        let before = try text(old)
        let job = try job(changed(name))
        let (expected, all) = try fresh(job)
        let missing = try missing(expected, before, kept)
        let (outcome, model) = try run(job)
        #expect(outcome.status == .complete && outcome.statistics.done == 30)
        #expect(try text(job) == expected)
        if kept.isEmpty {
            #expect(model.admissions == all)
        } else if ["title", "distinct"].contains(name) {
            // Titles have more tries than one.
            #expect((missing...missing + 30).contains(model.admissions))
        } else {
            #expect(model.admissions == missing, "of \(all)")
        }
        #expect(try folder.names == ["in.jsonl", "out.jsonl", "out.jsonl.old-1"])
        // And back. All is known again as far as it goes.
        try run(old)
        #expect(try text(old) == before)
    }

    @Test func rowsOfEveryKindAreAmongThem() throws {
        let made = try made(fresh(job()).text).values
        for names in [
            ["question"], ["question", "title"], ["question", "title", "answer", "judge"],
            ["question", "title", "note", "answer", "judge", "close"],
        ] { #expect(made.contains(names), "\(names)") }
    }

    // MARK: Forms of results

    @Test(arguments: ["out.jsonl", "out.json", "out.csv"]) func otherFormats(name: String) throws {
        let old = try job(to: name) { job in
            guard name == "out.jsonl" else { return }
            (job.outputFormat, job.outputFormatFollowsInput) = (.lean, false)
        }
        try run(old)
        var job = old
        job.steps = changed("another")
        let (expected, _) = try fresh(job)
        let model = try run(job).model
        #expect(try text(job) == expected)
        let rows = try made(fresh(self.job(changed("another"))).text).values
        #expect(model.admissions == rows.count { $0.contains("more") } && model.admissions > 3)
    }

    // MARK: Trees

    static let question = step("question", "Ask about {{ topic }}.") { $0.settings.samples = 3 }
    static let reply = step("reply", "{{ question.text }}") {
        $0.settings.samples = 2
        $0.accept = "reply.text | length > 3"
    }
    static let word = step("word", "{{ item }} {{ question.text }}") {
        ($0.each, $0.settings.samples) = ("question.text.split(' ')", 2)
    }
    static let rest = step("rest", "{{ reply.text }}!")

    @Test(arguments: ["rest", "reply of 4", "reply of 1", "question", "word", "no word"])
    func trees(name: String) throws {
        try write(8)
        let steps = [Self.question, Self.reply, Self.word, Self.rest]
        let old = try job(steps) { $0.samples = 2 }
        try run(old)
        var other = steps
        switch name {
        case "reply of 4": other[1].settings.samples = 4
        case "reply of 1": other[1].settings.samples = nil
        case "question": other[0].settings.samples = 2
        case "word": other[2].settings.samples = 3
        case "no word": other.remove(at: 2)
        default: other[3].settings.prompt = "?"
        }
        let job = try job(other) { $0.samples = 2 }
        let (expected, all) = try fresh(job)
        let model = try run(job).model
        #expect(try text(job) == expected)
        // At least the questions are there, which have three requests for each sample of a line; of fewer questions, all.
        #expect(name == "question" ? model.admissions == 0 : model.admissions <= all - 8 * 2 * 3)
        try run(old)
        #expect(try text(old) == fresh(old).text)
    }
}
