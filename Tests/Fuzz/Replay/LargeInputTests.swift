import Testing

/// Inputs too large for the corpus. Each was slow, or took memory without bounds, when it was found.
@Suite struct LargeInputTests {
    private static let repeats = (1...30).map { _ in
        #"{"type":"Replace","pattern":{"String":"a"},"content":"aa"}"#
    }.joined(separator: ",")

    private static func tokenizer(_ key: String, _ value: String) -> String {
        #"{"model":{"type":"BPE","vocab":{"a":0,"aa":1},"merges":["a a"]},"\#(key)":\#(value)}"#
    }

    private static let inputs: [(target: String, text: String)] = [
        ("template", "{{ dict(" + (1...90_000).map { "a\($0)=1" }.joined(separator: ",") + ") }}"),
        ("tokenizer", tokenizer("normalizer", #"{"type":"Sequence","normalizers":[\#(repeats)]}"#)),
        ("tokenizer", tokenizer("decoder", #"{"type":"Sequence","decoders":[\#(repeats)]}"#)),
        (
            "tokenizer",
            tokenizer(
                "post_processor",
                #"{"type":"TemplateProcessing","single":[{"Sequence":{}}"#
                    + String(repeating: #",{"SpecialToken":{"id":"s"}}"#, count: 20_000)
                    + #"],"special_tokens":{"s":{"ids":["# + String(repeating: "0,", count: 200_000)
                    + "0]}}}")
        ),
        (
            "tokenizer",
            #"{"model":{"# + (1...100_000).map { "\"k\($0)\":0" }.joined(separator: ",") + "}}"
        ),
    ]

    @Test(arguments: inputs.indices) func isSoonDone(_ index: Int) throws {
        let (name, text) = Self.inputs[index]
        #expect(try findings(name, [("input \(index)", Array(text.utf8))]) == [])
    }
}
