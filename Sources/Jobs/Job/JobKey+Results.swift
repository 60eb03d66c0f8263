/// What is written of a completion, and what becomes of failures and of earlier results.
extension JobKey {
    package static let results =
        ofRequests(.results) + [
            JobKey(
                "id", "FIELD", "the line's field that is its id (default id)",
                SettingMember(
                    set: { job, value throws(SettingProblem) in job.idField = try value.string() },
                    text: { $0.idField }), effect: .ifSet),
            JobKey(
                "line_settings", "NAME",
                "fields of lines that are settings, such as seed, or all. By default all are where the job gives no prompt "
                    + "and no messages; where it does, the fields of a line are data, whatever their names",
                kind: .list,
                SettingMember(
                    set: { job, value throws(SettingProblem) in job.lineSettings = try value.lineSettings() },
                    text: { $0.lineSettings.map(ResultText.list) }, words: ["all"] + LineReading.names),
                effect: .ifSet),
            JobKey(
                "keep", "FIELD",
                "fields of the line that its result has too: a list of names, or all; NEW=FIELD (in a job file NEW: FIELD) "
                    + "gives another name",
                kind: .list,
                SettingMember(
                    set: { job, value throws(SettingProblem) in job.keep = try value.keptFields() },
                    problem: { $0.keep.problem }, text: { $0.keep.text }), effect: .ifSet),
            JobKey(
                "results", ResultDetail.allCases.map(\.rawValue).joined(separator: "|"),
                "what outputs in jsonl and json have of each result; "
                    + ResultDetail.allCases.map { "\($0.rawValue): \($0.help)" }.joined(separator: "; ")
                    + "; OUTPUT.log has the rest (default full)",
                SettingMember(
                    set: { job, value throws(SettingProblem) in
                        job.results = try value.word(ResultDetail.self)
                    },
                    // The results themselves are others where they carry what was asked.
                    text: { $0.results.lines.carried == nil ? nil : $0.results.rawValue },
                    words: ResultDetail.allCases.map(\.rawValue)), effect: .ifSet),
            JobKey(
                "error_lines", "skip|pass",
                "lines that carry the error of an earlier step: passed over and counted (the default), or passed on as "
                    + "they are",
                .word(\.errorLines, unset: .skip), effect: .ifSet),
            JobKey(
                "unsupported", "refuse|ignore",
                "OpenAI's requests that ask for what can't be done here: a failed line (the default), or answered without and "
                    + "counted by name; images, tools and other parts of the question are always refused",
                .word(\.unsupported, unset: .refuse), effect: .ifSet),
            JobKey(
                "max_failures", "N|P%",
                "how many lines may fail, or which share of them (default 0); if it is given and certain to be passed, the "
                    + "run ends early",
                SettingMember { job, value throws(SettingProblem) in
                    job.maxFailures = try value.failureLimit()
                }),
            JobKey(
                "keep_old", "N",
                "how many earlier outputs (and journals) stay as OUTPUT.old-1 and so on, where results go with their lines "
                    + "(default 3)",
                .int(\.keepOld, 0...1000)),
            JobKey(
                "provenance", "",
                "write OUTPUT.manifest.json beside the finished output: the program, the model's files, the settings and the "
                    + "input that it came from (default: don't)",
                kind: .flag, .flag(\.provenance)),
            JobKey(
                "answers", "FOLDER",
                "a store of answers, which other jobs and people may use too: what the same model was asked before is taken "
                    + "from it, and the rest added (default none; \"phibatch help reuse\" says more)",
                SettingMember { job, value throws(SettingProblem) in job.answers = try value.path() }),
            JobKey(
                "answers_limit", "SIZE",
                "the most bytes that the store of answers has, such as 2GB; what was written first goes first (default "
                    + "10GB)",
                SettingMember(
                    set: { job, value throws(SettingProblem) in job.answersLimit = try value.size() },
                    problem: { $0.answersLimit > 0 ? nil : "must be above 0, but is \($0.answersLimit)" })),
            JobKey(
                "checkpoint_interval", "SECONDS", "how often completions under way are saved (default 15)",
                .seconds(\.checkpointInterval, upTo: 86_400)),
        ]
}
