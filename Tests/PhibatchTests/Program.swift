import Foundation

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

    /// Input and outputs are files, not pipes: a full pipe would hold up one side or the other.
    /// - Parameter suffix: of another program's name, which lies beside it.
    static func run(
        _ arguments: [String], input: String = "", folder: String? = nil, suffix: String = ""
    ) throws -> Result {
        let scratch = FileManager.default.temporaryDirectory.path + "/phibatch-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: scratch, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: scratch) }
        func file(_ name: String) -> URL { URL(filePath: "\(scratch)/\(name)") }
        try Data(input.utf8).write(to: file("in"))
        try Data().write(to: file("out"))
        try Data().write(to: file("errors"))

        let process = Process()
        process.executableURL = URL(filePath: (path ?? "phibatch") + suffix)
        process.arguments = arguments
        process.environment = environment
        if let folder { process.currentDirectoryURL = URL(filePath: folder) }
        process.standardInput = try FileHandle(forReadingFrom: file("in"))
        process.standardOutput = try FileHandle(forWritingTo: file("out"))
        process.standardError = try FileHandle(forWritingTo: file("errors"))
        let hasEnded = DispatchSemaphore(value: 0)
        process.terminationHandler = { _ in hasEnded.signal() }
        try process.run()
        if hasEnded.wait(timeout: .now() + .seconds(900)) == .timedOut { process.terminate() }
        process.waitUntilExit()
        return Result(
            status: process.terminationStatus,
            output: String(decoding: try Data(contentsOf: file("out")), as: UTF8.self),
            errors: String(decoding: try Data(contentsOf: file("errors")), as: UTF8.self))
    }
}
