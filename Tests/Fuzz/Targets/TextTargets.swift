import Foundation
import JSON

@testable import BatchPipeline
@testable import Jobs
@testable import PhiModel
@testable import PhiText

/// Long runs, halves of characters put together late, marks, emoji, white space of all kinds.
let hostileText =
    String(repeating: "a", count: 600) + String(repeating: "\u{301}", count: 100)
    + String(repeating: " \n\t", count: 60) + "<|end|><s>\u{0}\u{FFFD}\u{1F468}\u{200D}\u{1F469}é e\u{301}"
    + String(repeating: "ab", count: 200) + "1234567890 don't I'LL \u{2028}\u{3042}\u{AC00}"

/// A tokenizer.json, and a text to be encoded with it.
@Sendable func readTokenizer(_ input: [UInt8], _ scratch: ScratchFolder) throws {
    let parts = parts(input, 2)
    let file = try scratch.put(parts[0], "tokenizer.json", keepingEmpty: true)
    let tokenizer = try Tokenizer(path: file)
    try use(tokenizer, on: hostileText)
    try use(tokenizer, on: String(decoding: parts[1], as: UTF8.self))
}

func use(_ tokenizer: Tokenizer, on text: String) throws {
    for (special, asText) in [(false, false), (true, false), (false, true)] {
        let ids = tokenizer.encode(text, addSpecialTokens: special, specialTokensAsText: asText)
        try promise(
            ids.allSatisfy { $0 >= 0 && Int($0) < tokenizer.vocabularySize }, "a token that is none")
        let whole = tokenizer.decode(ids, skipSpecialTokens: true)
        var stream = tokenizer.makeTextStream()
        let streamed = ids.map { stream.append($0) }.joined() + stream.finish()
        try promise(streamed.utf8.elementsEqual(whole.utf8), "a stream gives another text")
    }
    for id in Int32(-1)...Int32(min(tokenizer.vocabularySize, 400)) {
        _ = (tokenizer.bytes(of: id), tokenizer.text(of: id))
    }
}

/// A chat template, and the messages (a JSON list) that it is filled with. It also serves as a job's own.
@Sendable func readTemplate(_ input: [UInt8], _ scratch: ScratchFolder) throws {
    let parts = parts(input, 2)
    guard let source = String(validating: parts[0], as: UTF8.self) else { return }
    var messages = hostileMessages
    if case .array(let given)? = try? JSONValue(parsing: parts[1], limits: .line) {
        messages = given
    }
    // The limits count work. With a fiftieth of it an input may take no more than a fiftieth of the time.
    var limits = TemplateLimits()
    limits.steps /= 50
    limits.textBytes /= 50
    do {
        let template = try ChatTemplate(
            source: source, specialTokens: ["bos_token": "<s>", "eos_token": "<|end|>"], path: nil,
            name: "template", limits: limits)
        for prompt in [true, false] {
            do {
                let text = try template.render(messages: messages, addGenerationPrompt: prompt)
                try promise(text.utf8.count <= limits.textBytes, "a text beyond its limit")
            } catch is UserError {}
        }
    } catch is UserError {}
    let template = try TextTemplate(source, name: "prompt", limits: limits)
    _ = try template.render(["messages": .array(messages), "prompt": "e\u{301} ", "x": 3])
}

private let hostileMessages: [JSONValue] = [
    ["role": "system", "content": "Be  brief.\r\n"], ["role": "user", "content": "e\u{301}a \u{1F600}"],
    ["role": "assistant", "content": "x", "calls": ["a", 1, nil, ["b": 2.5]]],
]
