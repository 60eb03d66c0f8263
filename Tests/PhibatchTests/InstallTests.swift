import Foundation
import Testing

/// What `make install` takes along.
@Suite struct InstallTests {
    private static let top = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path

    @Test func ofMLXWhatRunsAndNotItsHeaders() throws {
        let folder = FileManager.default.temporaryDirectory.path + "/phibatch-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        func stage(_ files: [String]) throws -> [String] {
            try? FileManager.default.removeItem(atPath: folder)
            for file in files {
                let path = folder + "/built/" + file
                try FileManager.default.createDirectory(
                    atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
                try Data("x".utf8).write(to: URL(filePath: path))
            }
            let made = try RunningProgram(
                ["make", "-s", "stage-mlx", "MLX_BUILT=\(folder)/built", "STAGE=\(folder)/stage"],
                folder: Self.top, program: "/usr/bin/env"
            ).end()
            #expect(made.status == 0, "\(made.errors)")
            let place = folder + "/stage/lib/phibatch-mlx"
            guard FileManager.default.fileExists(atPath: place) else { return [] }
            return try FileManager.default.subpathsOfDirectory(atPath: place).sorted()
        }
        let lasting = [
            "libphibatch-mlx.so", "mlx", "mlx-0.dist-info", "mlx-0.dist-info/LICENSE", "mlx/lib",
            "mlx/lib/libmlx.so",
        ]
        let files = ["libphibatch-mlx.so", "mlx-0.dist-info/LICENSE", "mlx/lib/libmlx.so"]
        let headers = [
            "mlx/include/mlx/mlx.h", "mlx/include/metal_cpp/Metal.hpp", "mlx/share/cmake/MLX.cmake",
        ]
        #expect(try stage(files + headers) == lasting)
        #expect(try stage(files) == lasting)
        #expect(try stage([]).isEmpty)
        // Kernels are compiled with these where they run.
        #expect(try stage(files + headers + ["mlx/include/cccl/cuda"]).contains("mlx/include/cccl/cuda"))
    }
}
