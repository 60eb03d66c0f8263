import Foundation
import TestSupport
import Testing

@testable import Jobs

/// A job on the embedded model in a folder of its own, run by the real program.
struct DemoJob {
    private static let top = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path

    /// The embedded model, where `make demo` or `make test` has put it.
    static let model: String? = {
        let path = ProcessInfo.processInfo.environment["PHIBATCH_DEMO_MODEL"] ?? top + "/models/smollm2-demo"
        return FileManager.default.fileExists(atPath: path + "/model.safetensors") ? path : nil
    }()
    static var canRun: Bool { model != nil && Program.path != nil }

    /// The lines of samples/prompts.jsonl, by id where they have one.
    static func samples() throws -> [String] {
        try String(contentsOfFile: top + "/samples/prompts.jsonl", encoding: .utf8)
            .split(separator: "\n").map(String.init)
    }

    private let place: ScratchFolder
    var folder: String { place.path }
    var model = DemoJob.model ?? ""
    var settings: [String]

    init(_ lines: [String], _ settings: [String]) throws {
        try self.init(Data(lines.map { $0 + "\n" }.joined().utf8), settings)
    }

    init(_ input: Data, _ settings: [String]) throws {
        (self.settings, place) = (settings, try ScratchFolder())
        try input.write(to: URL(filePath: folder + "/in.jsonl"))
    }

    func arguments(_ more: [String] = []) -> [String] {
        ["--model", model, "--input", "in.jsonl", "--output", "out.jsonl"] + settings + more
    }

    func run(_ more: [String] = [], environment: [String: String] = [:]) throws -> Program.Result {
        try start(more, environment: environment).end()
    }

    func start(_ more: [String] = [], environment: [String: String] = [:]) throws -> RunningProgram {
        try RunningProgram(["run"] + arguments(more), environment: environment, folder: folder)
    }

    /// Runs a shell script in which `"$@"` is the program with the job's arguments.
    func shell(_ script: String, _ more: [String] = []) throws -> Program.Result {
        let process = try RunningProgram(
            ["-c", script, "sh", Program.path ?? "", "run"] + arguments(more), folder: folder,
            program: "/bin/sh")
        return try process.end()
    }

    /// The output's lines without their `timing`; nil if there is no output.
    var results: [String]? { results(in: "out.jsonl") }

    func results(in file: String) -> [String]? {
        guard let data = FileManager.default.contents(atPath: folder + "/" + file) else { return nil }
        return String(decoding: data, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: true)
            .map { String($0).replacing(/,"timing":\{[^{}]*\}/, with: "") }
    }

    /// But for the logs that lie beside finished outputs.
    var files: [String] {
        get throws {
            try FileManager.default.subpathsOfDirectory(atPath: folder).filter { name in
                guard name.hasSuffix(".log") else { return true }
                return (try? OutputLog(RunFile(folder + "/" + name)))?.isOpen == true
            }.sorted()
        }
    }

    /// The log of a run that has not come to its end; empty if there is none.
    var log: String { (try? String(contentsOfFile: folder + "/out.jsonl.log", encoding: .utf8)) ?? "" }
    /// Whether tokens of completions under way are saved.
    var hasSavedTokens: Bool { log.contains("\"from\":") }
}

/// The program while it runs.
final class RunningProgram {
    private let process = Process()
    private let hasEnded = DispatchSemaphore(value: 0)
    private let output: String
    private let errors: String

    /// Input and outputs are files, not pipes: a full pipe would hold up one side or the other.
    init(
        _ arguments: [String], environment: [String: String] = [:], input: String = "", folder: String,
        program: String? = Program.path
    ) throws {
        let base = FileManager.default.temporaryDirectory.path + "/phibatch-\(UUID().uuidString)"
        (output, errors) = (base + ".out", base + ".err")
        for path in [output, errors] { _ = FileManager.default.createFile(atPath: path, contents: nil) }
        process.executableURL = URL(filePath: program ?? "phibatch")
        process.arguments = arguments
        process.currentDirectoryURL = URL(filePath: folder)
        process.environment = Program.environment.merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        if !input.isEmpty {
            let path = base + ".in"
            try Data(input.utf8).write(to: URL(filePath: path))
            process.standardInput = FileHandle(forReadingAtPath: path)
            // It stays open.
            try FileManager.default.removeItem(atPath: path)
        }
        process.standardOutput = FileHandle(forWritingAtPath: output)
        process.standardError = FileHandle(forWritingAtPath: errors)
        process.terminationHandler = { [hasEnded] _ in hasEnded.signal() }
        try process.run()
    }

    var id: Int32 { process.processIdentifier }
    var errorsSoFar: String { read(errors) }
    var outputSoFar: String { read(output) }
    var isRunning: Bool { process.isRunning }

    /// The most memory it had so far, in bytes; nil if it has ended, or the system doesn't say. (What
    /// `getrusage` says of a child begins with its parent's.)
    var peakMemory: Int? {
        let status = try? String(contentsOfFile: "/proc/\(id)/status", encoding: .utf8)
        return status?.firstMatch(of: /VmHWM:\s+(\d+) kB/).flatMap { Int($0.1) }.map { $0 * 1024 }
    }

    /// Seconds of processor time that it has used so far; nil if it has ended, or the system doesn't say.
    var processorSeconds: Double? {
        // The fields after the name, which is in parentheses; user and system time are the 14th and 15th of all.
        let status = try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8)
        guard let fields = status?.split(separator: ")").last?.split(separator: " "), fields.count > 12,
            let user = Double(fields[11]), let system = Double(fields[12])
        else { return nil }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    func send(_ signal: Int32) { kill(process.processIdentifier, signal) }

    /// Waits while it runs until something is so: at most as long as a very busy machine takes.
    func wait(for what: String, until isSo: () -> Bool) throws {
        let deadline = ContinuousClock.now + .seconds(longestWait)
        while !isSo() {
            try #require(isRunning, "ended before \(what): \(errorsSoFar)")
            try #require(ContinuousClock.now < deadline, "no \(what): \(errorsSoFar)")
            // A look is not free: it takes time from what is waited for.
            _ = hasEnded.wait(timeout: .now() + .milliseconds(2))
        }
    }

    /// Looks at something every few milliseconds until it ends: at most as long as a very busy machine takes.
    func look(_ look: () -> Void) throws {
        let deadline = ContinuousClock.now + .seconds(longestWait)
        while isRunning {
            try #require(ContinuousClock.now < deadline, "still running: \(errorsSoFar)")
            look()
            if hasEnded.wait(timeout: .now() + .milliseconds(2)) == .success { hasEnded.signal() }
        }
    }

    /// Waits for its end, and ends it if that doesn't come.
    func end(within seconds: Int = 900) throws -> Program.Result {
        if isRunning, hasEnded.wait(timeout: .now() + .seconds(seconds)) == .timedOut {
            let said = errorsSoFar
            send(SIGKILL)
            Issue.record("still running after \(seconds) seconds: \(said)")
        }
        process.waitUntilExit()
        defer { for path in [output, errors] { try? FileManager.default.removeItem(atPath: path) } }
        return Program.Result(status: process.terminationStatus, output: read(output), errors: read(errors))
    }

    private func read(_ path: String) -> String {
        String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
    }
}
