import Testing

@testable import BatchPipeline
@testable import Jobs

@Suite struct LineSelectionTests {
    /// Any number of shards covers any input exactly once, and knows the places of its lines.
    @Test(arguments: [1, 2, 3, 7])
    func shardsCoverEachLineOnce(count: Int) {
        for total in 0..<20 {
            var seen: [Int] = []
            for index in 0..<count {
                let shard = LineSelection.shard(index: index, count: count)
                let own = (0..<total).filter(shard.holds)
                #expect(own.count == shard.count(of: total))
                #expect(own.indices.map(shard.place) == own)
                seen += own
            }
            #expect(seen.sorted() == Array(0..<total))
        }
    }

    @Test func someLines() {
        let first = LineSelection(lines: [3])
        #expect((0..<5).map(first.holds) == [true, true, true, false, false])
        #expect(first.count(of: 2) == 2 && first.count(of: 9) == 3 && first.place(of: 2) == 2)
        for selection in [first, .shard(index: 1, count: 4)] {
            #expect(selection.name.flatMap(LineSelection.init(name:)) == selection)
        }
        let some = LineSelection.some([2, 5, 9])
        #expect((0..<12).filter(some.holds) == [2, 5, 9])
        #expect((0..<3).map(some.place) == [2, 5, 9])
        #expect(some.count(of: 5) == 1 && some.count(of: 6) == 2 && some.count(of: 100) == 3)
        #expect(!LineSelection.some([]).holds(0) && LineSelection.all.count(of: 4) == 4)
    }

    @Test func schedulersSayWhichShard() throws {
        func scheduled(_ variables: [String: String]) throws -> LineSelection {
            try SettingValue.scheduled(variables)
        }
        let slurm = [
            "SLURM_ARRAY_TASK_ID": "4", "SLURM_ARRAY_TASK_COUNT": "4", "SLURM_ARRAY_TASK_MIN": "1",
        ]
        #expect(try scheduled(slurm) == .shard(index: 3, count: 4))
        #expect(
            try scheduled(["JOB_COMPLETION_INDEX": "0", "JOB_COMPLETIONS": "2"]) == .shard(index: 0, count: 2)
        )
        #expect(throws: SettingProblem.self) { try scheduled(["JOB_COMPLETION_INDEX": "0"]) }
        #expect(throws: SettingProblem.self) { try scheduled([:]) }
        #expect(throws: SettingProblem.self) {
            try scheduled(["SLURM_ARRAY_TASK_ID": "9", "SLURM_ARRAY_TASK_COUNT": "4"])
        }
    }

    /// As Slurm sets them where some tasks are run again: `--array=3`, `1,3`, `3-4`, `1,4,5`, `1-7:2`.
    @Test(arguments: [[3, 1, 3, 3], [1, 2, 1, 3], [4, 2, 3, 4], [4, 3, 1, 5], [5, 4, 1, 7]])
    func someOfAnArraysTasksAreNotAllShards(numbers: [Int]) throws {
        let names = ["ID", "COUNT", "MIN", "MAX"].map { "SLURM_ARRAY_TASK_\($0)" }
        let variables = Dictionary(uniqueKeysWithValues: zip(names, numbers.map(String.init)))
        let problem = #expect(throws: SettingProblem.self) {
            try SettingValue.scheduled(variables)
        }
        #expect(problem?.message.contains("Say which shard of how many") == true)
    }

    /// `--array=1` after shards of four have run: nothing in the variables tells.
    @Test func shardsOfAnotherNumberAreSeen() throws {
        let folder = try TestFolder()
        var job = JobSettings()
        (job.output, job.selection, job.isShardScheduled) = (
            folder.path("out"), .shard(index: 0, count: 1), true
        )
        job.chooseShardOutput()
        #expect(job.wholeOutput == folder.path("out"))
        for name in ["out", "out.shard-1-of-1", "out2.shard-1-of-4", "out.shard-1"] {
            try folder.write([], to: name)
        }
        try job.checkScheduledShard()
        try folder.write([], to: "out.shard-3-of-4.log")
        let error = #expect(throws: UserError.self) { try job.checkScheduledShard() }
        #expect(error?.place == folder.path("out.shard-3-of-4.log"))
        #expect(error?.message.contains("--shard 3/4") == true)
        job.isShardScheduled = false
        try job.checkScheduledShard()
    }

    @Test(arguments: ["0/2", "3/2", "1/0", "x", "1/2/3", "-1/2", "1/", "/2"])
    func wrongShardsAreRefused(text: String) {
        #expect(throws: SettingProblem.self) {
            try SettingValue(option: text).shard()
        }
    }
}
