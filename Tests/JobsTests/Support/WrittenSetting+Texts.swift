@testable import BatchPipeline
@testable import Jobs

extension WrittenSetting {
    /// By the names of the settings.
    static func all(_ texts: KeyValuePairs<String, [String]>) -> [WrittenSetting] {
        texts.map { name, texts in
            guard let key = JobKey.named(name) else { preconditionFailure("no setting \(name)") }
            return WrittenSetting(key, texts)
        }
    }
}
