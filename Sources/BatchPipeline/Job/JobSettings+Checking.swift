import BatchEngine

extension JobSettings {
    /// The ranges of settings that are given in code; those of files and options are checked as they are read.
    /// - Throws: `JobError` naming the setting.
    func checkValues() throws {
        func check(_ name: String, _ isRight: Bool, _ right: String) throws {
            guard isRight else { throw JobError(.badJob, "\(name) must be \(right).") }
        }
        try check("max_tokens", maxTokens.map { $0 > 0 } ?? true, "1 or more")
        try check("temperature", (0...10).contains(temperature ?? 0), "a number from 0 to 10")
        try check("top_p", (topP ?? 1) > 0 && (topP ?? 1) <= 1, "a number above 0, at most 1")
        try check("top_k", (topK ?? 0) >= 0, "0 or more")
        try check("min_p", (0...1).contains(minP ?? 0), "a number from 0 to 1")
        try check("samples", samples > 0, "1 or more")
        try check("logprobs", (0...20).contains(logprobs ?? 0), "a whole number from 0 to 20")
        try check("workers", workers.isPositive, "1 or more")
        try check("threads", threads.isPositive, "1 or more")
        try check("prefill_chunk", prefillChunk > 0, "1 or more")
        try check("keep_old", keepOld >= 0, "0 or more")
        try check("checkpoint_interval", checkpointInterval >= 0, "0 or more")
        if let problem = StopSet.problem(with: stop) { throw JobError(.badJob, "stop \(problem).") }
        let rules = LogitRules(
            bias: logitBias ?? [:], presencePenalty: presencePenalty ?? 0,
            frequencyPenalty: frequencyPenalty ?? 0, repetitionPenalty: repetitionPenalty ?? 1)
        // Where the vocabulary ends is known with the model.
        if let problem = rules.problem(vocabularySize: .max) { throw JobError(.badJob, problem) }
    }
}

extension CountSetting {
    fileprivate var isPositive: Bool {
        if case .count(let count) = self { count > 0 } else { true }
    }
}
