/// Content of results, and handling of failures and earlier outputs.
extension JobKey {
    package static let results =
        ofRequests(.results) + [
            JobKey(
                "id", "FIELD", "field that is the line's id (default id)",
                .text(\.idField, shown: { $0 })),
            JobKey(
                "line_settings", "NAME",
                "fields of lines that are settings, such as seed, or all. Default: all if the job has no prompt "
                    + "and no messages, else none: then all fields are data, whatever their names",
                SettingMember(
                    .texts,
                    set: { job, value throws(SettingProblem) in job.lineSettings = try value.lineSettings() },
                    text: { $0.lineSettings.map(ResultText.list) }, words: ["all"] + LineReading.names)),
            JobKey(
                "keep", "FIELD",
                "fields of the line copied to its result: a list, or all; NEW=FIELD (in a job file NEW: FIELD) "
                    + "renames one",
                SettingMember(
                    .fields, set: { job, value throws(SettingProblem) in job.keep = try value.keptFields() },
                    problem: { $0.keep.problem }, text: { $0.keep.text })),
            JobKey(
                "results", ResultDetail.allCases.map(\.rawValue).joined(separator: "|"),
                "members of each result in jsonl and json; "
                    + ResultDetail.allCases.map { "\($0.rawValue): \($0.help)" }.joined(separator: "; ")
                    + "; OUTPUT.log has the rest (default full)",
                SettingMember(
                    .text,
                    set: { job, value throws(SettingProblem) in
                        job.results = try value.word(ResultDetail.self)
                    },
                    // Results with their requests are other results.
                    text: { $0.results.carried == nil ? nil : $0.results.rawValue },
                    words: ResultDetail.allCases.map(\.rawValue))),
            JobKey(
                "error_lines", "skip|pass",
                "lines with the error of an earlier step: skipped and counted (the default), or passed on as "
                    + "they are",
                .word(\.errorLines, unset: .skip)),
            JobKey(
                "unsupported", "refuse|ignore",
                "OpenAI's requests with unsupported fields: fail (the default), or are answered without them and "
                    + "counted by name; images, tools and other parts of the question always fail",
                .word(\.unsupported, unset: .refuse)),
            JobKey(
                "max_failures", "N|P%",
                "most lines that may fail, or their share (default 0); if it is set and certain to be exceeded, the "
                    + "run ends early",
                in: [.option, .map],
                SettingMember(.amount) { job, value throws(SettingProblem) in
                    job.maxFailures = try value.failureLimit()
                }),
            JobKey(
                "keep_old", "N",
                "number of earlier outputs and logs kept as OUTPUT.old-1 and so on, where results are lost "
                    + "(default 3)",
                in: [.option, .map], .int(\.keepOld, 0...1000)),
            JobKey(
                "provenance", "",
                "write OUTPUT.manifest.json beside the finished output: the program, the model's files, the settings and the "
                    + "input that it came from (default: don't)",
                in: [.option, .map], .flag(\.provenance), changesResults: false),
            JobKey(
                "answers", "FOLDER",
                "store of answers, which other jobs and people may share: answers to equal requests are taken "
                    + "from it, and new ones added (default none; see \"phibatch help reuse\")",
                in: [.option, .map], .path(\.answers)),
            JobKey(
                "answers_limit", "SIZE",
                "size limit of the store of answers, such as 2GB; the oldest are removed first (default "
                    + "10GB)",
                in: [.option, .map],
                SettingMember(
                    .amount,
                    set: { job, value throws(SettingProblem) in job.answersLimit = try value.size() },
                    problem: { $0.answersLimit > 0 ? nil : "must be above 0, but is \($0.answersLimit)" })),
            JobKey(
                "checkpoint_interval", "SECONDS", "how often unfinished completions are saved (default 15)",
                in: [.option, .map],
                .seconds(\.checkpointInterval, upTo: 86_400)),
        ]
}
