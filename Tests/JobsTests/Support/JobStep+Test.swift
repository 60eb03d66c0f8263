@testable import Jobs

extension JobStep {
    static func named(_ name: String, _ change: (inout JobStep) -> Void) -> JobStep {
        var step = JobStep(name)
        change(&step)
        return step
    }
}
