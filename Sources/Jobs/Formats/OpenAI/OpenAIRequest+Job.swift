/// What one of OpenAI's requests asks for that a job can't give.
extension OpenAIRequest {
    /// - Returns: the names of what its answer does without, as the job allows.
    /// - Throws: `LineError` if it can't be answered so.
    func missing(in job: JobSettings) throws(LineError) -> [String] {
        let format = job.outputFormat.format
        if choices ?? 1 > 1, !format.isByLine {
            throw LineError(
                .badField,
                "`n` above 1 needs the job's output_format: openai, in which a result holds all answers; samples of the job is for others."
            )
        }
        var missing = unsupported
        let isPart = job.results != .full
        if logprobs != nil, isPart || format.base is DelimitedResults {
            let place = isPart ? "place" : "column"
            missing.append(
                .init(name: "logprobs", message: "`logprobs` have no \(place) in \(format.base.name)."))
        }
        if job.unsupported == .refuse, let first = missing.first {
            let advice = "unsupported: ignore in the job answers without it."
            throw LineError(.badField, "\(first.message) (\(advice))")
        }
        return missing.map(\.name)
    }
}
