import Foundation
import Testing

/// `phibatch doctor`: all that a bug report needs, and no secrets.
@Suite(.enabled(if: Program.path != nil, "the phibatch program is not beside the tests"))
struct DoctorCommandTests {
    private struct Answer: Decodable {
        var system: String
        var kernels: String
        var availableKernels: [String]
        var processors: Int
        var mlx: String?
        var mlxDevice: String?
        var libcurl: String?
        var threads: Int
        var memory: Int
        var availableMemory: Int
        var bytesPerSecond: Double?
        var cache: String?
        var cacheBytes: Int?
        var modelsFolder: String
        var variables: [String: String]
    }

    private func withFolder(_ body: (_ folder: String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.path + "/phibatch-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.createDirectory(
            atPath: folder + "/cache/weights", withIntermediateDirectories: true)
        try Data(repeating: 1, count: 1000).write(to: URL(filePath: folder + "/cache/weights/some"))
        try body(folder)
    }

    private func variables(_ folder: String) -> [String: String] {
        [
            "PHIBATCH_CACHE": folder + "/cache", "PHIBATCH_KERNELS": "reference", "HF_HOME": folder + "/hf",
            "HF_TOKEN": "hf_secret", "PHIBATCH_MLX": folder + "/no-mlx", "PHIBATCH_CURL": folder + "/no-curl",
        ]
    }

    @Test func says() throws {
        try withFolder { folder in
            let json = try RunningProgram(
                ["doctor", "--json"], environment: variables(folder), folder: folder
            ).end()
            #expect(json.status == 0, "\(json.errors)")
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            let answer = try decoder.decode(Answer.self, from: Data(json.output.utf8))
            #expect(answer.kernels == "reference" && answer.availableKernels.last == "reference")
            #expect(answer.mlx == nil && answer.mlxDevice == nil)
            #expect(answer.libcurl == nil)
            #expect(answer.threads >= 1 && answer.threads <= answer.processors)
            #expect(answer.memory > 0 && answer.availableMemory > 0)
            #expect(answer.cache == folder + "/cache" && answer.cacheBytes == 1000)
            #expect(answer.modelsFolder == folder + "/hf/hub")
            #expect(answer.bytesPerSecond.map { $0 > 0 } ?? true)

            let text = try RunningProgram(["doctor"], environment: variables(folder), folder: folder).end()
            #expect(text.status == 0, "\(text.errors)")
            for words in [
                "reference", answer.system, folder + "/cache", "with a token", "PHIBATCH_KERNELS=reference",
                "there is no such file, and PHIBATCH_MLX names it", "and PHIBATCH_CURL names it",
            ] {
                #expect(text.output.contains(words), "\(words) in:\n\(text.output)")
            }
            #expect(!(text.output + json.output).contains("hf_secret"))
        }
    }

    @Test func kernelsThatAreNotHere() throws {
        try withFolder { folder in
            let result = try RunningProgram(
                ["doctor"], environment: ["PHIBATCH_KERNELS": "none-such"], folder: folder
            ).end()
            #expect(result.status == 69 && result.errors.contains("none-such"), "\(result.errors)")
        }
    }
}
