import OperatingSystem
import Testing

@testable import Jobs

@Suite struct DistantInputTests {
    private func load(
        input: [String] = ["s3://b/*.jsonl", "own.jsonl"], output: String = "out.jsonl",
        awaitsInput: Bool = false,
        bring: DistantInput.Bring? = nil
    ) throws -> JobSettings {
        try JobSettings.load(
            file: nil, options: WrittenSetting.all(["model": ["m"], "input": input, "output": [output]]),
            awaitsInput: awaitsInput, bring: bring)
    }

    @Test func whatIsBroughtTakesTheAddressesPlace() throws {
        let job = try load { address, version in
            #expect(address == "s3://b/*.jsonl" && version == nil)
            return DistantInput(
                address: address, version: "v",
                files: ["/c/1.jsonl", "/c/2.jsonl"].map { DistantInput.File(path: $0, source: "s3:/\($0)") })
        }
        #expect(job.input == ["/c/1.jsonl", "/c/2.jsonl", "own.jsonl"])
        var again = job
        again.findInputs()
        #expect(again.input == job.input)
    }

    @Test func whatCanNotBeIsSaid() {
        #expect(throws: UserError.self) { try load() }
        #expect(throws: UserError.self) {
            try load(awaitsInput: true) { DistantInput(address: $0, version: $1 ?? "", files: []) }
        }
        for output in ["https://host/out.jsonl", "hf://datasets/org/set", "s3://bucket", "az://box"] {
            #expect(throws: UserError.self, "\(output)") {
                try load(input: ["own.jsonl"], output: output)
            }
        }
    }

    /// A log names what it was begun with; that of a job without such an input is as it was.
    @Test func logsNameVersions() throws {
        var header = LogHeader(fingerprint: RunFingerprint([("model", "m")]))
        #expect(!String(decoding: header.line, as: UTF8.self).contains("sources"))
        header.pins = [DistantInput(address: "https://u:p@h/a?sig=1", version: "v", files: []).pin]
        let read = try #require(header.line.withUnsafeBytes { LogHeader($0) })
        #expect(read.pins == header.pins && read.pins[0].address == "https://h/a?sig=...")
    }
}
