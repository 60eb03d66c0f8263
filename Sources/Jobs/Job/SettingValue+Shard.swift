import FoundationShim
import OperatingSystem

extension SettingValue {
    /// The word that leaves the shard to the scheduler.
    static let scheduledShard = "auto"
    private static let right = "I/N with I from 1 to N, such as 2/4, or \(scheduledShard)"

    /// `I/N`, I from 1 on; `auto` reads both from the array variables of the scheduler that started this process.
    func shard() throws(SettingProblem) -> LineSelection {
        let text = try string()
        if text == Self.scheduledShard {
            return try Self.scheduled(ProcessInfo.processInfo.environment)
        }
        let parts = text.split(at: "/", keepingEmpty: true).map { Int($0) }
        guard parts.count == 2, let index = parts[0], let count = parts[1], index >= 1, index <= count
        else { throw wrong(Self.right) }
        return .shard(index: index - 1, count: count)
    }

    /// Slurm's array need not have all shards: some that are run again form an array of their own. Kubernetes numbers
    /// an indexed job from 0, but tells no count: the job's file sets it as JOB_COMPLETIONS.
    static func scheduled(_ variables: [String: String]) throws(SettingProblem) -> LineSelection {
        func number(_ name: String) -> Int? { variables[name].flatMap { Int($0) } }
        if let task = number("SLURM_ARRAY_TASK_ID"), let count = number("SLURM_ARRAY_TASK_COUNT") {
            let first = number("SLURM_ARRAY_TASK_MIN") ?? 0
            let last = number("SLURM_ARRAY_TASK_MAX") ?? first &+ count &- 1
            guard count > 0, (0...1) ~= first, last &- first == count &- 1, (first...last) ~= task else {
                throw SettingProblem(
                    "auto: this array of Slurm has \(count) tasks from \(first) to \(last), of which \(task) is one; "
                        + "as shards they must be all from 0 or 1 on. Say which shard of how many, such as "
                        + "--shard $SLURM_ARRAY_TASK_ID/8")
            }
            return .shard(index: task - first, count: count)
        }
        if let index = number("JOB_COMPLETION_INDEX") {
            guard let count = number("JOB_COMPLETIONS"), (0..<count) ~= index else {
                throw SettingProblem(
                    "auto: Kubernetes says which shard this is, but not of how many; set JOB_COMPLETIONS to the "
                        + "job's completions")
            }
            return .shard(index: index, count: count)
        }
        throw SettingProblem(
            "auto: neither Slurm (SLURM_ARRAY_TASK_ID, SLURM_ARRAY_TASK_COUNT) nor Kubernetes "
                + "(JOB_COMPLETION_INDEX) has started this process")
    }
}

extension JobSettings {
    /// Gives a shard's results a file of their own.
    mutating func chooseShardOutput() {
        if let shard = selection.shard, output != "-" {
            output = OutputPaths.shard(shard.index, of: shard.count, output: output)
        }
    }

    /// The output that the shard belongs to; the output itself without shards.
    var wholeOutput: String {
        guard let shard = selection.shard else { return output }
        let end = OutputPaths.shard(shard.index, of: shard.count, output: "")
        return output.utf8.count > end.utf8.count && output.hasSuffix(end)
            ? String(output.dropLast(end.count)) : output
    }

    /// A scheduler that runs some shards again tells no total; the existing files do.
    /// - Throws: `UserError` if their total differs.
    func checkScheduledShard() throws {
        guard isShardScheduled, let count = selection.shard?.count, output != "-" else { return }
        let start = Paths.name(of: wholeOutput).pathBytes
        let folder = Paths.folder(of: output)
        for name in (try? Files.names(in: folder)) ?? [] where name.pathBytes.starts(with: start) {
            let end = String(decoding: name.pathBytes.dropFirst(start.count), as: UTF8.self)
            guard let other = end.prefixMatch(of: /\.shard-\d+-of-(\d+)/)?.1, Int(other) != count else {
                continue
            }
            throw UserError(
                .badJob, at: Paths.join(folder, name),
                "is one of \(other) shards, but by the scheduler's variables there are \(count) (shard: auto). Say which shard of how many, such as --shard 3/\(other), or move the others away."
            )
        }
    }
}
