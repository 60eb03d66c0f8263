import BatchEngine

/// Settings of an answer, such as `maxTokens` and `temperature`, as in jobs. Unset ones have their defaults. Settings
/// of a job's results, such as `samples`, are refused.
public typealias AnswerParameters = RequestSettings

extension RequestSettings {
    /// Returns the problem with the settings for one answer; nil if there is none.
    func answerProblem(vocabularySize: Int) -> String? {
        let own = RequestSetting.all.filter { !$0.places.contains(.library) }
        if let other = own.first(where: { $0.isSet(in: self) }) {
            return "\(other.name) has no meaning for a single answer."
        }
        var settings = self
        // No tokens are wanted, which is not an error in a program.
        if maxTokens == 0 { settings.maxTokens = nil }
        return settings.problem ?? problem(vocabularySize: vocabularySize)
    }
}
