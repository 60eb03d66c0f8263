import Foundation
import Testing

@testable import PhiModel

/// All kernel variants on the same inputs, on this machine and, under emulation, on arm: one digest.
/// What is compiled is `Tests/KernelParity/parity.c` with the kernels' own sources.
@Suite(.enabled(if: Tool.path("clang") != nil, "there is no clang to compile the parity program"))
struct KernelParityTests {
    private static let top = TestFolder.package.path
    private static let armLinker = Tool.path("aarch64-linux-gnu-ld")
    private static let armHeaders = "/usr/aarch64-linux-gnu/include"
    private static let emulator = Tool.path("qemu-aarch64-static")
    private static var canEmulate: Bool {
        armLinker != nil && emulator != nil && FileManager.default.fileExists(atPath: armHeaders)
    }
    /// Compiled and run once for both tests.
    private static let native = Result { try digests(compiler: []) }

    private static var armCompiler: [String] {
        get throws {
            [
                "--target=aarch64-linux-gnu", "-fuse-ld=\(try #require(armLinker))", "--gcc-toolchain=/usr",
                "--sysroot=/", "-I\(armHeaders)", "-static",
            ]
        }
    }

    private static var sources: [String] {
        get throws {
            let kernels = top + "/Sources/CPhiKernels"
            let files = try FileManager.default.subpathsOfDirectory(atPath: kernels).filter {
                $0.hasSuffix(".c")
            }
            return files.sorted().map { kernels + "/" + $0 } + [top + "/Tests/KernelParity/parity.c"]
        }
    }

    /// Compiles and runs the parity program.
    /// - Returns: each variant's digest.
    private static func digests(
        compiler: [String], sources: [String]? = nil, emulator: [String] = []
    ) throws -> [String: String] {
        try withTemporaryFolder { folder in
            let program = folder.appendingPathComponent("parity").path
            let flags = ["-O2", "-Wno-psabi", "-I\(top)/Sources/CPhiKernels/include"]
            let compiled = try Tool.run(
                ["clang"] + compiler + flags + (sources ?? Self.sources) + ["-lm", "-o", program])
            try #require(compiled.status == 0, "\(compiled.output)")
            let run = try Tool.run(emulator + [program])
            #expect(run.status == 0, "two variants differ:\n\(run.output)")
            var digests: [String: String] = [:]
            for line in run.output.split(separator: "\n") {
                let words = line.split(separator: " ")
                try #require(words.count == 2, "\(line)")
                digests[String(words[0])] = String(words[1])
            }
            return digests
        }
    }

    @Test func allVariantsOfThisMachineAgree() throws {
        let digests = try Self.native.get()
        #expect(digests["reference"] != nil)
        #expect(Set(digests.values).count == 1, "\(digests)")
    }

    private static let names = Set(Kernels.available.map(\.name))
    /// Elsewhere there is nothing to simulate, or the real ones have run.
    private static let lacksTiles = names.contains("avx512") && !names.contains("amx")
    private static let lacksVNNI = names.contains("avx2") && !names.contains("avxvnni")

    @Test(
        .enabled(if: lacksTiles, "needs a processor with AVX-512 and without AMX, whose tiles are simulated"))
    func amxAgreesWithTilesInC() throws {
        try expect("amx", with: "tiles.c")
    }

    @Test(.enabled(if: lacksVNNI, "needs a processor with AVX2 and without AVX-VNNI, which is simulated"))
    func avxVNNIAgreesWithProductsInC() throws {
        try expect("avxvnni", with: "vnni.c")
    }

    /// A variant whose source simulates what this processor lacks.
    private func expect(_ name: String, with simulation: String) throws {
        let sources = try Self.sources.map {
            $0.hasSuffix("/x86/\(name).c") ? "\(Self.top)/Tests/KernelParity/\(simulation)" : $0
        }
        let digests = try Self.digests(compiler: [], sources: sources)
        #expect(digests[name] == (try Self.native.get()["reference"]), "\(digests)")
    }

    @Test(
        .enabled(
            if: canEmulate,
            "needs Linux with qemu-aarch64-static, aarch64-linux-gnu-ld and the C library for it"))
    func armAgreesWithEveryMachine() throws {
        let emulator = try #require(Self.emulator)
        let compiler = try Self.armCompiler
        let digests = try Self.digests(compiler: compiler, emulator: [emulator, "-cpu", "max"])
        #expect(Set(digests.keys) == ["reference", "dotprod", "i8mm"])
        #expect(Set(digests.values) == Set(try Self.native.get().values), "\(digests)")
    }

    private static let hashSources =
        ["hash.c", "reference/sha.c", "x86/sha.c", "arm/sha.c"].map { top + "/Sources/CPhiKernels/" + $0 }
        + [top + "/Tests/KernelParity/hashes.c"]

    @Test func hashesOfAllVariantsAgree() throws {
        let digests = try Self.digests(compiler: [], sources: Self.hashSources)
        let sha256 = digests.filter { $0.key != "sha1" }
        #expect(digests["sha1"] != nil && sha256["reference"] != nil)
        #expect(Set(sha256.values).count == 1, "\(digests)")
    }

    @Test(.enabled(if: canEmulate, "needs what armAgreesWithEveryMachine needs"))
    func hashesOnArmAgree() throws {
        let native = try Self.digests(compiler: [], sources: Self.hashSources)
        let emulator = try #require(Self.emulator)
        let compiler = try Self.armCompiler
        let digests = try Self.digests(
            compiler: compiler, sources: Self.hashSources, emulator: [emulator, "-cpu", "max"])
        #expect(Set(digests.keys) == ["sha2", "reference", "sha1"])
        for name in digests.keys {
            #expect(digests[name] == native[name == "sha2" ? "reference" : name], "\(name): \(digests)")
        }
    }
}
