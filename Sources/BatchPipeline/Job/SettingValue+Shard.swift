import Foundations

extension SettingValue {
    private static let right = "I/N with I from 1 to N, such as 2/4, or auto"

    /// `I/N`, I from 1 on; `auto` takes them from the array variables of the scheduler that started this process.
    func shard() throws(SettingProblem) -> LineSelection {
        let text = try string()
        if text == "auto" { return try Self.scheduled(ProcessInfo.processInfo.environment, line: line) }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map { Int($0) }
        guard parts.count == 2, let index = parts[0], let count = parts[1], index >= 1, index <= count
        else { throw wrong(Self.right) }
        return .shard(index: index - 1, count: count)
    }

    /// Slurm numbers an array's tasks from any first one on, in steps; Kubernetes numbers an indexed job's from 0, but
    /// doesn't say how many there are: the job's file must, as JOB_COMPLETIONS.
    static func scheduled(_ variables: [String: String], line: Int?) throws(SettingProblem) -> LineSelection {
        func number(_ name: String) -> Int? { variables[name].flatMap { Int($0) } }
        if let task = number("SLURM_ARRAY_TASK_ID"), let count = number("SLURM_ARRAY_TASK_COUNT") {
            let first = number("SLURM_ARRAY_TASK_MIN") ?? 0
            let step = number("SLURM_ARRAY_TASK_STEP") ?? 1
            let index = (task - first) / max(1, step)
            guard (0..<count) ~= index, (task - first) % max(1, step) == 0 else {
                throw SettingProblem("auto: Slurm's array variables don't fit each other", line: line)
            }
            return .shard(index: index, count: count)
        }
        if let index = number("JOB_COMPLETION_INDEX") {
            guard let count = number("JOB_COMPLETIONS"), (0..<count) ~= index else {
                throw SettingProblem(
                    "auto: Kubernetes says which shard this is, but not of how many; set JOB_COMPLETIONS to the "
                        + "job's completions", line: line)
            }
            return .shard(index: index, count: count)
        }
        throw SettingProblem(
            "auto: neither Slurm (SLURM_ARRAY_TASK_ID, SLURM_ARRAY_TASK_COUNT) nor Kubernetes "
                + "(JOB_COMPLETION_INDEX) has started this process", line: line)
    }
}

extension JobSettings {
    /// The output of one shard, from 0.
    package static func shardPath(_ output: String, _ index: Int, of count: Int) -> String {
        "\(output).shard-\(index + 1)-of-\(count)"
    }

    /// A shard's results go to a file of their own.
    mutating func chooseShardOutput() {
        if case .shard(let index, let count) = selection, output != "-" {
            output = Self.shardPath(output, index, of: count)
        }
    }
}
