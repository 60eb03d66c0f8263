import BatchEngine
import Foundation
import JSON
import Testing

@testable import BatchPipeline
@testable import Jobs

/// Jobs with steps, over a scripted model.
@Suite struct StepsTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private static let steps = [
        JobStep.named("question") { step in
            step.settings.prompt = "Ask about {{ topic }}."
            step.settings.stop = ["end"]
            step.settings.tokens = true
        },
        JobStep.named("note") { step in
            step.condition = "question.text | length > 12"
            step.settings.prompt = "{{ topic }}: {{ question.text }}?"
            step.settings.logprobs = 1
        },
        JobStep.named("judge") { step in
            step.settings.prompt = "{{ question.text }}{% if note %} ({{ note.text }}){% endif %}"
            step.settings.choices = ["yes", "no", "perhaps"]
            step.accept = "judge.text != 'no'"
            step.tries = 2
        },
        JobStep.named("likely") { step in
            step.settings.task = .score
            step.settings.prompt = "{{ judge.text }}"
            step.settings.completion = "{{ question.text }}."
        },
    ]

    private func job(_ path: String, _ change: (inout JobSettings) -> Void = { _ in }) -> JobSettings {
        .test(input: path, steps: Self.steps, change)
    }

    private func lines(_ folder: TestFolder, _ count: Int = 40) throws -> String {
        try folder.write(
            (0..<count).map {
                "{\"id\":\"\($0)\",\"topic\":\"\(String(repeating: "thing ", count: $0 % 9))\($0)\"}\n"
            }.joined(), to: "in.jsonl")
    }

    @Test func rowsAreTheSameHoweverTheyRun() throws {
        let job = job(try lines(folder)) { $0.samples = 2 }
        try ScriptedRun.inManyWays(job) { outcome, lines, _ in
            #expect(outcome.status == .complete && outcome.statistics.done == 80)
            let tally = outcome.statistics.tally
            let dropped = lines.count { $0.contains(",\"dropped\":\"judge\",") }
            #expect(
                tally == [.accepted: 80 - dropped, .dropped(by: "judge", .notAccepted): dropped])
            #expect((1..<80).contains(dropped))
            let passedOver = lines.count { !$0.contains(",\"note\":{") }
            #expect((1..<80).contains(passedOver))
            #expect(lines.count { $0.contains(",\"likely\":{\"logprob\":") } == 80 - dropped)
            #expect(
                lines.allSatisfy { $0.contains("\"steps\":[\"question\",") && $0.contains(",\"topic\":\"") })
        }
    }

    /// What each step makes is what a job of its own would, asked the same.
    @Test func stepsAreWhatJobsOfTheirOwnAre() throws {
        func texts(_ lines: [String], _ name: String? = nil) throws -> [String] {
            try lines.map { line in
                let row = try ScriptedRun.row(line)
                guard case .string(let text)? = (name.map { row[$0] } ?? row)?["text"] else { return "" }
                return text
            }
        }
        let input = try lines(folder)
        let whole = job(input) { job in
            job.temperature = 0
            job.steps =
                Array(Self.steps[..<1]) + [
                    JobStep.named("answer") { $0.settings.prompt = "{{ question.text }}!" }
                ]
        }
        let rows = try ScriptedRun.run(whole).lines
        let first = job(input) { job in
            job.steps = []
            (job.temperature, job.prompt, job.stop) = (0, "Ask about {{ topic }}.", ["end"])
        }
        let questions = try texts(ScriptedRun.run(first).lines)
        #expect(try texts(rows, "question") == questions)
        let second = try folder.write(
            questions.map { "\(JSONWriter.text(of: .object(["prompt": .string($0 + "!")])))\n" }.joined(),
            to: "second.jsonl")
        let flat = job(second) { job in
            job.steps = []
            job.keep = .none
            job.temperature = 0
        }
        #expect(try texts(rows, "answer") == texts(ScriptedRun.run(flat).lines))
    }

    /// The second try sees what the first has made, and so its prompt is another.
    @Test func aTryMayRepair() throws {
        let job = job(try lines(folder)) { job in
            job.temperature = 0
            job.steps = [
                JobStep.named("question") { step in
                    step.settings.prompt =
                        "{% if question %}Not {{ question.text }} but{% else %}Ask{% endif %} {{ topic }}"
                    step.accept = "(question.text | length) % 2 == 0"
                    step.tries = 3
                }
            ]
        }
        let (outcome, lines) = try ScriptedRun.run(job)
        let prompts = try lines.map { line in
            try ScriptedRun.row(line)["question"]?["usage"]?["prompt_tokens"]
        }
        #expect(Set(prompts.map { "\($0 as Any)" }).count > 9)
        #expect(outcome.statistics.tally.count == 2)
    }

    @Test func aRowThatFailsNamesItsStep() throws {
        let path = try folder.write(
            "{\"id\":\"a\",\"topic\":\"x\"}\n{\"id\":\"b\"}\n{\"id\":\"c\",\"topic\":\"y\",\"regex\":\"a\"}\n"
                + "{\"id\":\"d\",\"topic\":\"x\",\"choices\":[\"a\",\"b\"]}\n{\"id\":\"e\",\"topic\":\"x\",\"one\":1}\n",
            to: "in.jsonl")
        let job = job(path) { job in
            (job.maxFailures, job.lineSettings) = (.count(9), ["regex", "choices"])
            job.steps = [
                JobStep.named("one") { $0.settings.prompt = "say" },
                JobStep.named("two") { $0.settings.prompt = "{{ topic.upper() }}" },
            ]
        }
        let (outcome, lines) = try ScriptedRun.run(job)
        #expect(outcome.statistics.failed == 4 && outcome.statistics.tally == [.accepted: 1])
        #expect(lines[1].contains("two: "), "\(lines[1])")
        #expect(lines[2].contains("belongs to a step"), "\(lines[2])")
        #expect(lines[3].contains("`choices` belong to a step"), "\(lines[3])")
        #expect(lines[4].contains("The line has a field `one`"), "\(lines[4])")
    }

    @Test func resultsAreReadAgain() throws {
        for line in try ScriptedRun.run(job(lines(folder))).lines {
            let start = try #require(line.range(of: "\"steps\":"))
            let end = try #require(line.range(of: ",\"topic\":", options: .backwards))
            let text = "{" + line[start.lowerBound..<end.lowerBound] + "}"
            let log = try JSONValue(parsing: Array(text.utf8), limits: .ownLine)
            let made = try #require(GenerationResult(step: log).steps, "\(text)")
            let saved = GenerationResult.saved(made)
            #expect(text.hasPrefix(saved.dropLast()))
            #expect(GenerationResult.saved(GenerationResult.steps(saved: saved)) == saved)
        }
        for text in ["", "{}", "{\"steps\":[\"a\"]}", "{\"steps\":[],\"a\":{}}", "[1]"] {
            #expect(GenerationResult.steps(saved: text).isEmpty, "\(text)")
        }
    }

    // MARK: Job files

    @Test func stepsAreRead() throws {
        _ = try folder.write("{\"type\": \"integer\"}", to: "s.json")
        let yaml = """
            temperature: 0.5
            system: Be short.
            until: 200
            steps:
              - name: question
                prompt: "{{ topic }}"
                max_tokens: 9
                stop: [a, b]
                samples: 2
                distinct: question.text
              - name: answer
                messages:
                  - {role: user, content: "{{ question.text }}"}
                schema: s.json
                where: question.text
                accept: answer.text | int > 3
                tries: 4
                distinct: {text: "answer.text | lower", near: 0.7}
              - {name: more, each: question.things, samples: 4, prompt: "{{ item }}"}
            """
        let job = try JobSettings.sample(yaml, folder: folder.path)
        #expect(job.task == .steps && job.steps.map(\.name) == ["question", "answer", "more"])
        let (first, second) = (job.steps[0].job(in: job), job.steps[1].job(in: job))
        #expect(first.temperature == 0.5 && first.maxTokens == 9 && first.stop == ["a", "b"])
        #expect(second.maxTokens == nil && second.system == "Be short." && second.messages.count == 1)
        #expect(second.answerFormat == AnswerFormat.schema(["type": "integer"]))
        #expect(job.steps[1].condition == "question.text" && job.steps[1].tries == 4)
        #expect(job.sources.map(\.what) == ["the schema"])
        #expect(job.steps[0].distinct == Distinctness("question.text"))
        #expect(job.steps[1].distinct == Distinctness("answer.text | lower", similarity: 0.7))
        #expect(job.sampleCount == 8 && job.steps[2].each == "question.things")
        #expect(job.until == 200 && job.selection == .init(wanted: 200))
        #expect(!job.resultSettings.contains { $0.name == "until" })
        var texts: Set<String?> = []
        let changes: [(inout JobSettings) -> Void] = [
            { $0.steps[0].settings.maxTokens = 10 }, { $0.steps[1].distinct?.similarity = 0.8 },
            { $0.steps[0].settings.samples = 3 }, { $0.steps[2].each = nil }, { _ in },
        ]
        for change in changes {
            var other = job
            change(&other)
            texts.insert(other.resultSettings.first { $0.name == "steps" }?.value)
        }
        #expect(texts.count == changes.count)
        let perLine = "samples: 5\nuntil: 2 per line\nsteps:\n  - {name: a}\n"
        let other = try JobSettings.sample(perLine)
        #expect(other.untilPerLine == 2 && other.until == nil && other.selection == .all)
        #expect(other.resultSettings.contains { $0 == ("until", "2 per line") })
    }

    @Test(
        arguments: [
            ("steps: []", "job.yaml:4: steps must be a list of mappings"),
            ("steps: 5", "steps must be a list of mappings"),
            ("steps:\n- prompt: x", "job.yaml:5: steps has a step without a name"),
            ("steps:\n- name: a\n  promt: x", "job.yaml:6: steps a: promt is no key"),
            ("steps:\n- name: a\n  keep: x", "keep is no key of a step; it belongs to the whole job"),
            ("steps:\n- name: a\n  max_tokens: 0", "job.yaml:6: steps a: max_tokens must be"),
            ("steps:\n- name: a\n  schema: nosuch.json", "steps a: schema"),
            ("steps:\n- name: seed\n  prompt: x", "seed is a name that lines or results have"),
            ("steps:\n- name: 1a\n  prompt: x", "is no name"),
            ("steps:\n- {name: a, prompt: x}\n- {name: a, prompt: y}", "a is the name of something else"),
            ("steps:\n- {name: a, prompt: x}\n- {name: b}", "b: it needs a prompt"),
            ("steps:\n- {name: a, tries: 2}", "tries needs accept"),
            ("prompt: x\nsteps:\n- {name: a}", "prompt belongs to a step"),
            ("steps:\n- {name: a}\ntask: score", "task belongs to a step"),
            ("task: score\nsteps:\n- {name: a}", "task belongs to a step"),
            ("steps:\n- {name: \"true\", prompt: x}", "is a word of the templates' language"),
            ("steps:\n- {name: a, prompt: x, prompt_file: y}", "a: prompt and prompt_file are both given"),
            ("steps:\n- {name: a, prompt: \"{{ b.text }}\"}\n- {name: b, prompt: x}", "that comes later"),
            ("steps:\n- {name: a, task: score, seed: 1}", "a: seed has no meaning"),
            ("keep: all\nsteps:\n- {name: a}", "keep must list fields by name"),
            ("steps:\n- {name: a, choices: [x, y], regex: x}", "both constrain the answer"),
            // Rows of one row, and decisions on rows.
            ("steps:\n- {name: a}\n- {name: b, prompt: x, each: a.text}", "each needs samples"),
            (
                "steps:\n- {name: a}\n- {name: b, prompt: x, each: a.items, samples: 2}",
                "a member of that name is written [\"items\"]"
            ),
            ("steps:\n- {name: a, where: x, samples: 2}", "where has no meaning beside samples"),
            (
                "steps:\n- {name: a}\n- {name: item, prompt: x, each: a.text, samples: 2}",
                "item is the name of something else"
            ),
            (
                "steps:\n- {name: a, samples: 101}\n- {name: b, prompt: x, samples: 101}",
                "make 10201 rows of a line; at most 10000"
            ),
            ("steps:\n- {name: a, distinct: 5}", "distinct must be a string"),
            ("steps:\n- {name: a, distinct: {text: x, near: 2}}", "has near, which must be a number"),
            ("steps:\n- {name: a, distinct: {text: x, similar: 2}}", "a mapping with text and near"),
            ("steps:\n- {name: a, distinct: {near: 0.5}}", "a mapping with text and near"),
            ("steps:\n- {name: a, distinct: \"a.text |\"}", "distinct (a)"),
            ("steps:\n- {name: a, distinct: b.text}\n- {name: b, prompt: x}", "comes later"),
            ("until: 3", "until needs steps"),
            ("until: 0\nsteps:\n- {name: a}", "until must be"),
            ("until: 3\nshard: 1/4\nsteps:\n- {name: a}", "until can't be shared out: there are 4 shards"),
            ("until: 3 per row\nsteps:\n- {name: a}", "as many \"per line\""),
            ("until: 3 per line", "until needs steps"),
            ("until: 3 per line\nsamples: 3\nsteps:\n- {name: a}", "not below the number of rows"),
            ("steps:\n- {name: until}", "is a name that lines or results have"),
        ])
    func whatIsWrongIsNamed(_ yaml: String, _ message: String) {
        let error = #expect(throws: UserError.self) {
            let job = try JobSettings.sample(yaml, folder: folder.path)
            _ = try BatchJob(job)
        }
        #expect(error.map { "\($0)" }?.contains(message) == true, "\(error as Any)")
    }

    /// What the job says for all steps passes over those for which it has no meaning.
    @Test func whatHasNoMeaningForAStepIsNotItsOwn() throws {
        let yaml = """
            seed: 3
            top_p: 0.5
            stop: x
            temperature: 0.5
            steps:
              - {name: a, prompt: x, schema: {type: integer}}
              - {name: b, prompt: x, choices: [u, v]}
              - {name: c, prompt: x, task: score}
            """
        let job = try JobSettings.sample(yaml)
        let steps = job.steps.map { $0.job(in: job).request }
        #expect(steps.map(\.seed) == [3, 3, nil] && steps.map(\.topP) == [0.5, nil, nil])
        #expect(steps.allSatisfy { $0.stop == nil } && steps.map(\.temperature) == [0.5, 0.5, nil])
        try job.checkAnswers()
        let impossible = yaml.replacing("type: integer", with: "type: integer, minimum: 3, maximum: 2")
        #expect(throws: UserError.self) { try JobSettings.sample(impossible).checkAnswers() }
    }

    @Test func malformedConditionsEndTheJobBeforeItBegins() throws {
        let job = job("in.jsonl") { $0.steps[1].condition = "question.text >" }
        #expect(throws: UserError.self) { try LinePreparer(job) }
        for format in [ResultFormat.csv, .openAI()] { #expect(format.problem(with: job) != nil) }
    }
}
