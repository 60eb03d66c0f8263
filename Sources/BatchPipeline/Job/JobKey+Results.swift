/// What is written of a completion, and what becomes of failures and of earlier results.
extension JobKey {
    package static let results = [
        JobKey(
            "tokens", "", "add the completion's token ids to each result (default: leave them out)",
            kind: .flag,
            result: { "\($0.tokens)" },
            set: { job, value throws(SettingProblem) in job.tokens = try value.bool() }),
        JobKey(
            "logprobs", "K", "add log-probabilities of each chosen token and the K likeliest, 0 to 20",
            result: { ResultText.value($0.logprobs) },
            set: { job, value throws(SettingProblem) in job.logprobs = try value.int(in: 0...20) }),
        JobKey("max_failures", "N|P%", "how many lines may fail, or which share of them (default 0)") {
            job, value throws(SettingProblem) in job.maxFailures = try value.failureLimit()
        },
        JobKey(
            "keep_old", "N",
            "how many earlier outputs (and journals) stay as OUTPUT.old-1 and so on, where results go with their lines "
                + "(default 3)"
        ) {
            job, value throws(SettingProblem) in job.keepOld = try value.int(in: 0...1000)
        },
    ]
}
