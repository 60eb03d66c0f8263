import JSON
import OperatingSystem
import Testing

@testable import BatchPipeline
@testable import Jobs

/// What makes a line the same again.
@Suite struct JobLineTests {
    private func identity(
        _ line: String, earlier: [LineScheme] = [], _ change: (inout JobSettings) -> Void = { _ in }
    ) throws -> JobLine {
        try #require(try JobLine.all(line + "\n", earlier: earlier, change).first)
    }

    private func isSame(
        _ a: String, _ b: String, _ change: (inout JobSettings) -> Void = { _ in }
    ) throws -> Bool {
        try identity(a, change).contentHash == identity(b, change).contentHash
    }

    private static let result = """
        {"id":"a","topic":"rain","text":"Yes.","finish_reason":"stop","usage":{"prompt_tokens":4,"completion_tokens":2},\
        "timing":{"queued":0.1}}
        """
    /// The same answer, made again.
    private static let rerun = """
        {"id":"a","topic":"rain","text":"Yes.","finish_reason":"length","usage":{"prompt_tokens":5,"completion_tokens":2},\
        "timing":{"queued":0.2}}
        """

    /// A second step uses of a result what its templates name.
    @Test(arguments: [KeptFields.none, .all, .fields([.init("topic"), .init("text", as: "answer")])])
    func aResultIsTheSameAsLongAsItSaysTheSame(keep: KeptFields) throws {
        let judge = { (job: inout JobSettings) in
            job.prompt = "Is this true? {{ text }}"
            job.keep = keep
        }
        #expect(try isSame(Self.result, Self.rerun, judge))
        #expect(try !isSame(Self.result, Self.rerun.replacing("Yes.", with: "No."), judge))
        let other = Self.rerun.replacing("rain", with: "snow")
        #expect(try isSame(Self.result, other, judge) == (keep == .none))
    }

    @Test func whatAJobUsesCounts() throws {
        let line = #"{"id":"a","prompt":"p","x":1,"max_tokens":3,"note":"n"}"#
        for (other, isSame) in [
            (#"{"note":"m", "max_tokens":3,"x":1,"prompt":"p","id":"a"}"#, true),
            (#"{"id":"a","prompt":"p","x":2,"max_tokens":3}"#, true),
            (#"{"id":"a","prompt":"q","x":1,"max_tokens":3}"#, false),
            (#"{"id":"a","prompt":"p","x":1,"max_tokens":4}"#, false),
            (#"{"id":"a","prompt":"p","x":1}"#, false),
            (#"{"id":"a","prompt":"p","x":1,"max_tokens":3,"seed":1}"#, false),
            (#"{"id":"a","prompt":"p","x":1,"max_tokens":3,"messages":[]}"#, false),
            (#"{"id":"a","prompt":"p","x":1,"max_tokens":3,"min_tokens":2}"#, false),
            (#"{"id":"a","prompt":"p","x":1,"max_tokens":3,"min_tokens":0}"#, false),
            (#"{"id":"a","prompt":[1],"max_tokens":3}"#, false),
            (#"{"id":"a","prompt":"p","max_tokens":3,"schema":"sql"}"#, true),
            (#"{"id":"a","prompt":"p","max_tokens":3,"schema":{"type":"object"}}"#, false),
        ] {
            #expect(try self.isSame(line, other) == isSame, "\(other)")
        }
        // A name that the template assigns may be read before.
        let template = { (job: inout JobSettings) in job.prompt = "{% set x = x or 0 %}{{ x }}" }
        #expect(try isSame(#"{"x":1,"prompt":"p"}"#, #"{"x":1,"prompt":"q"}"#, template))
        #expect(try !isSame(#"{"x":1}"#, #"{"x":2}"#, template))
        // Digit by digit, and no two values run together.
        #expect(try !isSame(#"{"x":18446744073709551615}"#, #"{"x":18446744073709551616}"#, template))
        #expect(try !isSame(#"{"x":["a","b"]}"#, #"{"x":["ab"]}"#, template))
        #expect(try !isSame(#"{"x":null}"#, "{}", template))
        // Token ids are the prompt even where the template asks for another field.
        #expect(try !isSame(#"{"x":1,"prompt":[5]}"#, #"{"x":1,"prompt":[6]}"#, template))
    }

    /// Ids of answers come from it.
    @Test func requestsThatAskTheSameAreTwo() throws {
        func request(_ id: String, _ more: String = "") -> String {
            "{\"custom_id\":\"\(id)\",\"method\":\"POST\",\"url\":\"/v1/chat/completions\",\"body\":{"
                + "\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]\(more)}}"
        }
        #expect(try isSame(request("a"), request("a", ",\"user\":\"u\"")))
        #expect(try !isSame(request("a"), request("b")))
        #expect(
            try identity(request("a").replacing("\"a\"", with: "18446744073709551615")).id
                == "18446744073709551615")
        for more in [",\"echo\":true", ",\"n\":2", ",\"logprobs\":true", ",\"temperature\":0.5"] {
            #expect(try !isSame(request("a"), request("a", more)))
        }
    }

    /// Other templates may have named other fields.
    @Test func earlierRunsKnowLinesByTheirOwnFields() throws {
        let line = #"{"id": "q0", "prompt": "Say 0.", "x": 1}"#
        let identity = try identity(line, earlier: [LineScheme(fields: ["x"])])
        let earlier = try #require(identity.hashes.last)
        #expect(try earlier == self.identity(line) { $0.prompt = "{{ x }}" }.contentHash)
        #expect(identity.hashes.count == 2 && earlier != identity.contentHash)
        func key(_ filed: [UInt64]) -> UInt64 { identity.key(0) { _ in filed }.contentHash }
        #expect(key([earlier]) == earlier)
        #expect(key([5]) == identity.contentHash && key([]) == identity.contentHash)
        #expect(key([earlier, identity.contentHash]) == identity.contentHash)
        // A result that was made again is filed so many further on.
        #expect(key([earlier + 7]) == earlier + 7)
        let redone = ResultKey(id: identity.id, contentHash: identity.contentHash &+ 2)
        #expect(key([redone.contentHash]) == redone.contentHash)
        #expect(identity.redo(of: redone) == 2 && identity.redo(of: redone.again) == 3)
        // What can't be read has nothing else.
        #expect(try self.identity("oops").contentHash == SHA.short(of: "oops".utf8))
    }

    /// The hash is the same on any machine.
    @Test func theHashIsFixed() throws {
        #expect(try identity(#"{"id":"a","prompt":"é","seed":3}"#).contentHash == 0xa72c_0f85_d8fb_d5b5)
    }

    @Test func schemesAreReadAsTheyAreWritten() throws {
        let schemes: [LineScheme] = [
            try LineScheme(.test(input: []) { $0.keep = .all }),
            try LineScheme(.test(input: []) { $0.keep = .fields([.init("b"), .init("a", as: "c")]) }),
        ]
        #expect(schemes[1].fields == ["a", "b", "prompt"] && schemes[1].allBut == nil)
        let header = LogHeader(fingerprint: testFingerprint, lines: schemes)
        #expect(header.line.withUnsafeBytes { LogHeader($0) } == header)
        #expect(LineScheme("x") == nil && LineScheme(["fields": 5]) == nil)
    }
}
