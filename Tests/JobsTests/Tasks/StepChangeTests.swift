import BatchEngine
import Foundation
import JSON
import PhiModel
import TestSupport
import Testing

@testable import BatchPipeline
@testable import Jobs

/// Results of a job whose steps have changed: what the change doesn't concern is taken over.
@Suite struct StepChangeTests {
    private let folder: TestFolder

    init() throws {
        folder = try TestFolder()
        try write(30)
    }

    private func write(_ count: Int, _ change: (Int) -> String = { "t\($0 % 20)" }) throws {
        let lines = (0..<count).map { "{\"id\":\"l\($0)\",\"topic\":\"\(change($0))\",\"n\":\($0)}\n" }
        try folder.write(lines.joined().utf8, to: "in.jsonl")
    }

    /// Some rows are duplicates, some get no note, some are dropped by title or judge.
    private static let steps = [
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

    private static func step(
        _ name: String, _ prompt: String, _ change: (inout JobStep) -> Void = { _ in }
    ) -> JobStep {
        .named(name) {
            $0.settings.prompt = prompt
            change(&$0)
        }
    }

    private func job(
        _ steps: [JobStep] = Self.steps, to name: String = "out.jsonl",
        _ change: (inout JobSettings) -> Void = { _ in }
    ) throws -> JobSettings {
        try BatchJob(
            .test(input: [folder.path("in.jsonl")]) { job in
                (job.temperature, job.maxTokens, job.seed, job.steps) = (0.9, 16, 5, steps)
                (job.keep, job.output) = (.fields([.init("topic")]), folder.path(name))
                (job.engine.workers, job.checkpointInterval) = (.count(1), 60)
                change(&job)
            }
        ).settings
    }

    private func fingerprint(_ job: JobSettings) -> RunFingerprint {
        RunFingerprint([("model.config", "c")] + job.resultSettings.map { ("job.\($0.name)", $0.value) })
    }

    private func store(
        _ job: JobSettings, _ ifChanged: SettingsChange, restart: Bool = false,
        system: any FileSystem = FaultyFileSystem()
    ) throws -> JournalStore {
        try JournalStore(
            output: job.output, fingerprint: fingerprint(job), lines: LineScheme(job),
            samples: job.sampleCount, selection: job.selection, format: job.outputFormat.format,
            restart: restart, ifChanged: ifChanged, prunes: true, system: system)
    }

    /// - Returns: the model, which has counted the requests that it admitted.
    @discardableResult
    private func run(
        _ job: JobSettings, _ ifChanged: SettingsChange = .restart, restart: Bool = false,
        on model: ScriptedModel = ScriptedModel(), _ flag: StopFlag = StopFlag(),
        system: any FileSystem = FaultyFileSystem()
    ) throws -> (outcome: RunOutcome, model: ScriptedModel) {
        let store = try store(job, ifChanged, restart: restart, system: system)
        let outcome = try Runner(job: job, model: model, store: store, stopFlag: flag).run()
        #expect(model.faults.isEmpty, "\(model.faults)")
        return (outcome, model)
    }

    /// A model that crashes in some step.
    private func stopping(at last: Int) -> ScriptedModel {
        let model = ScriptedModel()
        model.beforeStep = { if $0 == last { throw ModelError(.resources, "out of luck") } }
        return model
    }

    /// Without times and sums, which tell of all lines before.
    private func text(_ job: JobSettings) throws -> String {
        try String(contentsOfFile: job.output, encoding: .utf8).replacing(/"timing":\{[^{}]*\},?/, with: "")
            .replacing(/,"sum":"\w+"/, with: "")
    }

    /// A run from nothing.
    private func fresh(_ job: JobSettings) throws -> (text: String, admissions: Int) {
        let folder = try TestFolder()
        var job = job
        job.output = folder.path("fresh." + (job.output.split(separator: ".").last ?? ""))
        let model = try run(job).model
        return (try text(job), model.admissions)
    }

    /// The names of the steps that each row has, by its id.
    private func made(_ text: String) throws -> [String: [String]] {
        let rows = try text.split(separator: "\n").map { line in
            let row = try JSONValue(parsing: Array(line.utf8), limits: .line)
            return (row.string("id") ?? "", row["steps"]?.texts ?? [])
        }
        return Dictionary(rows) { $1 }
    }

    /// How many results of steps the first rows have that can't be taken of the others.
    private func missing(_ rows: String, _ others: String, _ kept: Set<String>) throws -> Int {
        let others = try made(others)
        return try made(rows).reduce(0) { sum, row in
            let before = others[row.key] ?? []
            return sum + row.value.count { !kept.contains($0) || !before.contains($0) }
        }
    }

    private func without(_ name: String) -> [JobStep] { Self.steps.filter { $0.name != name } }

    private func steps(_ name: String, _ change: (inout JobStep) -> Void) -> [JobStep] {
        Self.steps.map { step in
            var step = step
            if step.name == name { change(&step) }
            return step
        }
    }

    // MARK: What is kept

    /// What has changed, and the steps that the change doesn't concern.
    private static let changes: [(name: String, kept: Set<String>)] = [
        ("close", ["question", "title", "note", "answer", "judge"]),
        ("judge", ["question", "title", "note", "answer", "close"]),
        ("accept", ["question", "title", "note", "answer", "close"]),
        ("answer", ["question", "title", "note", "close"]),
        ("where", ["question", "title", "answer", "judge", "close"]),
        ("title", ["question", "answer", "judge", "close"]),
        ("distinct", []),
        ("without note", ["question", "title", "answer", "judge", "close"]),
        ("another", ["question", "title", "note", "answer", "judge", "close"]),
        ("order", ["question", "title", "note", "answer", "judge", "close"]),
        ("first", []),
    ]

    private func changed(_ name: String) -> [JobStep] {
        switch name {
        case "accept": steps("judge") { $0.accept = "judge.text != 'yes' or n % 3 == 0" }
        case "where": steps("note") { $0.condition = "(title.text | length) % 3 == 0" }
        case "distinct": steps("question") { $0.distinct = nil }
        case "without note": without("note")
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
        } else if name == "title" {
            // It has more tries than one.
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

    @Test func whatDependsOnNothingThatChangedIsTold() throws {
        let list = Self.step("word", "{{ item }}") {
            ($0.each, $0.settings.samples) = ("question.text.split(' ')", 4)
        }
        let later = Self.step("later", "{{ item }} {{ topic }}")
        let old = [Self.steps[0], list, later, Self.step("last", "{{ more }} {{ n }}")]
        func kept(_ steps: [JobStep], from old: [JobStep]) throws -> [String]? {
            let job = try self.job(steps)
            let text = ResultText.list(old.map(\.text))
            return StepChange(from: text, to: job, try StepPlan(job))?.kept.sorted()
        }
        #expect(try kept(old, from: old) == ["last", "later", "question", "word"])
        // The list is another, and with it the items.
        var other = old
        other[1].each = "topic.split(' ')"
        #expect(try kept(other, from: old) == ["last", "question"])
        #expect(try kept(old, from: other) == ["last", "question"])
        // A step has the name that was a field's.
        other = [old[0], Self.step("more", "{{ n }}")] + old[1...]
        #expect(try kept(other, from: old) == ["later", "question", "word"])
        #expect(try kept(old, from: other) == ["later", "question", "word"])
        // Rows are other branches.
        other = old
        other[1].settings.samples = 3
        #expect(try kept(other, from: old) == ["question"])
        // The first step asks with the line.
        #expect(try kept([old[3], old[0]], from: old) == [])
        #expect(try kept([old[3], old[0]], from: [old[0], old[3]]) == [])
        let text = ResultText.list(old.map(\.text))
        let job = try self.job(old)
        let plan = try StepPlan(job)
        for broken in ["", "[]x", "[1]", "[\"a\"]", text.replacing("\\\"4\\\"", with: "\\\"99999\\\"")] {
            #expect(broken != text && StepChange(from: broken, to: job, plan) == nil)
        }
    }

    @Test func notesNameTheSteps() throws {
        try run(job())
        let job = try job(changed("answer"))
        let store = try store(job, .restart)
        #expect(
            try RowReuse(job, store)?.notes == [
                "earlier results: steps question, title, note, close are taken over; steps answer, judge are made anew"
            ])
        try store.suspend()
        let same = try self.store(job, .refuse)
        #expect(try RowReuse(job, same)?.notes.count == 1)
        try same.suspend()
    }

    // MARK: Forms of results

    @Test(arguments: ["out.jsonl", "out.json", "out.csv"]) func otherFormats(name: String) throws {
        let old = try job(to: name) { job in
            guard name == "out.jsonl" else { return }
            (job.outputFormat, job.outputFormatFollowsInput) = (FormatChoice(LeanResults()), false)
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

    private static let question = step("question", "Ask about {{ topic }}.") { $0.settings.samples = 3 }
    private static let reply = step("reply", "{{ question.text }}") {
        $0.settings.samples = 2
        $0.accept = "reply.text | length > 3"
    }
    private static let word = step("word", "{{ item }} {{ question.text }}") {
        ($0.each, $0.settings.samples) = ("question.text.split(' ')", 2)
    }
    private static let rest = step("rest", "{{ reply.text }}!")

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
        if name == "question" {
            #expect(model.admissions == all)
        } else {
            // At least the questions are there, which have three requests for each sample of a line.
            #expect(model.admissions <= all - 8 * 2 * 3 && model.admissions < all)
        }
        try run(old)
        #expect(try text(old) == fresh(old).text)
    }

    // MARK: Interruptions

    @Test(arguments: [1, 2, 3, 4]) func interruptedAnywhereItGoesOn(seed: UInt64) throws {
        var random = FixedRandom(seed)
        let old = try job()
        let hasOutput = seed % 2 == 0
        // Where it is not finished, its journal is all that there is.
        let stopped = stopping(at: hasOutput ? .max : 700)
        #expect((try? run(old, on: stopped).outcome.status == .complete) ?? false == hasOutput)
        let job = try job(changed("answer"))
        let (expected, _) = try fresh(job)
        var (runs, isWhole, asksQuestions) = (0, false, false)
        let start = "<user>Ask about".utf8.map { Int32($0) }
        while !isWhole, runs < 100 {
            var (model, flag, _, workers) = ScriptedRun.unlucky(&random, steps: 30)
            if runs > 30 { (model, flag) = (ScriptedModel(), StopFlag()) }
            model.isFaulty = { tokens, _ in
                asksQuestions = asksQuestions || tokens.starts(with: start)
                return false
            }
            var part = job
            (part.engine.workers, part.checkpointInterval) = (.count(workers), 0)
            let outcome = try? run(part, runs % 2 == 0 ? .restart : .refuse, on: model, flag).outcome
            isWhole = outcome?.status == .complete
            runs += 1
            #expect(folder.has("out.jsonl.journal") == !isWhole)
        }
        #expect(runs > 2)
        #expect(try text(job) == expected)
        // Of rows that were there, no question is asked again, in whichever run.
        #expect(asksQuestions == !hasOutput)
    }

    /// Wherever it dies, nothing is lost, and nothing that is there is made anew.
    @Test(arguments: [true, false]) func killedAtAnyCallItGoesOn(isFinished: Bool) throws {
        try write(3)
        let old = try job()
        let stopped = stopping(at: isFinished ? .max : 150)
        #expect((try? run(old, on: stopped).outcome.status == .complete) ?? false == isFinished)
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.url.path).map {
            ($0, try folder.bytes($0))
        }
        let job = try job(changed("close"))
        let (expected, all) = try fresh(job)
        let counting = FaultyFileSystem()
        let needed = try run(job, system: counting).model.admissions
        #expect(try text(job) == expected)
        #expect(needed < all && needed > 0)
        let changing: [FaultyFileSystem.Call] = [.write, .sync, .rename, .unlink, .name]
        for call in counting.calls.indices where changing.contains(counting.calls[call]) {
            for name in try FileManager.default.contentsOfDirectory(atPath: folder.url.path) {
                try FileManager.default.removeItem(atPath: folder.path(name))
            }
            for (name, bytes) in files { try folder.write(bytes, to: name) }
            let what: Comment = "call \(call) (\(counting.calls[call]))"
            let system = FaultyFileSystem(failing: call, with: .error(EIO), lasts: true)
            _ = try? run(job, system: system)
            let (outcome, model) = try run(job)
            #expect(outcome.status == .complete, what)
            #expect(try text(job) == expected, what)
            #expect(model.admissions <= needed, what)
            #expect(!folder.has("out.jsonl.journal"), what)
        }
    }

    // MARK: What else there may be

    /// The results of several runs: each row is taken of the one that has most of it.
    @Test func aChangeAfterAChangeThatWasNotFinished() throws {
        let old = try job()
        try run(old)
        let before = try text(old)
        let model = stopping(at: 100)
        var second = changed("answer")
        #expect(throws: ModelError.self) { try run(job(second), on: model) }
        // Now the judge, too: of rows that the second run has made, it takes the answers.
        second[4].settings.prompt? += "?"
        let third = try job(second) { $0.checkpointInterval = 0 }
        let (expected, _) = try fresh(third)
        let answered = try made(expected).values.count { $0.contains("answer") }
        let judged = try made(expected).values.count { $0.contains("judge") }
        let stopped = stopping(at: 40)
        #expect(throws: ModelError.self) { try run(third, on: stopped) }
        let again = try store(third, .refuse)
        #expect(again.earlierSteps.count == 2)
        try again.suspend()
        let taken = try run(third).model.admissions + stopped.admissions
        #expect(try text(third) == expected)
        #expect(taken > judged && taken < judged + answered)
        // Back to the first while another is begun: there is nothing to make.
        let other = stopping(at: 40)
        try run(old, restart: true)
        #expect(throws: ModelError.self) { try run(job(changed("title")), on: other) }
        let (outcome, none) = try run(old)
        #expect(outcome.status == .complete && none.admissions == 0)
        #expect(try text(old) == before)
    }

    @Test func anythingElseThatChangesMakesAllAnew() throws {
        try run(job())
        let job = try job(changed("close")) { $0.seed = 6 }
        let (expected, all) = try fresh(job)
        #expect(try run(job).model.admissions == all)
        #expect(try text(job) == expected)
        // And so does a wholly new beginning, also when it is interrupted, and the steps change again.
        let again = try self.job { $0.seed = 6 }
        #expect(try run(again, restart: true).model.admissions == fresh(again).admissions)
        let stop = StopFlag()
        stop.set()
        try run(again, restart: true, on: ScriptedModel(), stop)
        #expect(try run(job).model.admissions == all)
        #expect(try text(job) == expected)
    }

    @Test func refusalsNameTheWay() throws {
        try run(job())
        let error = #expect(throws: StoreError.self) { try run(job(changed("close")), .refuse) }
        #expect(
            error?.message.contains("make only what the changed steps concern again (--if-changed restart)")
                == true)
        let other = #expect(throws: StoreError.self) { try run(job { $0.seed = 6 }, .refuse) }
        #expect(other?.message.contains("changed steps") == false)
    }

    /// A step names another field, so that lines are known by other hashes; some lines are edited, and some are new.
    @Test func linesThatAreEditedAreMadeWhole() throws {
        try write(12)
        try run(job())
        let before = try text(job()).split(separator: "\n").filter { !$0.contains("\"id\":\"l3\"") }
        let steps = steps("close") { $0.settings.prompt = "{{ n }} so {{ topic }} {{ more }}" }
        let lines = (0..<14).map { number in
            "{\"id\":\"l\(number)\",\"topic\":\"\(number == 3 ? "u" : "t\(number)")\",\"n\":\(number),\"more\":\(number)}\n"
        }
        try folder.write(lines.joined().utf8, to: "in.jsonl")
        let job = try job(steps)
        let (expected, _) = try fresh(job)
        let missing = try missing(
            expected, before.joined(separator: "\n"), ["question", "title", "note", "answer", "judge"])
        let admissions = try run(job).model.admissions
        #expect(try text(job) == expected)
        // Of several tries a row has the last.
        #expect((missing...missing + 3).contains(admissions))
    }

    /// What was made again has another seed than a run from nothing takes.
    @Test func redoneRowsAreMadeWhole() throws {
        let old = try job()
        try run(old)
        let choice = RedoChoice(ids: "l2\nl5")
        let store = try choice.store(of: old, note: { _, _ in }, open: { try self.store(old, .refuse) })
        _ = try Runner(job: old, model: ScriptedModel(), store: store).run()
        let job = try job(changed("close"))
        let (expected, _) = try fresh(job)
        try run(job)
        #expect(try text(job) == expected)
    }

    /// Results that were kept, each of other steps.
    @Test func ofKeptResultsEachIsTakenAsItWasMade() throws {
        try write(6)
        try run(job(changed("answer")))
        try write(12)
        try run(job(), .keep)
        let job = try job(changed("close"))
        let (expected, _) = try fresh(job)
        let rows = try made(expected)
        let closed = rows.values.count { $0.contains("close") }
        let answers = (0..<6).reduce(0) {
            $0 + (rows["l\($1)"] ?? []).count { ["answer", "judge"].contains($0) }
        }
        #expect(try run(job).model.admissions == closed + answers)
        #expect(try text(job) == expected)
    }

    @Test func enoughRowsAreTakenOver() throws {
        let old = try job { $0.until = 3 }
        try run(old)
        for name in ["close", "accept"] {
            let job = try job(changed(name)) { $0.until = 6 }
            let (expected, all) = try fresh(job)
            let (outcome, model) = try run(job)
            #expect(outcome.statistics.accepted == 6 && model.admissions < all)
            #expect(try text(job) == expected)
        }
    }

    /// A file that is gone is said to be, and its rows are made whole.
    @Test func whatIsGoneIsTold() throws {
        let stopped = stopping(at: 700)
        let old = try job()
        #expect(throws: ModelError.self) { try run(old, on: stopped) }
        let job = try job(changed("close"))
        try store(job, .restart).suspend()
        try FileManager.default.removeItem(atPath: folder.path("out.jsonl.journal.old-1"))
        let store = try store(job, .refuse)
        #expect(
            store.notes.contains { $0.hasPrefix("out.jsonl.journal.old-1: is not there any more") },
            "\(store.notes)")
        try store.suspend()
        let (expected, all) = try fresh(job)
        #expect(try run(job).model.admissions == all)
        #expect(try text(job) == expected)
    }
}

/// What has changed in steps is told by its name.
@Suite struct ToldStepTests {
    private static let steps = [
        JobStep.named("question") { step in
            step.settings.prompt = "Ask."
            step.settings.samples = 3
            step.distinct = Distinctness("question.text", similarity: 0.8)
        },
        JobStep.named("judge") { $0.accept = "judge.text" },
    ]

    private func fingerprint(_ steps: [JobStep]) -> RunFingerprint {
        RunFingerprint([("job.steps", ResultText.list(steps.map(\.text)))])
    }

    @Test func changesAreNamed() {
        let old = fingerprint(Self.steps)
        #expect(old.comparesRows && !fingerprint([Self.steps[1]]).comparesRows)
        var steps = Self.steps
        steps[0].distinct?.similarity = 0.9
        steps[0].settings.samples = nil
        steps[1].accept = "true"
        steps[1].settings.system = "Judge."
        #expect(
            fingerprint(steps).changes(from: old) == [
                "steps: question: distinct: question.text near 0.8 -> question.text near 0.9",
                "steps: question: samples: 3 -> (not set)",
                "steps: judge: accept: judge.text -> true",
                "steps: judge: system: - -> [\"Judge.\"]",
            ])
        #expect(
            fingerprint([Self.steps[1], JobStep("answer")]).changes(from: old) == [
                "steps: answer is new", "steps: question is gone",
            ])
        #expect(fingerprint(Self.steps.reversed()).changes(from: old) == ["steps: in another order"])
    }
}
