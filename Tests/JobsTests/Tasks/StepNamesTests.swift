import JSON
import Testing
import TokenConstraints

@testable import Jobs

/// Misspelt names in templates and conditions of steps, and what a check shows of later steps.
@Suite struct StepNamesTests {
    private static func job(_ steps: String) throws -> JobSettings { try .sample("steps:\n" + steps) }

    private static let judge = "- {name: judge, prompt: \"{{ notice }}\", choices: [\"yes\", \"no\"]"
    private static let data =
        "- {name: data, prompt: \"{{ notice }}\", schema: {type: object, properties: {title: {type: string}, who: {type: object, properties: {name: {type: string}}, additionalProperties: false}}, additionalProperties: false}"
    private static let score = "- {name: likely, prompt: x, task: score, completion: \"{{ notice }}\""

    @Test(arguments: [
        (judge + ", accept: judge.probabilites.yes > 0.5}", "Did you mean probabilities?"),
        (judge + ", accept: \"judge['probabilities'].yess > 0.5\"}", "Did you mean yes?"),
        (data + "}\n- {name: fix, prompt: x, where: not data.title.strip() or data.titel}", "mean title?"),
        (data + "}\n- {name: fix, prompt: \"{% if data.who.nmae %}x{% endif %}\"}", "who has no member nmae"),
        (data + ", distinct: data.subject}", "data has no member subject"),
        (score + ", accept: likely.text}", "likely has no member text"),
        (judge + "}\n- {name: end, prompt: x, task: score, completion: \"{{ judge.txt }}.\"}", "mean text?"),
        ("- {name: n, prompt: x, schema: {type: integer}, accept: n.value > 3}", "n has no member value"),
    ])
    func membersThatNoResultHasAreRefused(_ steps: String, _ message: String) {
        let problem = JobSettings.problem("steps:\n" + steps)
        #expect(problem.contains(message), "\(problem)")
    }

    @Test(arguments: [
        judge
            + ", accept: \"judge.usage.completion_tokens and judge.seed or judge.tokens[0] or judge.text.upper()\"}",
        data
            + ", accept: \"data.items() and data.who.name.upper() and data.title[0] and (data or x).titel\"}",
        data + "}\n- {name: b, prompt: \"{% set data = x %}{{ data.titel }}\"}",
        // What such steps make may be a JSON object with any members.
        "- {name: a, prompt: x, accept: a.title}",
        "- {name: a, prompt: x, grammar: 'root ::= [a-z]', accept: a.title}",
        "- {name: a, prompt: x, response_format: json_object, accept: a.title}",
        "- {name: a, prompt: x, schema: {properties: {b: {}}}, accept: a.title}",
        "- {name: a, prompt: x, schema: {$ref: \"#/$defs/a\", $defs: {a: {type: object}}}, accept: a.title}",
        "- {name: a, prompt: x, choices: ['{\"title\":1}', b], accept: a.title}",
        "- {name: a, prompt: x, choices: \"{{ all }}\", accept: a.probabilities.title}",
    ])
    func whatMayBeThereIsNotRefused(_ steps: String) throws { _ = try Self.job(steps) }

    @Test func aCheckNamesWhatIsHardlyMeant() throws {
        let job = try Self.job(
            """
            - name: question
              prompt: "{{ notise }} {{ question }}"
              accept: question.titel and qestion.text
            - name: data
              prompt: "{{ notice }} {% set x = 1 %}{{ x }} {{ data.text if data }}"
              where: quest
              schema: {properties: {title: {type: string}}}
              accept: data.titel
              tries: 2
            - {name: any, prompt: "{{ data.title }}{{ (question or data).titel }}", regex: "a", accept: any.thing}
            """)
        let plan = try StepPlan(job)
        let members = [
            "steps: question: accept names question.titel, but question probably has no member titel. It has finish_reason, logprobs, provenance, reasoning, reasoning_cut, seed, text, tokens, tool_calls, usage.",
            "steps: data: accept names data.titel, but data probably has no member titel. Did you mean title?",
        ]
        #expect(plan.nameFaults().map(\.text) == members)
        let nowhere = "which is neither a field of any line nor a step before it."
        #expect(
            plan.nameFaults(["notice", "quest"]).map(\.text) == [
                members[0], "steps: question: accept names qestion, \(nowhere) Did you mean question?",
                "steps: question: prompt names notise, \(nowhere) Did you mean notice?",
                "steps: question: prompt names question, \(nowhere)", members[1],
            ])
    }

    @Test func laterPromptsHaveNamesForAnswers() throws {
        let job = try Self.job(
            """
            - {name: question, prompt: "{{ notice }}"}
            - name: data
              system: For {{ question.text }}
              prompt: "{{ notice }} {{ question.title }}"
              schema: {properties: {title: {type: string}, tags: {type: array}}, additionalProperties: false}
            - {name: judge, prompt: "{% for tag in data.tags %}{{ tag }}{% endfor %}", choices: ["yes", "no"]}
            - name: fix
              where: judge.probabilities.yes < 0.5
              prompt: "{{ (question or data).text }} {{ data.title.upper() }} {{ judge.usage.prompt_tokens }}"
            - {name: last, prompt: "{{ judge.probabilities.yes + 1 }}"}
            - {name: end, prompt: "{{ notice }}", task: score, completion: "{{ nothing }}!"}
            """)
        let model = ScriptedModel()
        let prompts = try StepPlan(job).laterPrompts(
            of: try PromptRecord.parse(Array("{\"notice\":\"N\"}".utf8)),
            by: RequestMaker(model, model.limits, AnswerGrammars(text: model, limits: model.limits)))
        let texts = prompts.map { step, prompt in
            switch prompt {
            case .success(let tokens): step + ": " + String(decoding: tokens.map(UInt8.init), as: UTF8.self)
            case .failure(let error): step + ": " + error.message
            }
        }
        #expect(
            Array(texts[..<3]) == [
                "data: <system>For <question.text><user>N <question.title><assistant>",
                "judge: <user><data.tags><assistant>",
                "fix: <user><question.text> <DATA.TITLE> <judge.usage.prompt_tokens><assistant>",
            ])
        #expect(texts[3].hasPrefix("last: the job's prompt template, line 1: "), "\(texts[3])")
        #expect(texts[4].contains("line has no field \"nothing\""), "\(texts[4])")
    }
}
