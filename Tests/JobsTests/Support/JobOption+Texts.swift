@testable import BatchPipeline
@testable import Jobs

extension JobOption {
    /// By the names of the settings.
    static func all(_ texts: KeyValuePairs<String, [String]>) -> [JobOption] {
        texts.map { name, texts in
            guard let key = JobKey.named(name) else { preconditionFailure("no setting \(name)") }
            return JobOption(key, texts)
        }
    }
}
