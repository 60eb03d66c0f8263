import JSON
import Testing

@testable import BatchPipeline
@testable import Jobs

/// OpenAI's batch files, from a request to its answer.
@Suite struct OpenAITests {
    private func content(_ url: String, _ body: JSONValue) -> LineContent {
        OpenAIRequest.content(of: ["custom_id": "a", "method": "POST", "url": .string(url), "body": body])
    }

    private let chat = "/v1/chat/completions"
    private let question: JSONValue = [["role": "user", "content": "Why?"]]

    @Test func aChatIsItsMessagesAndSettings() throws {
        let found = content(
            chat,
            [
                "model": "gpt", "user": "u", "stream": false, "tools": [], "stop": ["x"], "seed": 7, "n": 3,
                "logprobs": true, "top_logprobs": 4, "temperature": nil, "logit_bias": ["5": -1],
                "max_tokens": 5, "max_completion_tokens": 9,
                "messages": [
                    ["role": "developer", "content": "Short."],
                    [
                        "role": "user",
                        "content": [["type": "text", "text": "Wh"], ["type": "text", "text": "y?"]],
                    ],
                ],
            ])
        #expect(found.fault == nil)
        #expect(found.request?.choices == 3 && found.request?.logprobs == 4)
        #expect(found.request?.endpoint == .chat && found.request?.unsupported.isEmpty == true)
        let record = try PromptRecord(fields: found.fields)
        #expect(
            record.settings.maxTokens == 9 && record.settings.seed == 7
                && record.settings.temperature == 1)
        #expect(record.settings.stop == ["x"] && record.settings.logitBias == [5: -1])
        #expect(
            record.messages
                == [.init(role: "system", content: "Short."), .init(role: "user", content: "Why?")]
        )
    }

    @Test func completionsAndResponses() throws {
        let text = content("/v1/completions", ["prompt": ["Once"], "logprobs": 2, "temperature": 0])
        #expect(text.fault == nil && text.request?.logprobs == 2 && text.request?.endpoint == .completions)
        #expect(text.fields["prompt"] == "Once" && text.fields["max_tokens"] == 16)
        let tokens = content("/v1/completions", ["prompt": [5, 6]])
        #expect(try PromptRecord(fields: tokens.fields).tokens == [5, 6])
        let response = content(
            "/v1/responses",
            [
                "instructions": "Short.", "max_output_tokens": 3, "top_logprobs": 1,
                "include": ["message.output_text.logprobs"],
                "input": [
                    ["type": "message", "role": "user", "content": [["type": "input_text", "text": "Hi"]]],
                    [
                        "type": "function_call_output", "call_id": "c",
                        "output": [
                            ["type": "input_text", "text": "one"], ["type": "input_text", "text": "two"],
                        ],
                    ],
                ],
            ])
        #expect(response.fault == nil && response.request?.logprobs == 1 && response.request?.choices == 1)
        #expect(
            response.fields["messages"]
                == [
                    ["role": "system", "content": "Short."], ["role": "user", "content": "Hi"],
                    ["role": "tool", "content": "onetwo", "tool_call_id": "c"],
                ])
    }

    @Test(arguments: [
        ("schema", "response_format"), ("tols", "tools"), ("temprature", "temperature"),
    ])
    func whatIsNotKnownHasAHint(name: String, meant: String) {
        let found = content(chat, .object(JSONObject([("messages", question), (name, 1)])))
        #expect(found.request?.unsupported.first?.message.hasSuffix("Did you mean \(meant)?") == true)
    }

    /// Issue 59, 12.
    @Test func completionsOfSeveralPromptsAndEchoes() throws {
        func request(_ body: JSONValue) -> LineContent { content("/v1/completions", body) }
        let several = request(["prompt": ["a", "b"], "n": 3, "echo": true, "max_tokens": 0, "logprobs": 1])
        #expect(
            several.fault == nil && several.request?.prompts == ["a", "b"] && several.request?.choices == 3)
        #expect(several.request?.echoes == true && several.request?.asksNothing == true)
        #expect(several.fields["prompt"] == ["a", "b"] && several.fields["max_tokens"] == 1)
        #expect(request(["prompt": [[1, 2], [3]]]).request?.prompts == [[1, 2], [3]])
        let one = request(["prompt": [[1, 2]]])
        #expect(one.request?.prompts == [] && one.fields["prompt"] == [1, 2])
        for wrong: JSONValue in [
            ["prompt": "a", "echo": 1], ["prompt": .array(Array(repeating: "a", count: 3000)), "n": 4],
        ] { #expect(request(wrong).fault != nil) }
        let record = try PromptRecord(fields: ["id": "a", "prompt": "x"], .request)
        #expect(try record.asking([5]).tokens == [5] && record.asking("a").fields["prompt"] == "a")
        for wrong: JSONValue in [[1, "a"], ["a"]] {
            #expect(throws: LineError.self) { try record.asking(wrong) }
        }
        // What is not done says what would do instead.
        let others = request(["prompt": "a", "best_of": 2, "truncate_prompt_tokens": 3]).request?.unsupported
        #expect(others?.allSatisfy { OpenAIBody.instead[$0.name].map($0.message.contains) == true } == true)
        #expect(others?.count == 2)
        #expect(request(["prompt": "a", "suffix": "b"]).fault?.message.contains("Put what follows") == true)
    }

    /// Nothing is passed over that would change an answer.
    @Test(
        arguments: [
            ("tools", ["x"]), ("tool_choice", "required"), ("modalities", ["text", "audio"]),
            ("guided_json", "no schema"), ("guided_choice", "a"), ("structured_outputs", ["x": 1]),
            ("top_logprobs", 2), ("n", 0), ("n", "2"),
            ("logprobs", 1), ("max_tokens", 0),
            ("messages", [["role": "user", "content": [["type": "image_url"]]]]),
            ("messages", [["role": "assistant", "tool_calls": [1]]]), ("messages", "Why?"), ("messages", [1]),
        ] as [(String, JSONValue)])
    func whatCannotBeDoneIsRefused(name: String, value: JSONValue) throws {
        var body = JSONObject([("messages", question)])
        body[name] = value
        let fault = try #require(content(chat, .object(body)).fault)
        #expect(fault.message.contains("`\(name)"), "\(fault)")
        #expect(content(chat, .object(body)).fields["id"] == "a", "its id is known all the same")
    }

    /// Whether the answer may do without is the job's to say.
    @Test(
        arguments: [
            ("stream", true), ("nonsense", 1), ("verbosity", "high"),
            ("length_penalty", 2), ("top_k", "x"),
        ] as [(String, JSONValue)])
    func whatAnAnswerCanDoWithoutIsListed(name: String, value: JSONValue) throws {
        var body = JSONObject([("messages", question)])
        body[name] = value
        let found = content(chat, .object(body))
        guard name != "top_k" else {
            #expect(throws: LineError.self) { try PromptRecord(fields: found.fields) }
            return
        }
        #expect(found.fault == nil && found.request?.unsupported.map(\.name) == [name])
        #expect(found.request?.unsupported.first?.message.contains("`\(name)`") == true)
    }

    @Test func toolsBecomeTheLines() throws {
        let tool: JSONValue = [
            "type": "function", "function": ["name": "f", "parameters": ["type": "object"]],
        ]
        func fields(_ more: [(String, JSONValue)]) -> JSONValue {
            let found = content(
                chat, .object(JSONObject([("messages", question), ("tools", [tool])] + more)))
            #expect(found.fault == nil)
            return found.fields
        }
        let named = fields([("tool_choice", ["type": "function", "function": ["name": "f"]])])
        #expect(named["tools"] == [tool] && named["tool_choice"] == "f" && named["max_tool_calls"] == nil)
        let one = fields([("tool_choice", "required"), ("parallel_tool_calls", false)])
        #expect(one["tool_choice"] == "required" && one["max_tool_calls"] == 1)
        let rule = try PromptRecord(fields: one).form?.tools
        #expect(rule != nil && rule?.answer == nil)
        let both = fields([("response_format", ["type": "json_object"]), ("stop", ["x"])])
        #expect((try PromptRecord(fields: both).form?.tools)?.answer == AnswerFormat.object)
        for wrong: JSONValue in [[["type": "web_search"]], "f", [["function": ["name": "f"]]]] {
            #expect(
                content(chat, ["messages": question, "tools": wrong]).fault?.message.contains("`tools")
                    == true)
        }
    }

    @Test func formatsAreThoseOfALine() throws {
        let schema: JSONValue = ["type": "object"]
        let found = content(
            chat,
            [
                "messages": question,
                "response_format": ["type": "json_schema", "json_schema": ["name": "n", "schema": schema]],
            ])
        #expect(try PromptRecord(fields: found.fields).form == AnswerFormat.schema(schema))
        let response = content(
            "/v1/responses",
            [
                "input": "Why?",
                "text": ["format": ["type": "json_schema", "name": "n", "schema": schema, "strict": true]],
            ])
        #expect(response.fault == nil)
        #expect(try PromptRecord(fields: response.fields).form == AnswerFormat.schema(schema))
        for text in [["format": ["type": "text"]], [:], ["format": nil]] as [JSONValue] {
            let plain = content("/v1/responses", ["input": "Why?", "text": text])
            #expect(plain.fault == nil)
            #expect(try PromptRecord(fields: plain.fields).form?.isConstraint != true)
        }
        for (text, part) in [
            (["format": ["type": "grammar"]], "`text.format` must have"),
            ("x", "`text` must be"),
        ] as [(JSONValue, String)] {
            let fault = content("/v1/responses", ["input": "Why?", "text": text]).fault
            #expect(fault?.message.hasPrefix(part) == true)
        }
    }

    /// What SDKs and servers write without being asked.
    @Test func defaultsAskForNothing() throws {
        let chat = content(
            chat,
            [
                "messages": question, "model": "m", "reasoning_effort": "none", "tool_choice": "none",
                "verbosity": "medium", "stream_options": ["include_usage": true], "logprobs": false,
                "top_logprobs": 0, "top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0,
                "length_penalty": 1.0,
                "use_beam_search": false, "min_tokens": 0, "ignore_eos": false, "stop_token_ids": [],
                "skip_special_tokens": true, "spaces_between_special_tokens": true, "bad_words": [],
                "include_stop_str_in_output": false, "add_generation_prompt": true,
                "add_special_tokens": false,
                "continue_final_message": false, "echo": false, "best_of": 1, "priority": 0,
                "chat_template_kwargs": ["enable_thinking": false], "guided_json": nil,
                "structured_outputs": nil,
                "prompt_logprobs": nil, "stop": [], "logit_bias": [:],
            ])
        #expect(chat.fault == nil && chat.request?.unsupported.isEmpty == true)
        #expect(try PromptRecord(fields: chat.fields).settings.topK == 0)
        let response = content(
            "/v1/responses",
            [
                "input": "x", "reasoning": ["effort": "none", "summary": nil],
                "text": ["verbosity": "medium"],
                "tool_choice": "none", "include": [], "top_logprobs": 0, "truncation": "disabled",
                "previous_response_id": nil, "store": true,
            ])
        #expect(response.fault == nil && response.request?.unsupported.isEmpty == true)
        let more = content(
            "/v1/responses",
            [
                "input": "x", "reasoning": ["effort": "high"], "text": ["verbosity": "low"],
                "include": ["reasoning.encrypted_content", "message.output_text.logprobs"],
                "truncation": "auto",
            ])
        #expect(more.fault == nil && more.request?.logprobs == 0)
        #expect(
            Set(more.request?.unsupported.map(\.name) ?? [])
                == ["text.verbosity", "include", "truncation"])
    }

    /// Wrong as it may be, a request keeps its name.
    @Test(
        arguments: [
            ["method": "GET", "url": "/v1/chat/completions", "body": [:]],
            ["method": "GET", "url": "/v1/models"],
            ["url": "/v1/embeddings", "body": ["input": "x"]], ["method": "POST", "url": "/x", "body": 7],
            ["url": "/v1/chat/completions"], ["method": 7, "body": ["messages": []]],
            ["url": "/v1/chat/completions", "method": "POST", "body": "x"],
        ] as [JSONValue])
    func aWrongRequestKeepsItsID(line: JSONValue) throws {
        guard case .object(var members) = line else { return }
        for (id, text) in [("a", "a"), (7, "7")] as [(JSONValue, String)] {
            members["custom_id"] = id
            let found = InputFormat.auto.content(of: .object(members))
            #expect(found.fault != nil && found.request != nil)
            #expect(try JobLine.id(of: found.fields) == text)
        }
    }

    /// Other servers have other versions, or say once for all what is asked.
    @Test func otherServersLinesAreRead() {
        let body: JSONValue = ["messages": question]
        for line in [
            ["url": "/chat/completions", "method": "POST"],
            ["url": "/v4/chat/completions", "method": "POST"],
            ["url": "https://host/v1/chat/completions", "method": "POST"], ["url": "/v1/chat/completions"],
            [:],
        ] as [JSONObject] {
            var line = line
            (line["custom_id"], line["body"]) = ("a", body)
            let found = InputFormat.auto.content(of: .object(line))
            #expect(found.fault == nil && found.request?.endpoint == .chat && found.fields["id"] == "a")
        }
        let prompt = InputFormat.auto.content(of: ["custom_id": "a", "body": ["prompt": "x"]])
        #expect(prompt.request?.endpoint == .completions && prompt.fields["max_tokens"] == 16)
    }

    @Test func theLineAroundIt() {
        #expect(OpenAIRequest.content(of: ["url": "/v1/responses", "body": [:]]).fault != nil)
        for native in [
            ["custom_id": "a", "body": "text", "prompt": "x"],
            ["custom_id": "a", "url": "https://x", "body": [:]],
            ["custom_id": nil, "method": "POST", "url": "/v1/chat/completions", "body": [:]],
        ] as [JSONValue] { #expect(!OpenAIRequest.isOne(native)) }
        let native: JSONValue = ["prompt": "x"]
        #expect(InputFormat.auto.content(of: native).fields == native)
        #expect(InputFormat.openAI.content(of: native).fault != nil)
    }

    // MARK: Answers

    private func completion(_ text: String, n: Int) -> GenerationResult {
        var request = OpenAIRequest()
        request.choices = n
        var result = GenerationResult.completion(
            text, finishReason: .length, promptTokens: 4, completionTokens: 2)
        result.kept = [
            OpenAIRequest.keptName: OpenAIRequest.kept(request, samples: n, in: nil), "topic": 1,
        ]
        return result
    }

    private func failure(n: Int) -> GenerationResult {
        .failure(
            LineError(.notFinite, "Damaged."), line: 3, text: "{\"a\"",
            kept: [OpenAIRequest.keptName: OpenAIRequest.kept(nil, samples: n, in: nil)])
    }

    private func key(_ sample: Int, of id: String = "a") -> ResultKey {
        ResultKey(id: id, sample: sample, contentHash: 0xab)
    }

    private func encoded(_ results: [GenerationResult]) throws -> [JSONValue] {
        var encoder = ResultEncoder(ResultFormat.openAI(model: "phi"), samples: 1)
        var bytes: [UInt8] = []
        for (sample, result) in results.enumerated() {
            let record = ResultRecord(key: key(sample), repetition: 0, run: "d", result: result)
            encoder.append(record, to: &bytes)
            #expect(bytes.isEmpty == (sample + 1 < results.count))
        }
        return try bytes.split(separator: 0x0a).map { try JSONValue(parsing: Array($0), limits: .line) }
    }

    @Test func allChoicesAreOneLine() throws {
        let lines = try encoded([completion("x", n: 2), completion("y", n: 2)])
        #expect(lines.count == 1 && lines[0]["custom_id"] == "a" && lines[0]["topic"] == 1)
        let body = lines[0]["response"]?["body"]
        guard case .array(let choices)? = body?["choices"] else { return #expect(Bool(false)) }
        #expect(choices.map { $0["message"]?["content"] } == ["x", "y"])
        #expect(choices.map { $0["index"] } == [0, 1] && choices[0]["finish_reason"] == "length")
        #expect(body?["usage"] == ["prompt_tokens": 4, "completion_tokens": 4, "total_tokens": 8])
        #expect(body?["model"] == "phi" && body?["system_fingerprint"] == "fp_d")
        let failed = try encoded([completion("x", n: 2), failure(n: 2)])
        #expect(failed[0]["response"]?["status_code"] == 500)
        let error = failed[0]["response"]?["body"]?["error"]
        #expect(error?["code"] == "logits_not_finite" && error?["text"] == "{\"a\"" && error?["line"] == 3)
    }

    /// If one of a line's results failed, the next run makes all of them anew: they are one piece of the output.
    @Test func aLineIsMadeAnewAsAWhole() throws {
        let folder = try TestFolder()
        func run(_ second: GenerationResult) throws -> [Bool] {
            let store = try openStore(folder, format: ResultFormat.openAI(model: "phi"))
            var isDone: [Bool] = []
            let results = [completion("x", n: 2), second, completion("z", n: 1)]
            let keys = [key(0), key(1), key(0, of: "b")]
            for (position, key) in keys.enumerated() {
                isDone.append(try store.claim(key, position: position) == .done(failed: false))
            }
            for (position, key) in keys.enumerated() where !isDone[position] {
                try store.append(results[position], key: key, position: position)
            }
            try store.finish(count: 3)
            return isDone
        }
        #expect(try run(failure(n: 2)) == [false, false, false])
        #expect(try folder.text("out.jsonl").contains("\"status_code\":500"))
        // The log has the other result of the line by itself.
        #expect(try run(completion("y", n: 2)) == [true, false, true])
        let text = try folder.text("out.jsonl")
        #expect(text.split(separator: "\n").count == 2 && text.contains("\"x\"") && text.contains("\"y\""))
        #expect(try run(completion("?", n: 2)) == [true, true, true])
        #expect(try folder.text("out.jsonl") == text)
        #expect(try FinishedOutput(folder.path("out.jsonl"))?.format().name == "openai")
        #expect(try folder.faults() == [])
    }
}
