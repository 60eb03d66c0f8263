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
        return folders.map { $0 + "/phibatch" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }()

    static func run(_ arguments: [String], input: String = "", folder: String? = nil) throws -> Result {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path ?? "phibatch")
        process.arguments = arguments
        if let folder { process.currentDirectoryURL = URL(fileURLWithPath: folder) }
        let (stdin, stdout) = (Pipe(), Pipe())
        let errors = FileManager.default.temporaryDirectory.path + "/phibatch-\(UUID().uuidString)"
        _ = FileManager.default.createFile(atPath: errors, contents: nil)
        defer { try? FileManager.default.removeItem(atPath: errors) }
        process.standardInput = stdin
        process.standardOutput = stdout
        process.standardError = FileHandle(forWritingAtPath: errors)
        try process.run()
        try? stdin.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try? stdin.fileHandleForWriting.close()
        let output = try stdout.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return Result(
            status: process.terminationStatus, output: String(decoding: output, as: UTF8.self),
            errors: String(decoding: try Data(contentsOf: URL(fileURLWithPath: errors)), as: UTF8.self))
    }
}
