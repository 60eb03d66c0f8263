import Foundation
import OperatingSystem
import Testing

@testable import phibatch

/// `phibatch doctor`: all that a bug report needs, and no secrets.
@Suite(.enabled(if: Program.path != nil, "the phibatch program is not beside the tests"))
struct DoctorCommandTests {
    @Test func says() throws {
        let scratch = try ScratchFolder()
        let folder = scratch.path
        try FileManager.default.createDirectory(
            atPath: folder + "/cache/weights", withIntermediateDirectories: true)
        try Data(repeating: 1, count: 1000).write(to: URL(filePath: folder + "/cache/weights/some"))
        let variables = [
            "PHIBATCH_CACHE": folder + "/cache", "PHIBATCH_KERNELS": "reference", "HF_HOME": folder + "/hf",
            "HF_TOKEN": "hf_secret", "PHIBATCH_MLX": folder + "/no-mlx", "PHIBATCH_CURL": folder + "/no-curl",
        ]
        let text = try RunningProgram(["doctor"], environment: variables, folder: folder).end()
        #expect(text.status == 0, "\(text.errors)")
        for words in [
            "kernels    reference, of ", "mlx        none: ", "libcurl    none: ", "threads    ",
            "cache      \(folder)/cache: 0.0 MB in 1 files", "models     \(folder)/hf/hub",
            "with a token", "PHIBATCH_KERNELS=reference",
            "there is no such file, and PHIBATCH_MLX names it", "and PHIBATCH_CURL names it",
        ] {
            #expect(text.output.contains(words), "\(words) in:\n\(text.output)")
        }
        #expect(!text.output.contains("hf_secret"))
    }

    @Test func onlyWhatLimitsIsSaid() {
        let machine = AvailableMemory(bytes: 16, reason: "machine")
        let free = AvailableMemory(bytes: 9, reason: "free")
        let endless = AvailableMemory(bytes: .max >> 1, reason: "group")
        #expect(DoctorReport.limiting([machine, free, endless], physical: 16) == ["free"])
        #expect(DoctorReport.limiting([machine, endless], physical: 16) == ["machine"])
    }
}
