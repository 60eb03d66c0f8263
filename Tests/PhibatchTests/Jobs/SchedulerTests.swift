import Foundation
import JSON
import OperatingSystem
import Testing

@testable import BatchPipeline
@testable import Jobs

/// What `jobs` has for Slurm, Ray and Kubernetes.
@Suite(.tags(.slow), .enabled(if: DemoJob.canRun, "the demo model is not there; make test fetches it"))
struct SchedulerTests {
    /// One task is killed. Another reaches its time limit: the script is told, has the run stopped and itself queued
    /// again. Then one index is run again, and is the shard that it was.
    @Test func anArrayOfSlurm() throws {
        try JobsClone.with { clone in
            try makeShardWait(clone)
            let submit = try #require(JobsClone.commands.first { $0.files == "slurm-array.sh" }).command
            let run = try clone.shell(submit, ["WARN": "2"])
            #expect(run.status == 0, "\(run.errors)")
            #expect(clone.has("stopped"))
            #expect(try clone.text("out/demo.jsonl") == clone.whole())
            let again = try clone.shell(
                "rm out/demo.jsonl.shard-3-of-4* && sbatch --array=3 jobs/slurm-array.sh")
            #expect(again.status == 0 && clone.has("out/demo.jsonl.shard-3-of-4"), "\(again.errors)")
            let outputs = try FileManager.default.contentsOfDirectory(atPath: clone.folder + "/out")
            #expect(outputs.allSatisfy { !$0.contains(".shard-") || $0.contains("-of-4") }, "\(outputs)")
            let automatic = try clone.shell(
                "phibatch run -q jobs/demo.yaml --shard auto",
                ["SLURM_ARRAY_TASK_ID": "3", "SLURM_ARRAY_TASK_COUNT": "1", "SLURM_ARRAY_TASK_MIN": "3"])
            #expect(
                automatic.status == 64 && automatic.errors.contains("Say which shard"), "\(automatic.errors)")
        }
    }

    /// The first run of the second shard waits until it is stopped.
    private func makeShardWait(_ clone: JobsClone) throws {
        try clone.replaceProgram(
            """
            #!/bin/sh
            case "$*" in
                *"--shard 2/"*)
                    [ -e started ] || {
                        trap 'touch stopped; exit 143' TERM; touch started; while :; do sleep 0.1; done; } ;;
            esac
            exec '\(try #require(Program.path))' "$@"
            """)
    }

    /// What may pass is tried again; what would be wrong again is told once.
    @Test(arguments: [3, 64, 65, 66, 69, 74, 75, 137])
    func rayTriesAgainWhatMayPass(code: Int) throws {
        try JobsClone.with { clone in
            try clone.replaceProgram(
                """
                #!/bin/sh
                echo "$*" >> calls
                case "$*" in *"--shard 2/"*) echo 'phibatch: this is wrong' >&2; exit \(code) ;; esac
                """)
            let run = try clone.shell("python3 jobs/ray_shards.py jobs/demo.yaml out/demo.jsonl 3")
            let calls = try clone.text("calls").split(separator: "\n")
            let mayPass = [74, 75, 137].contains(code)
            #expect(run.status == (mayPass ? 75 : Int32(code)), "\(run.errors)")
            #expect(calls.count { $0.contains("--shard 2/3") } == (mayPass ? 6 : 1), "\(calls)")
            #expect(!calls.contains { $0.hasPrefix("merge") })
            #expect(run.errors.components(separatedBy: "this is wrong").count == 2, "\(run.errors)")
            #expect(!run.errors.contains("Traceback"), "\(run.errors)")
        }
    }

    @Test func podsOfKubernetes() throws {
        let job = try Self.values(ofYAML: "kubernetes.yaml")
        #expect(job.string("apiVersion") == "batch/v1" && job.string("kind") == "Job")
        let spec = try #require(job["spec"])
        #expect(spec.string("completionMode") == "Indexed")
        let completions = try #require(spec.int("completions"))
        // A limit of the whole job would count all shards' pods together.
        #expect(spec["backoffLimit"] == nil && spec.int("backoffLimitPerIndex") ?? 0 > 0)
        let pod = try #require(spec["template"]?["spec"])
        // A policy on failures takes no other.
        #expect(pod.string("restartPolicy") == "Never")
        guard case .array(let containers)? = pod["containers"], let container = containers.first,
            case .array(let variables)? = container["env"], case .array(let words)? = container["command"],
            case .array(let rules)? = spec["podFailurePolicy"]?["rules"]
        else {
            Issue.record("no containers, variables, command or rules")
            return
        }
        #expect(container.string("terminationMessagePolicy") == "FallbackToLogsOnError")
        #expect(container.string("image") == "phibatch:\(ProgramVersion.current)")
        let merge = try Self.values(ofYAML: "kubernetes-merge.yaml")
        guard case .array(let joining)? = merge["spec"]?["template"]?["spec"]?["containers"],
            case .array(let parts)? = joining.first?["command"]
        else {
            Issue.record("no containers or command in the merge")
            return
        }
        #expect(joining.first?.string("image") == container.string("image"))
        #expect(parts.last == .string("\(completions)"))
        #expect(
            variables.contains {
                $0.string("name") == "JOB_COMPLETIONS" && $0.string("value") == "\(completions)"
            })
        #expect(rules.first?.string("action") == "Ignore", "what the cluster takes away is no failure")
        // The rule that a code meets, as Kubernetes reads them; without one the pod is replaced.
        func isFinal(_ code: Int) -> Bool {
            rules.contains { rule in
                guard rule.string("action") == "FailIndex", let codes = rule["onExitCodes"],
                    codes.string("containerName") == container.string("name"),
                    codes.string("operator") == "NotIn",
                    case .array(let values)? = codes["values"]
                else { return false }
                return !values.contains(.int(code))
            }
        }
        #expect([1, 3, 64, 65, 66, 69, 70, 73].allSatisfy(isFinal))
        #expect([74, 75, 129, 130, 134, 137, 139, 143].allSatisfy { !isFinal($0) })
        try JobsClone.with { clone in
            let command = words.map { word in if case .string(let text) = word { text } else { "?" } }
            for index in 0..<completions {
                let run = try clone.shell(
                    command.joined(separator: " "),
                    ["JOB_COMPLETION_INDEX": "\(index)", "JOB_COMPLETIONS": "\(completions)"])
                #expect(run.status == 0, "\(run.errors)")
            }
            let merged = try clone.shell("phibatch merge out/demo.jsonl --shards \(completions)")
            #expect(merged.status == 0, "\(merged.errors)")
            #expect(try clone.text("out/demo.jsonl") == clone.whole())
        }
    }

    private static func values(ofYAML name: String) throws -> JSONValue {
        let yaml = try String(contentsOf: JobsClone.top.appending(path: "jobs/" + name), encoding: .utf8)
        return try #require(JSONValue(yaml: yaml))
    }
}
