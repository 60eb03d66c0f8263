import JSON

@testable import Jobs

extension JobStep {
    static func named(_ name: String, _ change: (inout JobStep) -> Void) -> JobStep {
        var step = JobStep(name)
        change(&step)
        return step
    }
}

extension JobSettings {
    /// A job with steps over lines that have topics.
    static func test(
        input: String, steps: [JobStep], _ change: (inout JobSettings) -> Void = { _ in }
    ) -> JobSettings {
        .test(input: [input]) { job in
            (job.temperature, job.maxTokens, job.seed) = (0.9, 24, 7)
            job.keep = .fields([.init("topic")])
            // A scripted model may answer nothing, and later steps ask with that.
            job.allowsEmpty = true
            job.steps = steps
            change(&job)
        }
    }
}

extension ScriptedRun {
    /// The members of a result's line, which ends where times would begin.
    static func row(_ line: String) throws -> JSONValue {
        try JSONValue(parsing: Array((line.hasSuffix("}}") ? line : line + "}").utf8), limits: .line)
    }
}
