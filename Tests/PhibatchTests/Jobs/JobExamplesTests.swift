import Foundation
import Testing

/// The examples in `jobs` run as they stand, where what they need is there.
@Suite(.tags(.slow), .enabled(if: DemoJob.canRun, "the demo model is not there; make test fetches it"))
struct JobExamplesTests {
    /// Each file of `jobs` is in the table, and its command does what it says, in a clone with nothing done yet.
    @Test func theTableOfJobsIsTrue() throws {
        try #require(JobsClone.commands.count == 13)
        let files = try FileManager.default.contentsOfDirectory(atPath: JobsClone.top.path + "/jobs")
        let named = JobsClone.commands.flatMap { $0.files.components(separatedBy: ", ") }
        #expect(files.filter { $0 != "README.md" }.sorted() == named.sorted())
        let made = [
            "demo.yaml": "out/demo.jsonl", "classify.yaml": "out/classified.jsonl", "crontab": "crontab",
            "extract.yaml, notice.schema.json": "out/notices.jsonl",
            "kubernetes.yaml, kubernetes-merge.yaml": "kubectl",
            "phibatch.service, phibatch.timer": "systemctl", "ray_shards.py": "out/demo.jsonl",
            "pipeline.mk, answers.yaml, judge.yaml": "out/judged.jsonl", "repair.yaml": "out/repaired.jsonl",
            "rows.yaml": "out/rows.jsonl", "dataset.yaml": "out/dataset.jsonl",
            "slurm-array.sh": "out/demo.jsonl", "steps.yaml": "out/steps.jsonl",
        ]
        for (files, command) in JobsClone.commands {
            try JobsClone.with { clone in
                // Three tokens are too few for an answer that follows a schema.
                let isFormed = ["extract", "repair", "dataset"].contains { files.hasPrefix($0) }
                let command = isFormed ? command + " --max-tokens 80" : command
                let run = try clone.shell(command)
                #expect(run.status == 0, "\(command): \(run.output) \(run.errors)")
                let output = try #require(made[files])
                #expect(clone.has(output), "\(command)")
                if files.hasPrefix("ray") || files.hasPrefix("slurm") {
                    #expect(try clone.text(output) == clone.whole(), "\(command)")
                }
            }
        }
    }

    @Test func twoStepsWithMake() throws {
        try JobsClone.with { clone in
            let made = try clone.shell("make -f jobs/pipeline.mk && make -q -f jobs/pipeline.mk")
            #expect(made.status == 0, "\(made.output) \(made.errors)")
            let judged = try clone.text("out/judged.jsonl").split(separator: "\n")
            #expect(judged.count == 5)
            #expect(
                judged.allSatisfy { $0.contains("\"question\":") || $0.contains("\"dialog\":") }, "\(judged)")
            #expect(!made.errors.contains("keep:"), "\(made.errors)")
            // One line more fails than may: nothing is built on it, however often make is asked.
            try clone.edit("samples/prompts.jsonl") { $0 + "bad\n" }
            for _ in 1...2 { #expect(try clone.shell("make -f jobs/pipeline.mk").status == 2) }
            #expect(try clone.text("out/judged.jsonl").split(separator: "\n") == judged)
        }
    }

    /// Nothing is installed, and nothing built.
    @Test func aFreshCloneBuildsWhatItNeeds() throws {
        try JobsClone.with { clone in
            try FileManager.default.removeItem(atPath: clone.folder + "/models/smollm2-demo")
            try FileManager.default.removeItem(atPath: clone.folder + "/bin/phibatch")
            try FileManager.default.copyItem(
                atPath: JobsClone.top.path + "/Makefile", toPath: clone.folder + "/Makefile")
            let plan = try clone.shell("PATH=/usr/bin:/bin; make -n -f jobs/pipeline.mk MAKE=echo")
            #expect(plan.status == 0, "\(plan.errors)")
            for step in [
                "echo model", "echo build",
                ".build/release/phibatch run --quiet --if-changed restart jobs/judge.yaml",
            ] {
                #expect(plan.output.contains(step), "\(plan.output)")
            }
        }
    }

    // MARK: cron and systemd

    /// What was in the table stays, and the line runs in the surroundings that cron gives it.
    @Test func aLineOfCron() throws {
        try JobsClone.with { clone in
            let mine = "# mine\n5 * * * * true\n"
            try mine.write(toFile: clone.folder + "/crontab", atomically: true, encoding: .utf8)
            let add = try #require(JobsClone.commands.first { $0.files == "crontab" }).command
            #expect(try clone.shell(add).status == 0)
            let table = try String(contentsOfFile: clone.folder + "/crontab", encoding: .utf8)
            #expect(table.hasPrefix(mine), "\(table)")
            let line = try #require(table.firstMatch(of: /\n\*\/10 \* \* \* \* (.+)/)).1
            // cron takes what follows a % for input.
            #expect(!line.contains("%"))
            try FileManager.default.createSymbolicLink(
                atPath: clone.folder + "/phibatch", withDestinationPath: clone.folder)
            let cache = Program.environment["PHIBATCH_CACHE"] ?? "off"
            let run = try clone.shell(
                "env -i HOME=\(clone.folder) PATH=/usr/bin:/bin PHIBATCH_CACHE=\(cache) /bin/sh -c \"$LINE\"",
                ["LINE": String(line).replacing("/usr/local/bin", with: clone.folder + "/bin")])
            #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
            #expect(clone.has("out/demo.jsonl"))
        }
    }

    @Test func aServiceOfSystemd() throws {
        try JobsClone.with { clone in
            let path = clone.folder + "/jobs/phibatch.service"
            let service = try String(contentsOfFile: path, encoding: .utf8)
            let start = try #require(service.firstMatch(of: /ExecStart=(.+)/)).1
            let run = try clone.shell(String(start))
            #expect(run.status == 0, "\(run.errors)")
            // A run that is under way is no failure, nor is one that was stopped.
            #expect(start.contains("--skip-if-running"))
            #expect(service.contains("SuccessExitStatus=129 130 143"))
            try service.replacing("ExecStart=phibatch", with: "ExecStart=\(clone.folder)/bin/phibatch")
                .write(toFile: path, atomically: true, encoding: .utf8)
            let verified = try clone.shell(
                "command -v systemd-analyze >/dev/null || exit 0; cd jobs; systemd-analyze verify ./phibatch.service ./phibatch.timer 2>&1 | grep phibatch. && exit 1; exit 0"
            )
            #expect(verified.status == 0, "\(verified.output)")
        }
    }
}
