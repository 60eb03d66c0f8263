import Foundation

/// A new folder, which goes with the last reference to it.
final class ScratchFolder {
    let path = FileManager.default.temporaryDirectory.path + "/phibatch-\(UUID().uuidString)"

    init() throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// The built command line program, run as users run it.
struct Program {
    struct Result {
        var status: Int32
        var output: String
        var errors: String
    }

    /// It lies beside the tests.
    static let path: String? = {
        var folders = [CommandLine.arguments[0], Bundle.main.bundlePath].map {
            ($0 as NSString).deletingLastPathComponent
        }
        folders.append(Bundle.main.bundlePath)
        return folders.map { $0 + "/phibatch" }.first {
            FileManager.default.isExecutableFile(atPath: $0)
        }
    }()

    /// The shared fixtures' folder, if there is one.
    static let sharedFixtures = ProcessInfo.processInfo.environment["PHIBATCH_SHARED"].map {
        $0 + "/fixtures"
    }

    /// Packed weights are not kept among the user's.
    static let environment = [
        "PHIBATCH_CACHE": FileManager.default.temporaryDirectory.path + "/phibatch-test-weights"
    ].merging(ProcessInfo.processInfo.environment) { $1 }

    /// - Parameter suffix: of another program's name, which lies beside it.
    static func run(
        _ arguments: [String], input: String = "", folder: String? = nil, suffix: String = ""
    ) throws -> Result {
        try RunningProgram(
            arguments, input: input, folder: folder ?? FileManager.default.currentDirectoryPath,
            program: (path ?? "phibatch") + suffix
        ).end()
    }
}
