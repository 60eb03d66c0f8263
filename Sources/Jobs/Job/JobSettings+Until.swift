/// When enough rows are accepted.
extension JobSettings {
    static let untilRange = 1...1_000_000_000

    /// How many accepted rows end a job that has steps; nil where all lines are wanted.
    public var until: Int? {
        get { selection.wanted }
        set { selection = newValue.map { .accepted($0, lines: nil, of: selection.shard) } ?? .all }
    }

    /// What is wrong with it; nil if nothing is.
    var untilProblem: String? {
        guard let wanted = until ?? untilPerLine else { return nil }
        if steps.isEmpty { return "needs steps, which say what is accepted" }
        let range = Self.untilRange
        if !range.contains(wanted) { return "must be \(range.right), but is \(wanted)" }
        guard let shard = selection.shard, let until, until < shard.count else { return nil }
        return "can't be shared out: there are \(shard.count) shards, and \(until) accepted rows are wanted"
    }

    /// With the lines that a finished output took, where that is known only in the end.
    package func asFinished(in output: String) throws -> JobSettings {
        switch selection {
        case .all, .accepted(_, lines: nil, _): break
        default: return self
        }
        guard RowGates(self) != nil else { return self }
        let system = POSIXFileSystem()
        let paths = try OutputPaths(output: output, format: outputFormat.format, in: system)
        var job = self
        guard
            let ended = try OutputSettings.read(at: paths, in: system)?.shard.flatMap(
                LineSelection.init(name:))
        else { return self }
        switch ended {
        case .accepted(until, _, selection.shard): job.selection = ended
        // Each shard has decided of its rows by itself.
        case .joined(_, until): job.selection = ended
        default: break
        }
        return job
    }
}
