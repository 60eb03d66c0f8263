import Foundation
import Testing

/// Signals, locks and `status` while a real job is running.
@Suite(
    .tags(.slow), .serialized,
    .enabled(if: DemoJob.canRun, "the demo model is not there; make test fetches it"))
struct InterruptTests {
    private static let lines = (0..<6).map { "{\"id\":\"n\($0)\",\"prompt\":\"Count up from \($0).\"}" }

    private func job(tokens: Int = 64) throws -> DemoJob {
        try DemoJob(
            Self.lines,
            [
                "--max-tokens", "\(tokens)", "--ignore-eos", "--workers", "3",
                "--checkpoint-interval", "0.05", "--speculate", "off",
            ])
    }

    /// Starts the job and waits until tokens of it are saved.
    private func startAndWait(_ job: DemoJob) throws -> RunningProgram {
        let program = try job.start()
        try program.wait(for: "saved tokens") {
            job.hasSavedTokens
        }
        return program
    }

    private struct Status: Decodable {
        var state: String
        var pid: Int32?
        var total: Int?
        var done: Int
        var failed: Int
        var left: Int?
        var inFlight: Int
        var inFlightTokens: Int
        var completionTokens: Int
        var tokensPerSecond: Double?
        var secondsLeft: Double?
        var output: String
    }

    private func status(_ job: DemoJob) throws -> Status {
        let result = try RunningProgram(["status", "--json"] + job.arguments(), folder: job.folder).end()
        let codes = ["waiting": 10, "running": 11, "stopped": 12, "complete": 0]
        #expect(result.errors.isEmpty, "\(result.errors)")
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let status = try decoder.decode(Status.self, from: Data(result.output.utf8))
        #expect(codes[status.state].map(Int32.init) == result.status)
        return status
    }

    @Test func signalsStopTheRunAndItGoesOn() throws {
        // Under nohup the program would inherit that SIGHUP is ignored, and stay with that.
        signal(SIGHUP, SIG_DFL)
        let undisturbed = try job()
        #expect(try undisturbed.run().status == 0)
        let expected = try #require(undisturbed.results)
        for (signal, code) in [(SIGTERM, 143), (SIGINT, 130), (SIGHUP, Int32(129))] {
            let job = try job()
            let program = try startAndWait(job)
            program.send(signal)
            // Two seconds are promised, on a machine that has time for it; torture.py measures them.
            let result = try program.end(within: 60)
            #expect(result.status == code, "\(result.errors)")
            // On a machine that has no time for it, a short step may be a long one; the lock's file stays then.
            let isCutOff = result.errors.contains("leaving in the middle of a long step")
            #expect(
                isCutOff || result.errors.contains("run the same command again to resume"), "\(result.errors)"
            )
            #expect(job.results == nil)
            #expect(
                try job.files.filter { !isCutOff || $0 != "out.jsonl.lock" }
                    == ["in.jsonl", "out.jsonl.log"])
            let second = try job.run()
            #expect(second.status == 0, "\(second.errors)")
            #expect(second.errors.contains("resumed in the middle"), "\(second.errors)")
            #expect(job.results == expected)
            #expect(try job.files == ["in.jsonl", "out.jsonl"])
        }
    }

    /// The reference kernels compute for minutes in the first step of a long prompt.
    @Test(arguments: [1, 2]) func aLongStepDoesNotHoldUpTheEnd(signals: Int) throws {
        let prompt = String(repeating: "one two ", count: 900)
        let job = try DemoJob(
            ["{\"id\":\"n\",\"prompt\":\"\(prompt)\"}"],
            ["--max-tokens", "3", "--threads", "1", "--prefill-chunk", "2000"])
        let program = try job.start(environment: ["PHIBATCH_KERNELS": "reference"])
        try program.wait(for: "loading") { program.errorsSoFar.contains("loading the model") }
        if program.processorSeconds != nil {
            // Nothing before the step computes for so long.
            try program.wait(for: "a long step") { (program.processorSeconds ?? 0) > 2 }
        }
        if signals == 2 {
            // Both are there before the first can be obeyed. The second one leaves at once.
            for signal in [SIGSTOP, SIGTERM, SIGINT, SIGCONT] { program.send(signal) }
        } else {
            program.send(SIGTERM)
        }
        let result = try program.end(within: 30)
        let wanted: Set<Int32> = signals == 2 ? [143, 130] : [143]
        #expect(wanted.contains(result.status) && job.results == nil, "\(result.errors)")
        if signals == 2 { #expect(!result.errors.contains("leaving in the middle"), "\(result.errors)") }
        let second = try job.run()
        #expect(second.status == 0 && job.results?.count == 1, "\(second.errors)")
        #expect(try job.files == ["in.jsonl", "out.jsonl"])
    }

    @Test func statusFollowsTheJob() throws {
        let job = try job()
        let before = try status(job)
        #expect(before.state == "waiting" && before.total == 6 && before.left == 6 && before.done == 0)
        let program = try startAndWait(job)
        // Held where it is, whatever else the machine does.
        program.send(SIGSTOP)
        let running = try status(job)
        #expect(running.state == "running" && running.pid == program.id && running.inFlight > 0)
        let text = try RunningProgram(["status"] + job.arguments(), folder: job.folder).end().output
        #expect(text.contains("running") && text.contains("process \(program.id)"), "\(text)")
        program.send(SIGKILL)
        #expect(try program.end().status == SIGKILL)
        let killed = try status(job)
        #expect(killed.state == "stopped" && killed.pid == nil && killed.inFlightTokens > 0)
        #expect((killed.tokensPerSecond ?? 0) > 0)
        #expect(try job.run().status == 0)
        let complete = try status(job)
        #expect(complete.state == "complete" && complete.done == 6 && complete.left == 0)
        #expect(complete.completionTokens == 384 && complete.output == "out.jsonl")
        let again = try job.run()
        #expect(again.status == 0 && again.errors.contains("nothing to do"), "\(again.errors)")
    }

    @Test func aSecondRunLeavesOrWaits() throws {
        let job = try job()
        let first = try startAndWait(job)
        // Held in the middle until all others have come.
        first.send(SIGSTOP)
        let second = try job.run()
        #expect(second.status == 75 && second.errors.contains("process \(first.id)"), "\(second.errors)")
        let left = try job.run(["--skip-if-running"])
        #expect(left.status == 0 && left.errors.isEmpty && left.output.isEmpty, "\(left.errors)")
        let brokenOff = try job.start(["--wait"])
        let patient = try job.start(["--wait"])
        for program in [brokenOff, patient] {
            try program.wait(for: "a wait") {
                program.errorsSoFar.contains("waiting for process \(first.id)")
            }
        }
        brokenOff.send(SIGTERM)
        #expect(try brokenOff.end().status == 143)
        first.send(SIGTERM)
        first.send(SIGCONT)
        #expect(try first.end().status == 143)
        let result = try patient.end()
        #expect(result.status == 0 && result.errors.contains("resumed in the middle"), "\(result.errors)")
        #expect(job.results?.count == 6)
    }

    @Test func aClosedStdoutEndsTheRun() throws {
        let job = try job()
        // The second line is given to the program only after the reader of the first result has left: opening a
        // named pipe waits for its other end.
        let script = """
            mkfifo left &&
            { head -n 1 in.jsonl; cat left; tail -n +2 in.jsonl; } |
            { "$0" run "$@" --output - 2>errors; echo $? >status; } |
            { head -n 1 >first; exec <&-; : >left; }
            """
        let result = try RunningProgram(
            ["-c", script, try #require(Program.path), "--model", job.model, "--input", "-"] + job.settings,
            folder: job.folder, program: "/bin/sh"
        ).end()
        #expect(result.status == 0, "\(result.errors)")
        func text(_ name: String) throws -> String {
            try String(contentsOfFile: job.folder + "/" + name, encoding: .utf8)
        }
        // As any filter it ends, with nothing to say of it.
        #expect(try text("status") == "141\n")
        let errors = try text("errors")
        #expect(!errors.contains("stdout"), "\(errors)")
        #expect(try text("first").hasPrefix("{\"id\":\"n0\","))
    }
}
