extension JobKey {
    static let rows = JobKey(
        "rows", "N",
        "make so many lines in place of an input, each with what pick says (\"phibatch help rows\" says more)",
        SettingMember(
            set: { job, value throws(SettingProblem) in job.rows = try value.int(in: rowsRange) },
            problem: { job in
                guard let rows = job.rows, !rowsRange.contains(rows) else { return nil }
                return "must be \(rowsRange.right), but is \(rows)"
            }))

    private static let rowsRange = 1...1_000_000_000

    static let pick = JobKey(
        "pick", "MAPPING",
        "the fields of the lines that rows makes, each from a list, a range or a file, in a job file",
        SettingMember(
            set: { job, value throws(SettingProblem) in job.pick = try value.picks(reads: false) },
            resolve: { job, value throws(SettingProblem) in job.pick = try value.picks(reads: true) }))
}
