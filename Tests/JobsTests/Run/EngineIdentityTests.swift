import Testing

@testable import BatchPipeline
@testable import Jobs

@Suite struct EngineIdentityTests {
    @Test func theEnginesIdentityIsInTheFingerprint() throws {
        let folder = try TestFolder()
        let header = Array(#"{"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}"#.utf8)
        try folder.write([UInt8(header.count), 0, 0, 0, 0, 0, 0, 0] + header + [0], to: "model.safetensors")
        var job = JobSettings()
        job.model = folder.path("")
        func fingerprint(_ engine: [(name: String, value: String)]) throws -> RunFingerprint {
            try RunFingerprint(job: job, engine: engine)
        }
        let first = try fingerprint([("arithmetic", "7"), ("kv", "int8")])
        #expect(
            first.parts.filter { $0.name.hasPrefix("engine.") }.map { "\($0.name): \($0.value)" } == [
                "engine.arithmetic: 7", "engine.kv: int8",
            ])
        #expect(
            try fingerprint([("arithmetic", "8"), ("kv", "int8")]).changes(from: first) == [
                "engine.arithmetic: 7 -> 8"
            ])
        #expect(
            try fingerprint([("arithmetic", "7"), ("kv", "f16")]).changes(from: first) == [
                "engine.kv: int8 -> f16"
            ])
    }
}
