import FoundationShim
import OperatingSystem
import Testing

/// Programs that run beside this one.
@Suite struct ChildProgramTests {
    private func shell(_ script: String, input: Int32 = 0) throws -> ChildProgram {
        try ChildProgram("/bin/sh", ["-c", script], input: input)
    }

    private func all(of child: ChildProgram) throws -> String {
        var (all, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 7))
        while case let count = try buffer.withUnsafeMutableBytes({ try child.read(into: $0) }), count > 0 {
            all += buffer[..<count]
        }
        return String(decoding: all, as: UTF8.self)
    }

    @Test func whatItWritesIsReadAndItsEndKnown() throws {
        let nothing = open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer { close(nothing) }
        let child = try shell("cat; echo one; echo two words; exit 3", input: nothing)
        #expect(try all(of: child) == "one\ntwo words\n")
        #expect(child.wait() == .exit(3) && child.wait() == .exit(3))
        let killed = try shell("echo one; kill -9 $$", input: nothing)
        #expect(try all(of: killed) == "one\n")
        #expect(killed.wait() == .signal(SIGKILL))
        #expect(throws: SystemError.self) { try ChildProgram("/nowhere/program", [], input: nothing) }
    }

    /// More than fits a pipe, and nobody reads it.
    @Test func whatItSaysOfErrorsDoesNotHoldItUp() throws {
        let child = try shell("echo why >&2; head -c 1000000 /dev/zero >&2 2>/dev/null; echo done")
        #expect(try all(of: child) == "done\n")
        #expect(child.wait() == .exit(0) && child.said().hasPrefix("why\n"))
    }

    /// One that would write for ever ends with the interest in it; an interrupt of ours doesn't reach it.
    @Test func oneThatIsLetGoOfEnds() throws {
        var child: ChildProgram? = try shell("echo $$; yes")
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = try buffer.withUnsafeMutableBytes { try child?.read(into: $0) } ?? 0
        let process = try #require(
            String(decoding: buffer[..<count], as: UTF8.self).split(separator: "\n").first.flatMap {
                Int32($0)
            })
        #expect(getpgid(process) == process && getpgid(process) != getpgid(0))
        child = nil
        #expect(kill(process, 0) == -1 && errno == ESRCH)
    }

    /// Neither a loader's nor an interpreter's variables reach it, nor a place that depends on the working directory.
    @Test(.serialized, arguments: [":/bin", "/bin:", "/usr/bin::/bin", ".:/bin", "bin:/bin:./x", "", ":"])
    func itsEnvironmentIsClean(path: String) throws {
        let before = getenv("PATH").map { String(cPath: $0) }
        setenv("PATH", path, 1)
        for name in ["LD_PHIBATCH_TEST", "PYTHONPHIBATCH", "DUCKDB_X", "ASKED_FOR", "OTHER", "KEY", "KEYS"] {
            setenv(name, "x", 1)
        }
        defer { setenv("PATH", before ?? "", 1) }
        let nothing = open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer { close(nothing) }
        let child = try ChildProgram(
            "/usr/bin/env", [], input: nothing, environment: ["ASKED_", "KEY"])
        let lines = try Set(all(of: child).split(separator: "\n").map(String.init))
        #expect(lines.isSuperset(of: ["ASKED_FOR=x", "KEY=x"]))
        let names = ["LD_", "PYTHON", "DUCKDB", "OTHER", "KEYS"]
        #expect(!lines.contains { line in names.contains { line.hasPrefix($0) } }, "\(lines)")
        let entries = lines.first { $0.hasPrefix("PATH=") }?.dropFirst(5)
            .split(separator: ":", omittingEmptySubsequences: false)
        #expect(entries?.allSatisfy { $0.hasPrefix("/") } == true, "\(lines)")
        #expect(ChildProgram.find("sh")?.hasPrefix("/") == true && ChildProgram.find("no-such") == nil)
    }
}
